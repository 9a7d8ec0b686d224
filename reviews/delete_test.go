package reviews_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// by gives a review the author_id in place of a name.
func by(author, review string) string {
	return strings.Replace(review, `"imported_display_name":"n"`, `"author_id":"`+author+`"`, 1)
}

func from(source, line string) string {
	return strings.Replace(line, `"source":"s"`, `"source":"`+source+`"`, 1)
}

const otherNetwork = "other.test"

// mails is an address in a review.
const mails = `,"imported_email":"Max@Example.test"`

// erasable is a file with two sources, whose first has two collections.
func erasable() string {
	return collection("YQ", single, by("ann", review("1", 10, "")), review("2", 20, `,"parent_id":"1"`),
		by("ann", review("3", 30, `,"parent_id":"2"`)), by("bob", review("4", 40, `,"parent_id":"3"`))) +
		collection("YWI", single, by("ann", review("1", 50, "")), by("Ann", review("2", 60, ""))) +
		from("t", collection("YQ", single, by("ann", review("1", 70, "")), review("9", 80, mails)))
}

func TestDeleteErasesWhatItNames(t *testing.T) {
	for _, test := range []struct {
		name  string
		in    reviews.DeleteRequest
		done  reviews.Deleted
		left  string // records, as an import would have made them
		error error
	}{
		{"a review", reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "4"}, reviews.Deleted{Reviews: 1},
			collection("YQ", single, by("ann", review("1", 10, "")), review("2", 20, `,"parent_id":"1"`),
				by("ann", review("3", 30, `,"parent_id":"2"`))) +
				after(erasable(), 1), nil},
		{"a review with a reply, which moves up", reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "2"},
			reviews.Deleted{Reviews: 1, Replies: 1},
			collection("YQ", single, by("ann", review("1", 10, "")), by("ann", review("3", 30, `,"parent_id":"1"`)),
				by("bob", review("4", 40, `,"parent_id":"3"`))) +
				after(erasable(), 1), nil},
		{"the first review of a thread", reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "1"},
			reviews.Deleted{Reviews: 1, Replies: 1},
			collection("YQ", single, review("2", 20, ""), by("ann", review("3", 30, `,"parent_id":"2"`)),
				by("bob", review("4", 40, `,"parent_id":"3"`))) +
				after(erasable(), 1), nil},
		{"the last review of a collection", reviews.DeleteRequest{Collection: "YWI", Author: "Ann"},
			reviews.Deleted{Reviews: 1},
			line(erasable(), 0) + collection("YWI", single, by("ann", review("1", 50, ""))) + after(erasable(), 2),
			nil},
		{"an author in a collection", reviews.DeleteRequest{Source: "s", Collection: "YQ", Author: "ann"},
			reviews.Deleted{Reviews: 2, Replies: 2},
			collection("YQ", single, review("2", 20, ""), by("bob", review("4", 40, `,"parent_id":"2"`))) +
				after(erasable(), 1), nil},
		{"an author in a source", reviews.DeleteRequest{Source: "s", Author: "ann"},
			reviews.Deleted{Reviews: 3, Replies: 2},
			collection("YQ", single, review("2", 20, ""), by("bob", review("4", 40, `,"parent_id":"2"`))) +
				collection("YWI", single, by("Ann", review("2", 60, ""))) + after(erasable(), 2), nil},
		{"an author in the network", reviews.DeleteRequest{Author: "ann"}, reviews.Deleted{Reviews: 4, Replies: 2},
			collection("YQ", single, review("2", 20, ""), by("bob", review("4", 40, `,"parent_id":"2"`))) +
				collection("YWI", single, by("Ann", review("2", 60, ""))) +
				from("t", collection("YQ", single, review("9", 80, mails))), nil},
		{"an address in the network, in another case", reviews.DeleteRequest{Email: "MAX@example.test"},
			reviews.Deleted{Reviews: 1},
			line(erasable(), 0) + line(erasable(), 1) +
				from("t", collection("YQ", single, by("ann", review("1", 70, "")))), nil},
		{"an author and an address", reviews.DeleteRequest{Email: "max@example.test", Author: "bob"},
			reviews.Deleted{Reviews: 2},
			collection("YQ", single, by("ann", review("1", 10, "")), review("2", 20, `,"parent_id":"1"`),
				by("ann", review("3", 30, `,"parent_id":"2"`))) +
				line(erasable(), 1) + from("t", collection("YQ", single, by("ann", review("1", 70, "")))), nil},
		{"an address of nobody", reviews.DeleteRequest{Email: "max@example"}, reviews.Deleted{}, erasable(),
			vitrine.ErrNotFound},
		{"a review and an address",
			reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "1", Email: "max@example.test"},
			reviews.Deleted{}, erasable(), vitrine.ErrInvalid},
		{"an author who wrote nothing", reviews.DeleteRequest{Author: "nobody"}, reviews.Deleted{}, erasable(),
			vitrine.ErrNotFound},
		{"an author who wrote nothing in the collection", reviews.DeleteRequest{Collection: "YWI", Author: "bob"},
			reviews.Deleted{}, erasable(), vitrine.ErrNotFound},
		{"a collection", reviews.DeleteRequest{Source: "s", Collection: "YQ"},
			reviews.Deleted{Collections: 1, Reviews: 4}, after(erasable(), 1), nil},
		{"a collection whose id one source has", reviews.DeleteRequest{Collection: "YWI"},
			reviews.Deleted{Collections: 1, Reviews: 2}, line(erasable(), 0) + after(erasable(), 2), nil},
		{"a source", reviews.DeleteRequest{Source: "s"}, reviews.Deleted{Collections: 2, Reviews: 6},
			after(erasable(), 2), nil},
		{"a source that has nothing", reviews.DeleteRequest{Source: "none"}, reviews.Deleted{}, erasable(),
			vitrine.ErrNotFound},
		{"everything", reviews.DeleteRequest{Everything: true}, reviews.Deleted{Collections: 3, Reviews: 8}, "", nil},

		{"a review that is not there", reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "99"},
			reviews.Deleted{}, erasable(), vitrine.ErrNotFound},
		{"a collection that is not there", reviews.DeleteRequest{Source: "s", Collection: "absent"}, reviews.Deleted{},
			erasable(), vitrine.ErrNotFound},
		{"an author in a collection that is not there", reviews.DeleteRequest{Collection: "absent", Author: "ann"},
			reviews.Deleted{}, erasable(), vitrine.ErrNotFound},
		{"a collection of two sources", reviews.DeleteRequest{Collection: "YQ"}, reviews.Deleted{}, erasable(),
			vitrine.ErrInvalid},
		{"a review without its collection", reviews.DeleteRequest{Source: "s", Review: "1"}, reviews.Deleted{},
			erasable(), vitrine.ErrInvalid},
		{"a review and an author", reviews.DeleteRequest{Source: "s", Collection: "YQ", Review: "1", Author: "ann"},
			reviews.Deleted{}, erasable(), vitrine.ErrInvalid},
		{"nothing", reviews.DeleteRequest{}, reviews.Deleted{}, erasable(), vitrine.ErrInvalid},
		{"everything of a source", reviews.DeleteRequest{Source: "s", Everything: true}, reviews.Deleted{}, erasable(),
			vitrine.ErrInvalid},
	} {
		store := memory.New()
		service := reviews.New(store, nil)
		importInto(t, store, erasable(), nil)
		if _, err := service.As(operator).Import(ctx,
			reviews.ImportRequest{Network: otherNetwork, File: strings.NewReader(erasable())}); err != nil {
			t.Fatal(err)
		}
		test.in.Network = network
		dry := test.in
		dry.DryRun = true
		before := export(t, store)
		done, err := service.As(operator).Delete(ctx, dry)
		if done != test.done || !errors.Is(err, test.error) || export(t, store) != before {
			t.Errorf("%s, in a dry run: %+v, %v, want %+v, %v; the store was changed: %v", test.name, done, err,
				test.done, test.error, export(t, store) != before)
		}
		done, err = service.As(operator).Delete(ctx, test.in)
		if done != test.done || !errors.Is(err, test.error) {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, done, err, test.done, test.error)
		}
		left := export(t, store)
		fresh := memory.New()
		importInto(t, fresh, test.left, nil)
		if want := export(t, fresh); left != want {
			t.Errorf("%s: left is\n%swant\n%s", test.name, left, want)
		}
		checkExported(t, service, left)
		if again := importInto(t, store, left, nil); again.ReviewsUnchanged != again.Reviews || again.Errors > 0 {
			t.Errorf("%s: what is left is imported anew as %+v", test.name, again)
		}
		var other strings.Builder
		if err := service.As(operator).Export(ctx, otherNetwork, &other); err != nil ||
			strings.Count(other.String(), `"ratings"`) != 8 {
			t.Errorf("%s: another network is left with %s, %v", test.name, &other, err)
		}
		// What was erased comes back when it is imported again.
		back := importInto(t, store, erasable(), nil)
		if back.ReviewsCreated != test.done.Reviews || back.ReviewsUpdated != test.done.Replies {
			t.Errorf("%s: the file imported again: %+v", test.name, back.Counts)
		}
	}
	if _, err := reviews.New(memory.New(), nil).As(moderator("urn:vitrine:example.test")).Delete(ctx,
		reviews.DeleteRequest{Everything: true}); !errors.Is(err, vitrine.ErrInvalid) {
		t.Errorf("without a network, though the caller moderates only one: %v", err)
	}
}

func line(file string, n int) string { return strings.SplitAfter(file, "\n")[n] }

// after gives the lines of a file from n on.
func after(file string, n int) string { return strings.Join(strings.SplitAfter(file, "\n")[n:], "") }

// More than one transaction erases leaves nothing behind.
func TestDeleteErasesVeryManyInSeveralTransactions(t *testing.T) {
	var file strings.Builder
	for i := range 1100 {
		file.WriteString(collection(fmt.Sprintf("%08d", i), single, by("ann", review("1", 5, "")),
			by("bob", review("2", 7, ""))))
	}
	store := memory.New()
	service := reviews.New(retrying{store}, nil)
	importInto(t, store, file.String(), nil)
	for in, want := range map[reviews.DeleteRequest]reviews.Deleted{
		{Network: network, Author: "ann", DryRun: true}: {Reviews: 1100},
		{Network: network, Source: "s", DryRun: true}:   {Collections: 1100, Reviews: 2200},
	} {
		if done, err := service.As(operator).Delete(ctx, in); err != nil || done != want {
			t.Errorf("in a dry run of %+v: %+v, %v", in, done, err)
		}
	}
	if done, err := service.As(operator).Delete(ctx,
		reviews.DeleteRequest{Network: network, Author: "ann"}); err != nil ||
		done != (reviews.Deleted{Reviews: 1100}) {
		t.Errorf("%+v, %v", done, err)
	}
	if left := export(t, store); strings.Count(left, "\n") != 1100 || strings.Contains(left, "ann") ||
		strings.Count(left, "bob") != 1100 {
		t.Error("more or less is left")
	}
	if done, err := service.As(operator).Delete(ctx,
		reviews.DeleteRequest{Network: network, Source: "s"}); err != nil ||
		done != (reviews.Deleted{Collections: 1100, Reviews: 1100}) {
		t.Errorf("%+v, %v", done, err)
	}
	if names, err := service.Networks(ctx); len(names) != 0 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

// heldStore is a store whose files keep copies of what is deleted for as long as they are held.
type heldStore struct {
	storage.Store
	held     bool
	scrubbed int
}

func (s *heldStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if !o.Erase {
		return s.Store.Update(ctx, space, o, fn)
	}
	s.scrubbed++
	if s.held {
		return fmt.Errorf("%w: somebody reads", vitrine.ErrBusy)
	}
	return nil
}

// Copies that are left are told apart from a failure to erase, and the same request removes them later.
func TestDeleteTellsOfCopiesThatAreLeft(t *testing.T) {
	store := &heldStore{Store: memory.New(), held: true}
	service := reviews.New(store, nil)
	importInto(t, store, erasable(), nil)
	in := reviews.DeleteRequest{Network: network, Author: "bob"}
	if _, err := service.As(operator).Delete(ctx,
		reviews.DeleteRequest{Network: network, Author: "bob", DryRun: true}); err != nil || store.scrubbed != 0 {
		t.Errorf("a dry run: %v, and the files were scrubbed %d times", err, store.scrubbed)
	}
	done, err := service.As(operator).Delete(ctx, in)
	if done != (reviews.Deleted{Reviews: 1}) || !errors.Is(err, reviews.ErrCopies) ||
		!errors.Is(err, vitrine.ErrBusy) || errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("%+v, %v", done, err)
	}
	if strings.Contains(export(t, store), "bob") {
		t.Error("nothing was erased")
	}
	if done, err = service.As(operator).Delete(ctx, in); done != (reviews.Deleted{}) ||
		!errors.Is(err, reviews.ErrCopies) {
		t.Errorf("again, while there are copies: %+v, %v", done, err)
	}
	store.held, store.scrubbed = false, 0
	if _, err = service.As(operator).Delete(ctx, in); !errors.Is(err, vitrine.ErrNotFound) ||
		errors.Is(err, reviews.ErrCopies) || store.scrubbed != 1 {
		t.Errorf("again: %v, and the files were scrubbed %d times", err, store.scrubbed)
	}
}
