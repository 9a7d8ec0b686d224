// Package required has constructors fail at once, with a sentence, if a program calls them without what they need.
// Otherwise the program would fail at the first use.
package required

import (
	"fmt"
	"reflect"
)

// Argument panics if an argument of a constructor is nil, or a nil pointer.
func Argument(constructor, name string, v any) {
	if at := reflect.ValueOf(v); !at.IsValid() || at.Kind() == reflect.Pointer && at.IsNil() {
		panic(constructor + ": the " + name + " is nil, and must not be")
	}
}

// Limits panics if a field of the Limits in the options of a constructor is negative.
func Limits(constructor string, limits any) {
	v := reflect.ValueOf(limits)
	for i := range v.NumField() {
		if v.Field(i).Int() < 0 {
			panic(fmt.Sprintf("%s: Limits.%s is %v: want a positive number, or 0 for the default", constructor,
				v.Type().Field(i).Name, v.Field(i)))
		}
	}
}

// Made panics if a service of a package is a zero value, which has no store.
func Made(made bool, service string) {
	if !made {
		panic("this " + service + " has no store: make it with New")
	}
}
