package appsvc_test

import (
	"context"
	"fmt"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A rule that counts: a user may create two apps. The count is committed with the app, so it is right whatever fails.
func ExampleChange_Rows() {
	ctx := context.Background()
	quota := func(ctx context.Context, by vitrine.Caller, c appsvc.Change) error {
		if c.Type != appsvc.AppCreated {
			return nil
		}
		rows := c.Rows("quota")
		values, err := rows.Get(ctx, by.URN)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(values[0]))
		if n == 2 {
			return &vitrine.Error{Kind: vitrine.ErrUnprocessable, Reason: "two apps are enough"}
		}
		return rows.Put(ctx, storage.Entry{Key: by.URN, Value: []byte(strconv.Itoa(n + 1))})
	}
	apps := appsvc.New(memory.New(), &appsvc.Options{Check: quota})
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	for range 3 {
		_, err := apps.As(me).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "Poll", Groups: []string{"urn:vitrine:example.test:site=1"}})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// two apps are enough
}
