package history_test

import (
	"fmt"
	"log"

	"github.com/vitrine-go/vitrine/internal/history"
)

func Example() {
	// What a driver stores: the latest version, its tail, and rows.
	latest := history.Version{Number: 0, UpdatedBy: "ann", Body: []byte(`{"title":"Home"}`)}
	var tail []byte
	var stored []history.Row

	for _, title := range []string{"Start", "Start page"} {
		next := history.Version{Number: latest.Number + 1, UpdatedBy: "bob",
			Body: fmt.Appendf(nil, `{"title":%q}`, title)}
		change, err := history.Append(tail, latest, next)
		if err != nil {
			log.Fatal(err)
		}
		latest, tail, stored = next, change.Tail, append(stored, change.Rows...)
	}

	upTo := func(number int64) history.Rows { // a query, in a real driver
		return func(yield func(history.Row, error) bool) {
			for i := len(stored) - 1; i >= 0; i-- {
				if stored[i].Version <= number && !yield(stored[i], nil) {
					return
				}
			}
		}
	}
	list, err := history.List(tail, upTo(1), 1, 10, 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range list {
		fmt.Println(v.Number, v.UpdatedBy, string(v.Body))
	}
	// Output:
	// 1 bob {"title":"Start"}
	// 0 ann {"title":"Home"}
}
