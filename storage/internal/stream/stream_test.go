package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

var errWalk, errCheck = errors.New("the walk failed"), errors.New("the transaction has ended")

// digits hands out 1, 2, 3 and counts those it was asked for; then it fails, or not.
func digits(asked *int, failed error) func(func(int) bool) error {
	return func(out func(int) bool) error {
		for *asked = 1; *asked <= 3; *asked++ {
			if !out(*asked) {
				break
			}
		}
		return failed
	}
}

// read takes values until there are most of them.
func read(values iter.Seq2[int, error], most int) string {
	var list []any
	for v, err := range values {
		if err != nil {
			list = append(list, err)
		} else {
			list = append(list, v)
		}
		if len(list) == most {
			break
		}
	}
	return fmt.Sprint(list...)
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name        string
		failed      error
		most, asked int
		want        string
	}{
		{"all", nil, 9, 4, "1 2 3"},
		{"an error at the end", errWalk, 9, 4, "1 2 3 the walk failed"},
		{"who leaves asks for no more", nil, 2, 2, "1 2"},
		{"who leaves hears of no error", errWalk, 2, 2, "1 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked int
			if got := read(stream.Of(digits(&asked, test.failed)), test.most); got != test.want || asked != test.asked {
				t.Errorf("%s, asked for %d; want %s, %d", got, asked, test.want, test.asked)
			}
		})
	}
}

func TestLimited(t *testing.T) {
	for _, test := range []struct {
		name         string
		limit, sound int // checks that succeed
		failed       error
		most, asked  int
		want         string
	}{
		{"no limit", 0, 9, nil, 9, 4, "1 2 3"},
		{"a limit", 2, 9, nil, 9, 2, "1 2"},
		{"a limit of all", 3, 9, nil, 9, 3, "1 2 3"},
		{"a limit above all", 4, 9, nil, 9, 4, "1 2 3"},
		{"an error behind all", 4, 9, errWalk, 9, 4, "1 2 3 the walk failed"},
		{"the check fails", 0, 1, nil, 9, 2, "1 the transaction has ended"},
		{"the check fails and the walk does", 0, 1, errWalk, 9, 2, "1 the transaction has ended"},
		{"who leaves is at the limit", 2, 9, errWalk, 2, 2, "1 2"},
		{"who leaves before the limit", 2, 9, errWalk, 1, 1, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked int
			left := test.sound
			check := func(context.Context) error {
				left--
				if left < 0 {
					return errCheck
				}
				return nil
			}
			got := read(stream.Limited(t.Context(), check, test.limit, digits(&asked, test.failed)), test.most)
			if got != test.want || asked != test.asked {
				t.Errorf("%s, asked for %d; want %s, %d", got, asked, test.want, test.asked)
			}
		})
	}
}

func ExampleOf() {
	values := stream.Of(func(out func(string) bool) error {
		for _, v := range []string{"a", "b", "c"} {
			if !out(v) {
				return nil
			}
		}
		return nil
	})
	for v := range values {
		fmt.Println(v)
		if v == "b" {
			break
		}
	}
	// Output:
	// a
	// b
}

// An iterator can be used again: its limit counts anew.
func TestALimitCountsAnew(t *testing.T) {
	var asked int
	values := stream.Limited(t.Context(), context.Context.Err, 2, digits(&asked, nil))
	if a, b := read(values, 9), read(values, 9); a != "1 2" || b != "1 2" {
		t.Errorf("%s, then %s", a, b)
	}
}
