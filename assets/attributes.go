package assets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
)

// ChangeAttributesRequest says how to change the attributes of assets: all of them in the same way.
// First the attributes of Remove are removed, then those of Set replace all attributes with the
// same key, then those of Add are added.
//
// For example, an asset has color=red and size=s. Remove size=s, Set color=blue and Add color=green
// leave it with color=blue and color=green.
type ChangeAttributesRequest struct {
	Assets []string                             `json:"assets"` // ids
	Add    []Attribute                          `json:"add"`    // one that the asset has already is not added again
	Set    []Attribute                          `json:"set"`    // of several with the same key, the last counts
	Remove []Attribute                          `json:"remove"` // removed where both key and value are the same
	Fill   func(*ChangeAttributesRequest) error `json:"-"`      // as in ChangeAssetsRequest
}

// ChangedAttributes is the result of a ChangeAttributesRequest.
type ChangedAttributes struct {
	Result []int   `json:"result"` // the status of each asset, in the order of the request: see ItemStatus
	Assets []Asset `json:"assets"` // those that were changed, each once
}

// Attributes returns the attributes that assets have with this key: each value once, in byte order.
// Assets that the caller does not see do not count. It returns ErrInvalid if the key is empty or
// malformed, or if its values take more than Limits.ResponseBytes.
func (s *Session) Attributes(ctx context.Context, lib Library, key string) ([]Attribute, error) {
	s = s.calls("Attributes")
	return view(ctx, s, lib, func(req *request) ([]Attribute, error) {
		if err := checkName("key", key, s.service.limits.Name); err != nil {
			return nil, err
		}
		found, err := req.found(index.Query{All: req.visible(req.tree)})
		if err != nil {
			return nil, err
		}
		out, size := []Attribute{}, 0
		err = req.eachExactly(key, found, func(value string) error {
			const envelope = 20
			if size += envelope + len(key) + len(value); size > s.service.limits.ResponseBytes {
				return fault.Invalid("key", "its values take more than %d bytes", s.service.limits.ResponseBytes)
			}
			out = append(out, Attribute{Key: key, Value: value})
			return nil
		})
		slices.SortFunc(out, func(a, b Attribute) int { return strings.Compare(a.Value, b.Value) })
		return out, err
	})
}

// eachExactly calls fn with each value that found assets have for a key in this spelling, and returns the error of fn.
func (req *request) eachExactly(key string, found *index.Set, fn func(value string) error) error {
	f := attributeField(key, req.rules())
	known := map[string]string{}
	return req.eachValue(f.prefix, found, nil, func(group []index.TermCount, _ int64) error {
		value, _ := f.split(group[0].Term)
		wanted := spelled(f.prefix+value, folded(key, f.rules).spelling)
		if !slices.ContainsFunc(group, func(c index.TermCount) bool { return c.Term == wanted }) {
			return nil
		}
		if strings.HasPrefix(value, longMark) {
			var err error
			if value, err = req.lookUp(f, wanted, known); err != nil {
				return err
			}
		}
		return fn(value)
	})
}

// ChangeAttributes changes the attributes of assets. Each asset has a status of its own, and one
// that cannot be changed does not keep the others from being changed:
//
//   - 200: the asset has the attributes that the request asks for. If it had them before, it
//     is not among ChangedAttributes.Assets.
//   - 404: the caller does not see the asset.
//   - 403: the caller sees the asset and may not change it.
//   - 400: the asset would have more than Limits.Attributes.
//
// It returns ErrInvalid, and changes nothing, if an attribute is malformed, the request has more ids
// than Limits.AssetIDs or a list of more than Limits.Attributes, the response would be longer than
// Limits.ResponseBytes, or the assets have more terms than Limits.Terms.
func (s *Session) ChangeAttributes(
	ctx context.Context, lib Library, in ChangeAttributesRequest,
) (ChangedAttributes, error) {
	if _, err := s.authorize(lib); err != nil {
		return ChangedAttributes{}, err
	}
	if err := fill(ctx, s, lib, &in, in.Fill, nil); err != nil {
		return ChangedAttributes{}, err
	}
	var all fault.List
	checkAttributes("/add", in.Add, s.service.limits, &all)
	checkAttributes("/set", in.Set, s.service.limits, &all)
	checkAttributes("/remove", in.Remove, s.service.limits, &all)
	if len(all) > 0 {
		return ChangedAttributes{}, all[0]
	}
	// All that depends on the request alone is done before the transaction, while nobody waits.
	ready := in.prepare()
	sent := size{lists: []listSize{{"/assets", len(in.Assets)}}, limit: s.service.limits.AssetIDs,
		more: len(in.Add) + len(in.Set) + len(in.Remove)}
	return update(ctx, s, lib, sent, func(req *request) (out ChangedAttributes, err error) {
		size := 0
		statuses, err := req.eachAsset(in.Assets, func(r assetRecord) (int, error) {
			if !req.editsAsset(req.tree, r.Folders) {
				return statusForbidden, nil
			}
			r, status, err := req.changeAttributes(r, ready)
			if r.Ordinal == 0 || err != nil { // an asset that keeps its attributes as they are is not in the response
				return status, err
			}
			a := req.asset(r)
			out.Assets, size = append(out.Assets, a), size+a.size()
			return status, req.checkResponse(len(out.Assets), size)
		})
		for _, s := range statuses {
			out.Result = append(out.Result, s.Status)
		}
		return out, err
	})
}

// checkAttributes adds an ErrInvalid to all if the list has more than Limits.Attributes, and one for each key that is
// no name and each value that is no text. A value may be empty. at is the pointer to the list.
func checkAttributes(at string, list []Attribute, lim Limits, all *fault.List) {
	if n := len(list); n > lim.Attributes {
		_ = all.Add(fault.Invalid(at, "has %d attributes, at most %d are allowed", n, lim.Attributes))
		return
	}
	for i, a := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		_ = all.Add(checkName(at+"/key", a.Key, lim.Name))
		_ = all.Add(checkText(at+"/value", a.Value, lim.Text))
	}
}

// changeAttributes changes the attributes of an asset, and stores the asset if its attributes are others then. It
// returns the changed asset, or the zero assetRecord if nothing was stored, and the status of the asset in the
// response.
func (req *request) changeAttributes(r assetRecord, c attributeChange) (assetRecord, int, error) {
	p, err := partsOf(r.Body)
	if err != nil {
		return assetRecord{}, 0, err
	}
	old := p.Attributes
	p.Attributes = c.apply(old)
	if !withinLimit(len(p.Attributes), len(old), req.limits.Attributes) {
		return assetRecord{}, statusInvalid, nil
	}
	if slices.Equal(old, p.Attributes) {
		return assetRecord{}, statusOK, nil
	}
	before := r
	r.Body = p.body()
	return r, statusOK, req.put(before, r, attributeTerms(old, newRules), attributeTerms(p.Attributes, newRules))
}

// attributeChange is a ChangeAttributesRequest, prepared once for all of its assets. The time for an asset grows with
// the sum of its attributes and those of the request, and not with their product.
type attributeChange struct {
	drop     map[Attribute]bool // of Remove
	replaced map[string]bool    // keys of Set
	add      []Attribute        // of Set and then of Add
	added    map[Attribute]bool // the same as a set
}

// prepare returns the change that the request asks for.
func (in ChangeAttributesRequest) prepare() attributeChange {
	c := attributeChange{drop: make(map[Attribute]bool, len(in.Remove)), replaced: make(map[string]bool, len(in.Set))}
	for _, a := range in.Remove {
		c.drop[a] = true
	}
	last := make(map[string]string, len(in.Set)) // the value of each key that counts, the last one
	for _, a := range in.Set {
		c.replaced[a.Key], last[a.Key] = true, a.Value
	}
	// A key that is set twice keeps the last value, in the place of the item that has it.
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

// apply returns the attributes of an asset after the change; have are those before. An attribute
// that is removed and added again keeps its place, so a request that changes nothing returns an
// equal list. New ones are at the end.
func (c attributeChange) apply(have []Attribute) []Attribute {
	have = slices.DeleteFunc(slices.Clone(have), func(a Attribute) bool {
		return !c.added[a] && (c.drop[a] || c.replaced[a.Key])
	})
	return unique(append(have, c.add...))
}
