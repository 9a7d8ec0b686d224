// Package required has constructors fail at once, with a sentence, if a program calls them without what they need.
// Otherwise the program would fail at the first use.
package required

import "reflect"

// Argument panics if an argument of a constructor is nil, or a nil pointer.
func Argument(constructor, name string, v any) {
	if at := reflect.ValueOf(v); !at.IsValid() || at.Kind() == reflect.Pointer && at.IsNil() {
		panic(constructor + ": the " + name + " is nil, and must not be")
	}
}

// Made panics if a service of a package is a zero value, which has no store.
func Made(made bool, service string) {
	if !made {
		panic("this " + service + " has no store: make it with New")
	}
}
