// Package openapi holds HTTP traffic against an OpenAPI 3.1 document: every request that was taken
// must be one that the document describes, and every answer too, with its status, its headers and all
// members of its body. The schemas are judged by a JSON Schema engine; what this package adds is
// finding the operation and reading parameters, as far as the document of this module needs it.
//
// It is stricter than the document: an object of which the document lists members and does not say
// that it may have others has no others.
package openapi
