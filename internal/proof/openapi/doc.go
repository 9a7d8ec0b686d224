// Package openapi compares HTTP traffic with an OpenAPI 3.1 document. The document must describe every request that
// the server accepted, and every response with its status, its headers and all members of its body. A JSON
// Schema engine validates the values; this package finds the operation and reads the parameters, as far as the
// document of this module needs it.
//
// It is stricter than the document: if the document lists the members of an object and does not allow others, the
// object must have no others.
package openapi
