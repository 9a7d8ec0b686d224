// Package components has components that show something: a countdown, a poll, a gallery, places on a plan, the latest
// reviews, the newest assets of a folder, and one that shows nothing. They are examples of what the script of a
// component exports (see adapters/page), and the sample data of vitrine -demo use them.
//
// NAME.json is the manifest of a component, and NAME.js its script: one module without imports, which draws into a
// shadow root, so that neither the page's style sheets nor its own reach the other.
package components

import "embed"

// Files are the manifests, the scripts and the pictures of the sample data.
//
//go:embed *.js *.json pictures
var Files embed.FS
