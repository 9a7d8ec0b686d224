package required_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A program that forgets New, or the store, gets a sentence and no nil dereference, whichever method it calls first.
func TestAServiceWithoutAStorePanicsWithASentence(t *testing.T) {
	for name, call := range map[string]func(){
		"appsvc.New":  func() { appsvc.New(nil, nil) },
		"assets.New":  func() { assets.New(nil, nil) },
		"reviews.New": func() { reviews.New(nil, nil) },
	} {
		if said := thrown(call); said != name+": the store is nil, and must not be" {
			t.Errorf("%s without a store: %q", name, said)
		}
	}
	for _, service := range []any{&appsvc.Service{}, &assets.Service{}, &reviews.Service{}, (*appsvc.Service)(nil),
		(*assets.Service)(nil), (*reviews.Service)(nil)} {
		v := reflect.ValueOf(service)
		for i := range v.NumMethod() {
			name := fmt.Sprintf("%v.%s", v.Type(), v.Type().Method(i).Name)
			said := thrown(func() { called(v.Method(i)) })
			if !strings.HasSuffix(said, ".Service has no store: make it with New") {
				t.Errorf("%s of %v: %q", name, v.IsNil(), said)
			}
		}
	}
}

// A negative limit, by which the service would refuse everything, is refused itself.
func TestANegativeLimitPanicsWithASentence(t *testing.T) {
	for said, call := range map[string]func(){
		"appsvc.New: Limits.Title is -1": func() {
			appsvc.New(memory.New(), &appsvc.Options{Limits: appsvc.Limits{Title: -1}})
		},
		"assets.New: Limits.SearchTime is -1s": func() {
			assets.New(memory.New(), &assets.Options{Limits: assets.Limits{SearchTime: -time.Second}})
		},
		"reviews.New: Limits.PageBytes is -5": func() {
			reviews.New(memory.New(), &reviews.Options{Limits: reviews.Limits{PageBytes: -5}})
		},
	} {
		if got, want := thrown(call), said+": want a positive number, or 0 for the default"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// called calls a method, and what it returns if that is an iterator or a feed, with zero values.
func called(method reflect.Value) {
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		in := method.Type().In(i)
		switch {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(context.Background()))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	for _, out := range method.Call(args) {
		if out.Kind() == reflect.Struct && out.Type().NumField() > 0 && out.Field(0).Kind() == reflect.Func {
			called(out.Field(0)) // Feed.Read
		}
		if out.Kind() == reflect.Func && out.Type().NumIn() == 1 && out.Type().In(0).Kind() == reflect.Func {
			out.Call([]reflect.Value{reflect.MakeFunc(out.Type().In(0),
				func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(false)} })})
		}
	}
}

// thrown returns the text with which a call panics.
func thrown(call func()) (said string) {
	defer func() {
		p := recover()
		if err, ok := p.(runtime.Error); ok {
			said = "a runtime error: " + err.Error()
		} else {
			said = fmt.Sprint(p)
		}
	}()
	call()
	return ""
}
