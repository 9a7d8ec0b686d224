// Package console tests the page for people, adapters/console, as a person uses it: in headless Chromium, by clicks,
// keys and drags, against the program of examples/vitrine. It also runs the unit tests of the page's pure modules with
// node, and checks the types of all modules with the TypeScript compiler against openapi.json.
//
// TestFromNothingToADeployment, on a server in this process, has no build tag. With -short the stories are told that
// shortForm names.
//
// axe-core checks each view in light and dark, 360 and 1,280 pixels wide, and pictures of all of them are written to
// the folder that TestViews names. When a test ends, the page tells which requests it has sent; one to another origin,
// or with a token in its address, fails the test.
//
// TestLargeLibrary stores a library and logs how long a search and opening a folder and an asset take in the browser,
// until the next paint and until the outcome is shown. With 1,000,000 assets, 10,000 folders and 2,000 permissions:
//
//	go test -tags proof ./internal/proof/console -run LargeLibrary -v -timeout 0 -args -assets 1000000 -times 100
//
// TestCORSPage tests cors.html. A page of another origin frames it and sends requests through it with easyXDM from npm,
// as widgets do. cors.html must forward the allowed requests to the service, return each response or error, and refuse
// the rest. To see that something did not happen, a check looks at the requests to the servers of all origins, at the
// messages to the framing page, and at the document itself. TestReadmePage opens the page of the README that shows an
// app with a delivery token.
//
// The tests need chromium, chromedriver, node, sh and npm in PATH, and the npm registry or npm's cache of it. Without
// them they are skipped or, if VITRINE_CI is set, fail.
package console
