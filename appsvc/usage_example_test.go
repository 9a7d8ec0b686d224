package appsvc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A form shows each message at its field. The pointers of violations begin at the config, to which Pointer points.
func ExampleError() {
	apps, me, app := example()
	_, err := apps.As(me).Edit(context.Background(), app.ID, func(_ appsvc.App, patch *appsvc.PatchBuilder) error {
		patch.SetConfig(0, "/question", 7)
		return nil
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		fmt.Println(e.Code, "at", e.Pointer)
		for _, v := range e.Violations {
			fmt.Printf("field %s: %s\n", v.Pointer, v.Message)
		}
	}
	// Output:
	// schema at /apps/0/elements/0/config
	// field /question: want string, have number
}

// A patch begins with the version test. Each method adds an operation.
func ExamplePatchBuilder() {
	apps, me, app := example()
	patch, err := appsvc.NewPatchBuilder(app).SetTitle("Winter").SetConfig(0, "/question", "Mulled wine?").Bytes()
	if err != nil {
		panic(err)
	}
	next, err := apps.As(me).Patch(context.Background(), app.ID, bytes.NewReader(patch))
	fmt.Println(next.Version, err)
	// Output: 1 <nil>
}

// Tests of an embedding program set the clock and the ids, so that what the service stores is always the same.
func ExampleOptions() {
	ids := 0
	apps := appsvc.New(memory.New(), &appsvc.Options{
		Now:   func() time.Time { return time.UnixMilli(1_700_000_000_000) },
		NewID: func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids) },
	})
	network := "urn:vitrine:example.test"
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	app, err := apps.As(me).CreateApp(context.Background(),
		appsvc.CreateAppRequest{Title: "Front page", Groups: []string{network}})
	fmt.Println(app.ID, app.CreatedAt, err)
	// Output: 00000000-0000-4000-8000-000000000001 1700000000000 <nil>
}
