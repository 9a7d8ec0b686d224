package archive_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A store is moved into another one; feeds are left out, as Maintenance of each domain says.
func Example() {
	ctx, from, to := context.Background(), memory.New(), memory.New()
	without := archive.Without{"notes log/"}
	err := from.Update(ctx, "notes", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "notes a", Value: []byte("12")}, storage.Entry{Key: "notes log/1"})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	fmt.Println(archive.Export(ctx, from, &file, without))
	fmt.Print(file.String())
	fmt.Println(archive.Import(ctx, to, &file, without))
	// Output:
	// 1 <nil>
	// {"vitrine":3}
	// {"key":"notes a","value":12}
	// {"entries":1,"sha256":"1cf03e80ef8b24bff59cd8f740472feb1387be23e285286693e94a4db8af4345"}
	// 1 <nil>
}
