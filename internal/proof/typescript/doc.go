// Package typescript proves that a client for another language can be made from openapi.json: one is
// generated for TypeScript from what the program serves, compiled, and used to create an app, to
// patch it and to tag it.
package typescript
