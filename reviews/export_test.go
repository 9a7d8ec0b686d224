package reviews

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/reviews/internal/format"
	"github.com/vitrine-go/vitrine/storage"
)

// WithBuffer has files read in blocks of n bytes, so that a short line is a long one.
func WithBuffer(o ReadOptions, n int) *ReadOptions {
	o.buffer = n
	return &o
}

// ExampleFile gives a file with an example of a rule in its place; the rest of the file keeps every rule.
func (r Rule) ExampleFile(example string) string {
	const review = `{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
		`"author_id":"7"}`
	example = strings.ReplaceAll(example, `\xe9`, "\xe9")
	name, _, _ := strings.Cut(example, ":")
	put := func(object, member string) string { // in place of the member of that name, or behind the last
		if at := strings.Index(object, name+":"); at >= 0 {
			end := at + strings.Index(object[at:], ",\"")
			if end < at {
				end = len(object) - 1
			}
			return object[:at] + member + object[end:]
		}
		return strings.TrimSuffix(object, "}") + "," + member + "}"
	}
	switch {
	case strings.HasPrefix(name, `"source`), strings.HasPrefix(name, `"dimensions`),
		strings.HasPrefix(name, `"reviews`), strings.HasPrefix(r.ID, "collection-id-"), r.ID == "id-text":
		return put(format.RightLine, example)
	case strings.HasPrefix(example, `{"id"`): // reviews
	case !strings.HasPrefix(example, `"`) || name == example:
		return example // lines
	default:
		example = put(review, example)
	}
	return strings.Replace(format.RightLine, "[]", "["+example+"]", 1)
}

// Key is a CollectionKey for tests.
type Key = CollectionKey

// EditReview changes the data of a stored review past all rules.
func EditReview(db storage.Store, network string, key CollectionKey, id string, edit func(string) string) error {
	ctx := context.Background()
	return update(ctx, db, network, storage.UpdateOptions{}, func(s *rows) error {
		c, err := s.existing(key)
		if err != nil {
			return err
		}
		for r, err := range s.byID(c, []string{id}) {
			if err != nil || r.ID != id {
				return fmt.Errorf("review %q: %w", r.ID, err)
			}
			r.Data = []byte(edit(string(r.Data)))
			if err := s.putReviews(&c, []row{r}); err != nil {
				return err
			}
		}
		return nil
	})
}

// EditTally replaces a text in the record of a stored collection.
func EditTally(db storage.Store, network string, key CollectionKey, old, new string) error {
	ctx := context.Background()
	return update(ctx, db, network, storage.UpdateOptions{}, func(s *rows) error {
		at := s.key("collection/", key.Source, key.ID)
		values, err := s.r.Get(ctx, at)
		if err != nil {
			return err
		}
		edited := bytes.Replace(values[0], []byte(old), []byte(new), 1)
		if bytes.Equal(edited, values[0]) {
			return fmt.Errorf("%q has no %q", values[0], old)
		}
		return s.t.Put(ctx, storage.Entry{Key: at, Value: edited})
	})
}
