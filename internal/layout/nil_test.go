package layout

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// A constructor that is called without what it needs says so at once: it panics with a sentence, or returns it.
func TestConstructorsWithoutWhatTheyNeed(t *testing.T) {
	var none *memory.Store
	for name, construct := range map[string]func() error{
		"appsvc.New: the store":           func() error { appsvc.New(nil, nil); return nil },
		"appsvc.New: the store ":          func() error { appsvc.New(none, nil); return nil },
		"assets.New: the store":           func() error { assets.New(nil, nil); return nil },
		"reviews.New: the store":          func() error { reviews.New(nil, nil); return nil },
		"reviews.NewRejects: the file":    func() error { reviews.NewRejects(nil, io.Discard); return nil },
		"reviews.NewRejects: the writer":  func() error { reviews.NewRejects(strings.NewReader(""), nil); return nil },
		"webhook.New: the store":          func() error { webhook.New(nil, webhook.Services{}, nil); return nil },
		"signin.New: the store":           func() error { _, err := signin.New(nil, signin.Options{}); return err },
		"postgres.New: the pool":          func() error { _, err := postgres.New(t.Context(), nil, nil); return err },
		"httpapi.NewListener: the listen": func() error { httpapi.NewListener(nil); return nil },
		"httpapi: Authenticate":           func() error { _, err := httpapi.New(httpapi.Config{}); return err },
		"client: URL":                     func() error { _, err := client.New(client.Config{}); return err },
		"httpapi: a signing key":          func() error { _, err := httpapi.NewTokens(nil, nil); return err },
	} {
		said := ""
		func() {
			defer func() {
				if text, ok := recover().(string); ok {
					said = text
				}
			}()
			if err := construct(); err != nil {
				said = err.Error()
			}
		}()
		if !strings.HasPrefix(said, strings.TrimSpace(name)) {
			t.Errorf("%s: have %q", name, said)
		}
	}
}

// A method of a Service that no constructor made returns an error or panics with a sentence. It never dies of a nil
// pointer.
func TestZeroServicesSayWhatTheyLack(t *testing.T) {
	by := vitrine.Caller{URN: "urn:vitrine:n.test:user=u", Moderates: []string{"urn:vitrine:n.test"}, Components: true,
		Operator: true}
	for _, service := range []any{&appsvc.Service{}, &assets.Service{}, &reviews.Service{}} {
		s := reflect.ValueOf(service)
		for i := range s.NumMethod() {
			name, method := s.Type().String()+"."+s.Type().Method(i).Name, s.Method(i)
			for _, full := range []bool{false, true} {
				func() {
					defer func() {
						r := recover()
						if text, ok := r.(string); r != nil &&
							(!ok || !strings.HasSuffix(text, "has no store: make it with New")) {
							t.Errorf("%s: %v", name, r)
						}
					}()
					callWith(method, by, full)
				}()
			}
		}
	}
}

// callWith calls a method, with zero arguments or with some of each kind, and walks through the sequence that it may
// return.
func callWith(method reflect.Value, by vitrine.Caller, full bool) {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		at := reflect.New(method.Type().In(i)).Elem()
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		switch v := at.Addr().Interface().(type) {
		case *context.Context:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			*v = ctx
		case *vitrine.Caller:
			*v = by
		case *io.Writer:
			*v = io.Discard
		case *io.Reader, *io.ReadSeeker:
			at.Set(reflect.ValueOf(strings.NewReader("x")))
		default:
			if full {
				fill(at, 4)
			}
		}
		in = append(in, at)
	}
	for _, out := range method.Call(in) {
		if out.Kind() == reflect.Func && !out.IsNil() && out.Type().NumIn() == 1 &&
			out.Type().In(0).Kind() == reflect.Func {
			out.Call([]reflect.Value{reflect.MakeFunc(out.Type().In(0), func([]reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(false)}
			})})
		}
	}
}

// fill sets a value, and what is in it, to something that a request may have.
func fill(v reflect.Value, depth int) {
	if !v.CanSet() || depth == 0 {
		return
	}
	if version, ok := v.Addr().Interface().(*vitrine.Version); ok {
		*version = vitrine.NewVersion(1)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("n.test")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`[{"op":"test","path":"/apps/0/version","value":"1"}]`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth-1)
		}
	case reflect.Func:
		if v.Type().NumIn() == 0 || v.Type().NumOut() != 1 {
			return
		}
		zero := reflect.Zero(v.Type().Out(0))
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { return []reflect.Value{zero} }))
	}
}
