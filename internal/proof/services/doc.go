// Package services tests services on stores: random callers send random requests to a service, and a model of it, or the
// same service on another store, must give the same answers. The rules of drivers alone are tested by storage/storagetest.
package services
