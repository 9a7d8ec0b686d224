// Package services tests the service of assets on a store: random callers send random requests, and a model of the service must
// give the same answers. The rules of drivers are tested by storage/storagetest.
package services
