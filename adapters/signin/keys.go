package signin

import (
	"context"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// The kinds of keys.
const (
	kindSecret = "secret" // for a program
	kindPublic = "public" // for a page
)

// prefixLength is how many characters of a key everybody may see, and caches have as its tag.
const prefixLength = len(secretPrefix) + 8

// keyFields are the members of a key that its maker chooses. In responses, lists are never null.
type keyFields struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`
	Tags       []string `json:"tags"`
	Reviews    bool     `json:"reviews"`
	Expires    *int64   `json:"expires"`
}

// wireKey is a key as it is in responses.
type wireKey struct {
	ID     string `json:"id"`
	Prefix string `json:"prefix"`
	keyFields
	CreatedAt  int64   `json:"createdAt"`
	By         wireURN `json:"by"`
	LastUsedAt *int64  `json:"lastUsedAt"`
	Key        string  `json:"key,omitempty"`
}

type wireURN struct {
	URN string `json:"urn"`
}

func wireOfKey(ctx context.Context, r storage.Reader, k *key) (wireKey, error) {
	used, err := lastSeen(ctx, r, "key", k.Prefix)
	chosen := keyFields{k.Name, k.Kind, k.Moderates, k.Reads, k.Roles, k.Groups, k.Components, k.Tags, k.Reviews, orNull(k.Expires)}
	return wireKey{k.ID, k.Prefix, chosen, k.CreatedAt, wireURN{k.By}, orNull(used), k.Public}, err
}

// sees reports whether the asker may see and revoke a key: their own, a public one of a network that they moderate, and an administrator
// every one.
func (a asker) sees(k *key) bool {
	if a.rights.Admin || k.Kind == kindSecret && a.session != nil && k.Person == a.session.person.ID {
		return true
	}
	return k.Kind == kindPublic && slices.ContainsFunc(k.Reads, func(read string) bool { return within(a.Moderates, read) })
}

// listKeys serves GET /x/keys/, the newest first.
func (s *Service) listKeys(r *httpapi.Request) (any, error) {
	limit, after := r.Limit(), r.Text("after")
	a, err := s.asker(r)
	if err != nil || r.Wrong() {
		return nil, err
	}
	if limit, err = pageOf(limit); err != nil {
		return nil, err
	}
	keys, next := []wireKey{}, ""
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		keys, next = keys[:0], ""
		in := storage.Prefix(record.Prefix(space, "key/"))
		if in.Reverse = true; after != "" {
			in.To = keyKey(after)
		}
		for e, err := range v.Scan(r.Context(), in) {
			if err != nil {
				return err
			}
			k, err := decoded[key](e)
			if err != nil {
				return err
			}
			if !a.sees(k) {
				continue
			}
			if len(keys) == limit {
				next = keys[limit-1].ID
				return nil
			}
			w, err := wireOfKey(r.Context(), v, k)
			if err != nil {
				return err
			}
			keys = append(keys, w)
		}
		return nil
	})
	if next != "" {
		r.Next(next)
	}
	return map[string]any{"keys": keys}, err
}

// createKey serves POST /x/keys/. The answer has the key itself, which for a secret one is the only time.
func (s *Service) createKey(r *httpapi.Request) (any, error) {
	a, err := s.asker(r)
	if err != nil {
		return nil, err
	}
	var in keyFields
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	k := &key{ID: newID(), Name: in.Name, Kind: in.Kind, Tags: in.Tags, Reviews: in.Reviews, CreatedAt: s.millis(), By: a.URN,
		Rights: Rights{Moderates: in.Moderates, Reads: in.Reads, Roles: in.Roles, Groups: in.Groups, Components: in.Components}}
	set(&k.Expires, in.Expires)
	if err := k.check(in.Expires != nil); err != nil {
		return nil, err
	}
	if k.Kind == kindSecret && a.session == nil {
		return nil, forbidden("a secret key speaks for the person who makes it: sign in to make one")
	}
	if a.session != nil {
		if err := s.confirmed(a.session); err != nil {
			return nil, err
		}
	}
	prefix := publicPrefix
	if k.Kind == kindSecret {
		prefix, k.Person = secretPrefix, a.session.person.ID
	}
	secret, hash := newSecret(prefix)
	if k.Prefix, k.Hash = secret[:prefixLength], hash; k.Kind == kindPublic {
		k.Public = secret
	}
	ctx := r.Context()
	var w wireKey
	err = s.update(ctx, func(t storage.Tx) (err error) {
		if err := a.again(ctx, t); err != nil {
			return err
		}
		for i, read := range k.Reads {
			if k.Kind == kindPublic && !a.rights.Admin && !within(a.Moderates, read) {
				return forbidden("%s: you do not moderate %s, which this key would read", at("/reads", i), read)
			}
		}
		if lacks := rightsOf(a.Caller).lacks(k.Rights); lacks != "" && k.Kind == kindSecret {
			return forbidden("a key may do no more than who makes it: you lack %s", lacks)
		}
		entries := []storage.Entry{stored(keyKey(k.ID), k), entry(secretKey(hash), k.ID)}
		if k.Person != "" {
			entries = append(entries, entry(keysKey(k.Person, k.ID), ""))
		}
		if w, err = wireOfKey(ctx, t, k); err == nil {
			err = t.Put(ctx, entries...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.access(ctx, "key made", "key", k.Prefix, "by", a.URN)
	r.Located("/x/keys/" + k.ID)
	w.Key = secret
	return w, nil
}

// check returns an error for what is malformed in a new key, and sets when a secret one ends. expires tells whether that was given.
func (k *key) check(expires bool) error {
	if err := checkText(k.Name, mostName); err != nil {
		return invalid("/name", "%w", err)
	}
	if err := k.Rights.check(); err != nil {
		return err
	}
	longest := time.UnixMilli(k.CreatedAt).AddDate(1, 0, 0).UnixMilli()
	switch {
	case k.Kind == kindSecret && len(k.Tags) > 0:
		return invalid("/tags", "a secret key has none: want the kind public, or no tags")
	case k.Kind == kindSecret && k.Reviews:
		return invalid("/reviews", "a secret key reads what its maker does: want the kind public, or false")
	case k.Kind == kindSecret && !expires:
		k.Expires = longest
	case k.Kind == kindPublic && (len(k.Moderates)+len(k.Roles)+len(k.Groups) > 0 || k.Components):
		return invalid("/kind", "a public key has reads with tags, reviews, or both, and nothing else: everybody can see it")
	case k.Kind == kindPublic && len(k.Reads) == 0:
		return invalid("/reads", "want the networks or sites that the key reads")
	case k.Kind == kindPublic && len(k.Tags) == 0 && !k.Reviews:
		return invalid("/tags", "want names of tags, or reviews, or both")
	case k.Kind != kindSecret && k.Kind != kindPublic:
		return invalid("/kind", "want secret, for a program, or public, for a page")
	}
	for i, read := range k.Reads {
		if k.Kind == kindPublic && networkOf(read) != networkOf(k.Reads[0]) {
			return invalid(at("/reads", i), "a public key belongs to one network: want a key for each")
		}
	}
	if len(k.Tags) > mostRights {
		return invalid("/tags", "want at most %d, have %d", mostRights, len(k.Tags))
	}
	for i, tag := range k.Tags {
		if !appsvc.ValidTagName(tag) {
			return invalid(at("/tags", i), "%q cannot name a tag", tag)
		}
	}
	if expires && k.Expires <= k.CreatedAt {
		return invalid("/expires", "want a time to come, in milliseconds since the epoch")
	}
	if k.Kind == kindSecret && k.Expires > longest+time.Minute.Milliseconds() { // clocks differ
		return invalid("/expires", "a secret key is good for a year at most")
	}
	return nil
}

// seen returns the key of a path, if the asker may see it.
func (a asker) key(ctx context.Context, r storage.Reader, id string) (*key, error) {
	k, err := read[key](ctx, r, keyKey(id))
	if err == nil && (k == nil || !a.sees(k)) {
		err = notFound("key")
	}
	return k, err
}

// getKey serves GET /x/keys/{id}.
func (s *Service) getKey(r *httpapi.Request) (any, error) {
	a, err := s.asker(r)
	if err != nil {
		return nil, err
	}
	var w wireKey
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		k, err := a.key(r.Context(), v, r.Param(0))
		if err == nil {
			w, err = wireOfKey(r.Context(), v, k)
		}
		return err
	})
	return w, err
}

// deleteKey serves DELETE /x/keys/{id}: the key is not good any more.
func (s *Service) deleteKey(r *httpapi.Request) (any, error) {
	a, err := s.asker(r)
	if err != nil {
		return nil, err
	}
	ctx, prefix := r.Context(), ""
	err = s.update(ctx, func(t storage.Tx) error {
		if err := a.again(ctx, t); err != nil {
			return err
		}
		k, err := a.key(ctx, t, r.Param(0))
		if err != nil {
			return err
		}
		prefix = k.Prefix
		return dropKey(ctx, t, k)
	})
	if err == nil {
		s.access(ctx, "key revoked", "key", prefix, "by", a.URN)
	}
	return nil, err
}

func dropKey(ctx context.Context, t storage.Tx, k *key) error {
	return t.Delete(ctx, keyKey(k.ID), secretKey(k.Hash), keysKey(k.Person, k.ID))
}
