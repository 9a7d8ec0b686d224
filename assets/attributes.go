package assets

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// ChangeAttributes says what to do with the attributes of assets (A11): first to remove some, then to
// set some, which removes all others of the same key, then to add some.
type ChangeAttributes struct {
	Assets []string    `json:"assets"` // ids
	Add    []Attribute `json:"add"`
	Set    []Attribute `json:"set"`
	Remove []Attribute `json:"remove"`
}

// ChangedAttributes is what became of it.
type ChangedAttributes struct {
	Result []int   // an HTTP status for each asset of the request, in its order; 200 is success
	Assets []Asset // those with success, each once
}

// AppendJSON appends the outcome as it is answered.
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

// Attributes returns the distinct values that assets seen by the caller have for a key, in byte order
// (A10). ErrInvalid for an empty key.
func (s *Service) Attributes(ctx context.Context, by Caller, lib Library, key string) ([]Attribute, error) {
	out := []Attribute{}
	err := s.view(ctx, by, lib, func(ss *session) error {
		if err := checkName("key", key, s.limits.Name); err != nil {
			return err
		}
		out = out[:0]
		visible := ss.visible(ss.tree)
		for value, err := range ss.r.Values(ctx, key) {
			if err != nil {
				return err
			}
			a := Attribute{key, value}
			seen, err := ss.any(attributeTerm(a), visible)
			if err != nil {
				return err
			}
			if seen {
				out = append(out, a)
			}
		}
		return nil
	})
	return out, err
}

// any reports whether an asset with the term is in these folders.
func (ss *session) any(term string, folders *folderSet) (bool, error) {
	if folders == nil {
		return true, nil // some asset has it
	}
	for _, err := range ss.found(AssetQuery{All: []AnyOf{{term}}, Limit: 1}, folders) {
		return err == nil, err
	}
	return false, nil
}

// ChangeAttributes changes the attributes of assets, each judged by itself (A11): 404 for one that the
// caller does not see, 403 for one that it may not edit. ErrInvalid for an attribute that is not
// well-formed.
func (s *Service) ChangeAttributes(ctx context.Context, by Caller, lib Library, in ChangeAttributes) (ChangedAttributes, error) {
	if _, err := s.enter(by, lib); err != nil {
		return ChangedAttributes{}, err
	}
	if err := in.check(s.limits); err != nil {
		return ChangedAttributes{}, err
	}
	var out ChangedAttributes
	err := s.update(ctx, by, lib, func(ss *session) error {
		out = ChangedAttributes{}
		var modified []Record
		statuses, err := ss.eachAsset(in.Assets, func(r Record) (int, error) {
			if !ss.editsAsset(ss.tree, r.Folders) {
				return http.StatusForbidden, nil
			}
			r, err := ss.label(r, in)
			modified = append(modified, r)
			return http.StatusOK, err
		})
		if err != nil {
			return err
		}
		for _, s := range statuses {
			out.Result = append(out.Result, s.Status)
		}
		for _, r := range modified {
			out.Assets = append(out.Assets, ss.asset(r))
		}
		return nil
	})
	if err != nil {
		return ChangedAttributes{}, err
	}
	return out, nil
}

func (in ChangeAttributes) check(lim Limits) error {
	for _, list := range []struct {
		name       string
		attributes []Attribute
	}{{"add", in.Add}, {"set", in.Set}, {"remove", in.Remove}} {
		for i, a := range list.attributes {
			at := fmt.Sprintf("%s/%d", list.name, i)
			if err := checkName(at+"/key", a.Key, lim.Name); err != nil {
				return err
			}
			if err := checkText(at+"/value", a.Value, lim.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// label stores the record with its attributes changed.
func (ss *session) label(r Record, in ChangeAttributes) (Record, error) {
	p, err := r.Body.parts()
	if err != nil {
		return r, err
	}
	old := p.attributes
	p.attributes = in.apply(old)
	if slices.Equal(old, p.attributes) {
		return r, nil
	}
	r.Body = p.body()
	return r, ss.reindex(r)
}

// apply returns what the attributes of an asset are after the change.
func (in ChangeAttributes) apply(have []Attribute) []Attribute {
	drop := make(map[Attribute]bool, len(in.Remove))
	for _, a := range in.Remove {
		drop[a] = true
	}
	have = slices.DeleteFunc(slices.Clone(have), func(a Attribute) bool { return drop[a] })
	last := make(map[string]string, len(in.Set)) // of one key set twice, the later has removed the earlier
	for _, a := range in.Set {
		last[a.Key] = a.Value
	}
	have = slices.DeleteFunc(have, func(a Attribute) bool { _, replaced := last[a.Key]; return replaced })
	for _, a := range in.Set {
		if last[a.Key] == a.Value {
			have = append(have, a)
		}
	}
	return unique(append(have, in.Add...))
}
