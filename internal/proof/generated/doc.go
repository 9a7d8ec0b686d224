// Package generated proves that clients can be generated from openapi.json, which is taken from the running
// program: oapi-codegen for Go, and openapi-typescript, @hey-api/openapi-ts and orval for TypeScript. Each
// client compiles and makes one round trip. Two linters, redocly and spectral, find no error in it.
package generated
