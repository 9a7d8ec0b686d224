// Package console is the page for people: an app designer, a board of deployments, the asset library and the import of
// reviews, in a browser. It is a folder of static files without a build step; New minifies the scripts and styles that
// it serves, in some 20 ms. Everything that the page does goes through the documented HTTP API with the token, or the
// session, of the person who uses it, so a program can do whatever the console can. Less than 450,000 bytes are sent in
// all, before compression, and less than 100,000 bytes for the list of apps: the other views load when they are opened.
// That list is shown some 250 ms after the navigation begins, with nothing in the browser's cache.
//
//	page := console.New(console.Config{Title: "Example"})
//	http.ListenAndServe(addr, console.Before(api, "/", page)) // api is the handler of package httpapi
//
// Where package signin serves accounts, people sign in with a passkey or at the provider of their organisation, accept
// invitations (…/#invite=…), and find people and keys in the menu if they may manage them. A token is pasted into the
// page, or comes in the fragment of a link (…/#token=…), which a browser never sends. Where Authenticate knows its
// callers by a cookie of its own, the page asks the API who the caller is and needs no token.
//
// The page runs under a Content-Security-Policy that allows scripts, styles and connections of its own origin
// alone, and under Trusted Types with no policy. It never makes HTML out of data.
package console
