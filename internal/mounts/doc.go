// Package mounts has nothing but a test: the API is mounted in the ways in which programs do it, below
// http.StripPrefix, in patterns of http.ServeMux and by the router chi. The test stands here, since a public package's
// tests would bring their dependencies to programs.
package mounts
