// Package appmodel judges whether the app service is linearizable. It has a sequential model of the service: which
// answers each operation on apps, versions and tags may get in each state. Check uses porcupine to look for an order of the
// operations of a history that explains all answers by this model.
//
// A write of unknown outcome takes effect once between its call and its return, or never.
package appmodel
