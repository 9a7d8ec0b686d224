// Package browser tests cors.html in headless Chromium. A page of another origin frames it and sends requests
// through it with easyXDM from npm, as widgets do. cors.html must forward the allowed requests to the
// service, return each response or error, and refuse the rest.
//
// Each check tests one rule of the page. To see that something did not happen, a check looks at the requests to the
// servers of all origins, at the messages to the framing page, and at the document itself.
//
// Another test opens the page of the README that shows an app with a delivery token.
//
// The tests need chromium, chromedriver, sh and npm in PATH, and the npm registry or npm's cache of
// it. Without them they are skipped or, if VITRINE_CI is set, fail.
package browser
