package assets

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// ChangeAttributesRequest says what to do with the attributes of assets: first to remove some, then to
// set some, which removes all others of the same key, then to add some.
type ChangeAttributesRequest struct {
	Assets []string    `json:"assets"` // ids
	Add    []Attribute `json:"add"`
	Set    []Attribute `json:"set"`
	Remove []Attribute `json:"remove"`
}

// ChangedAttributes is what became of it.
type ChangedAttributes struct {
	Result []int   `json:"result"` // what became of each asset of the request, in its order: StatusOK for success
	Assets []Asset `json:"assets"` // those that were changed by it, each once
}

// AppendJSON appends the outcome as it is over HTTP.
func (c ChangedAttributes) AppendJSON(b []byte) []byte {
	b = append(b, `{"result":[`...)
	for i, status := range c.Result {
		b = fmt.Append(appendComma(b, i), status)
	}
	b = appendAssets(append(b, `],"assets":[`...), c.Assets)
	return append(b, `]}`...)
}

// MarshalJSON gives the same bytes as AppendJSON.
func (c ChangedAttributes) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// Attributes returns the distinct values that assets seen by the caller have for a key, in byte order.
// ErrInvalid for an empty key, and for one whose values take more than Limits.PageBytes.
func (s *Service) Attributes(ctx context.Context, by Caller, lib Library, key string) ([]Attribute, error) {
	out := []Attribute{}
	err := s.view(ctx, by, lib, func(ss *request) error {
		if err := checkName("key", key, s.limits.Name); err != nil {
			return err
		}
		out = out[:0]
		size := 0
		for value, err := range ss.r.Values(ctx, key, ss.visible(ss.tree)) {
			if err != nil {
				return err
			}
			const envelope = 20
			if size += envelope + len(key) + len(value); size > s.limits.PageBytes {
				return invalid("key", "its values take more than %d bytes", s.limits.PageBytes)
			}
			if err := memlimit.Reserve(ctx, envelope+len(key)+len(value)); err != nil {
				return err
			}
			out = append(out, Attribute{Key: key, Value: value})
		}
		return nil
	})
	return out, err
}

// ChangeAttributes changes the attributes of assets, each judged by itself: 404 for one that the
// caller does not see, 403 for one that it may not edit, 400 for one that would have more than
// Limits.Attributes. ErrInvalid for an attribute that is not well-formed, for a list of more than
// Limits.Attributes, and where the answer would be longer than Limits.PageBytes or the assets have more
// terms than Limits.Terms.
func (s *Service) ChangeAttributes(ctx context.Context, by Caller, lib Library, in ChangeAttributesRequest) (ChangedAttributes, error) {
	if _, err := s.enter(by, lib); err != nil {
		return ChangedAttributes{}, err
	}
	if err := in.check(s.limits); err != nil {
		return ChangedAttributes{}, err
	}
	ready := in.prepare()
	var out ChangedAttributes
	err := s.update(ctx, by, lib, func(ss *request) error {
		out = ChangedAttributes{}
		size := 0
		statuses, err := ss.eachAsset(in.Assets, func(r Record) (int, error) {
			if !ss.editsAsset(ss.tree, r.Folders) {
				return StatusForbidden, nil
			}
			r, outcome, err := ss.label(r, ready)
			switch {
			case err != nil:
				return 0, err
			case outcome == tooMany:
				return StatusInvalid, nil
			case outcome == unchanged:
				return StatusOK, nil
			}
			a := ss.asset(r)
			out.Assets, size = append(out.Assets, a), size+a.size()
			return StatusOK, ss.checkAnswer(len(out.Assets), size)
		})
		if err != nil {
			return err
		}
		for _, s := range statuses {
			out.Result = append(out.Result, s.Status)
		}
		return nil
	})
	if err != nil {
		return ChangedAttributes{}, err
	}
	return out, nil
}

func (in ChangeAttributesRequest) check(lim Limits) error {
	for _, list := range []struct {
		name       string
		attributes []Attribute
	}{{"add", in.Add}, {"set", in.Set}, {"remove", in.Remove}} {
		if err := checkAttributes("/"+list.name, list.attributes, lim); err != nil {
			return err
		}
	}
	return nil
}

// checkAttributes reports what keeps a list, which stands at the pointer at, from being attributes of an asset.
func checkAttributes(at string, list []Attribute, lim Limits) error {
	if n := len(list); n > lim.Attributes {
		return invalid(at, "has %d attributes, at most %d are allowed", n, lim.Attributes)
	}
	for i, a := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		if err := checkName(at+"/key", a.Key, lim.Name); err != nil {
			return err
		}
		if err := checkText(at+"/value", a.Value, lim.Text); err != nil {
			return err
		}
	}
	return nil
}

// labelled is what becomes of an asset whose attributes are to be changed.
type labelled int

const (
	unchanged labelled = iota
	changed
	tooMany // attributes it would have: more than is allowed, and than it has
)

// label stores the record with its attributes changed.
func (ss *request) label(r Record, c relabel) (Record, labelled, error) {
	p, err := partsOf(r.Body)
	if err != nil {
		return r, unchanged, err
	}
	old := p.attributes
	p.attributes = c.apply(old)
	if len(p.attributes) > max(ss.limits.Attributes, len(old)) {
		return r, tooMany, nil
	}
	if slices.Equal(old, p.attributes) {
		return r, unchanged, nil
	}
	r.Body = p.body()
	return r, changed, ss.reindex(r)
}

// relabel is a ChangeAttributes made ready, once for all of its assets.
type relabel struct {
	drop     map[Attribute]bool
	replaced map[string]bool // keys
	add      []Attribute
	added    map[Attribute]bool // what add has
}

func (in ChangeAttributesRequest) prepare() relabel {
	c := relabel{drop: make(map[Attribute]bool, len(in.Remove)), replaced: make(map[string]bool, len(in.Set))}
	for _, a := range in.Remove {
		c.drop[a] = true
	}
	last := make(map[string]string, len(in.Set)) // of one key set twice, the later has removed the earlier
	for _, a := range in.Set {
		c.replaced[a.Key], last[a.Key] = true, a.Value
	}
	for _, a := range in.Set {
		if last[a.Key] == a.Value {
			c.add = append(c.add, a)
		}
	}
	c.add = append(c.add, in.Add...)
	c.added = make(map[Attribute]bool, len(c.add))
	for _, a := range c.add {
		c.added[a] = true
	}
	return c
}

// apply returns what the attributes of an asset are after the change. One that is taken away and given
// back keeps its place, so that the same attributes are the same list.
func (c relabel) apply(have []Attribute) []Attribute {
	have = slices.DeleteFunc(slices.Clone(have), func(a Attribute) bool { return !c.added[a] && (c.drop[a] || c.replaced[a.Key]) })
	return unique(append(have, c.add...))
}
