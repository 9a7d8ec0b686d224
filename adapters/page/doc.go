// Package page shows apps on web pages. Its handler serves a script that any page can load,
//
//	<script type="module" src="https://v.example/x/vitrine.js"></script>
//	<vitrine-app app="387e…" tag="production" page-key="…"></vitrine-app>
//
// which reads the version that the tag points to, with a token or key that may be public, and mounts the elements of
// the app with the scripts that their components name as main. vitrine.d.ts has the types of these scripts.
// vitrine-data.js reads and renders apps in builds and servers. preview.html shows an app in a sandboxed frame, for the
// console and for the page x/show of a link that shows an app to people without an account.
//
// A program with a handler of httpapi serves them beside the API:
//
//	http.ListenAndServe(addr, page.Before(api, "/"))
//
// Serve the files from an origin without sign-in, or at least put no scripts of components on pages of the console's
// origin: they would have its rights.
package page
