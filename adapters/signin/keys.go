package signin

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// The kinds of keys.
const (
	kindSecret = "secret" // for a program
	kindPublic = "public" // for a page
)

// prefixLength is how many characters of a key are public: they name it in lists and in Cache-Tag.
const prefixLength = len(secretPrefix) + 8

// wireKey is a key as it is in responses. Lists are never null.
type wireKey struct {
	ID     string `json:"id"`
	Prefix string `json:"prefix"`
	chosen
	Admin      bool    `json:"admin,omitzero"` // hides the right of this name, which no key has
	Owner      bool    `json:"owner"`
	CreatedAt  int64   `json:"createdAt"`
	By         wireURN `json:"by"`
	LastUsedAt *int64  `json:"lastUsedAt"`
	Key        string  `json:"key,omitempty"`
}

type wireURN struct {
	URN string `json:"urn"`
}

func (k *key) wire(ctx context.Context, r storage.Reader) (*wireKey, error) {
	used, err := lastSeen(ctx, r, "key", k.Prefix)
	return &wireKey{ID: k.ID, Prefix: k.Prefix, chosen: k.chosen, Owner: k.owner(), CreatedAt: k.CreatedAt,
		By: wireURN{k.By}, LastUsedAt: orNull(used), Key: k.Public}, err
}

// sees reports whether the asker may see and revoke a key: their own, a public one if they moderate everything that it
// reads, and an administrator every one.
func (a asker) sees(k *key) bool {
	if k.Kind == kindSecret {
		return a.rights.Admin || a.is(k.Person)
	}
	return a.seesPublic(k.Reads)
}

// seesPublic is sees for a public key that reads these networks and sites.
func (a asker) seesPublic(reads []string) bool {
	return a.rights.Admin || !slices.ContainsFunc(reads, func(read string) bool { return !within(a.Moderates, read) })
}

// manages returns an error unless the caller may manage a folder, which a key names.
func (s *Service) manages(r *httpapi.Request, folder string) error {
	network, library, id, ok := folderParts(folder)
	if !ok || s.Manages == nil {
		return fault.Invalid("", "%q is no folder here: want <network>/<library>/<id of the folder>", folder)
	}
	return s.Manages(r.Context(), r.By.Caller, network, library, id)
}

// folderParts returns the parts of a folder as a key names it.
func folderParts(folder string) (network, library, id string, ok bool) {
	network, rest, _ := strings.Cut(folder, "/")
	end := max(strings.LastIndexByte(rest, '/'), 0)
	library, id = rest[:end], strings.TrimPrefix(rest[end:], "/")
	return network, library, id, network != "" && library != "" && id != ""
}

// keys serves GET /x/keys/, the newest first; with folder the public keys that show a folder, for who may manage it.
func (s *Service) keys(r *httpapi.Request) (httpapi.List, error) {
	if r.URL.Query().Has("folder") {
		if err := s.manages(r, r.Text("folder")); err != nil {
			return httpapi.List{}, fault.At("folder", err)
		}
	}
	if err := s.indexKeys(r.Context()); err != nil {
		return httpapi.List{}, err
	}
	return reads(s, s.listKeys)(r)
}

func (s *Service) listKeys(c *call, v storage.Reader) (httpapi.List, error) {
	keys, id := c.keys(c.Context(), v, c.Text("after")), func(k *key) string { return k.ID }
	folder := c.Text("folder")
	if folder != "" {
		in := newestFirst(keyval.Prefix(space, "folder/", folder), c.Text("after"))
		keys = keyval.Map(v.Scan(c.Context(), in), func(e storage.Entry) (*key, error) {
			id := e.Key[strings.LastIndexByte(e.Key, ' ')+1:]
			k, err := read[key](c.Context(), v, keyKey(id))
			if err == nil && k == nil {
				err = fmt.Errorf("the record %q is missing", keyKey(id))
			}
			return k, err
		})
	}
	return httpapi.NewList(c.Request, "keys", keys, id, func(k *key) (*wireKey, error) {
		if folder == "" && !c.sees(k) {
			return nil, nil
		}
		return k.wire(c.Context(), v)
	})
}

// keys yields all keys for an administrator, else one's own secret keys and the public keys of the networks in which
// one moderates something: those before an id, the newest first. Of public keys that the asker does not see it yields
// only what sees looks at.
func (a asker) keys(ctx context.Context, r storage.Reader, before string) iter.Seq2[*key, error] {
	if a.rights.Admin {
		return keyval.Map(r.Scan(ctx, newestFirst(keyval.Prefix(space, "key/"), before)), decoded[key])
	}
	var ranges []storage.Range
	if a.session != nil {
		ranges = append(ranges, newestFirst(keyval.Prefix(space, "keys/", a.session.person.ID), before))
	}
	var networks []string
	for _, m := range a.Moderates {
		networks = append(networks, networkOf(m))
	}
	slices.Sort(networks)
	for _, network := range slices.Compact(networks) {
		ranges = append(ranges, newestFirst(keyval.Prefix(space, "reading/", network), before))
	}
	if len(ranges) == 0 {
		return func(func(*key, error) bool) {}
	}
	return keyval.Map(r.Scan(ctx, ranges...), func(e storage.Entry) (*key, error) {
		k := &key{ID: e.Key[strings.LastIndexByte(e.Key, ' ')+1:]}
		if len(e.Value) > 0 { // of reading/
			k.Kind, k.Reads = kindPublic, strings.Split(string(e.Value), "\n")
			if !a.sees(k) {
				return k, nil
			}
		}
		whole, err := read[key](ctx, r, keyKey(k.ID))
		if err == nil && whole == nil {
			err = fmt.Errorf("the record %q is missing", keyKey(k.ID))
		}
		return whole, err
	})
}

// newestFirst returns the range of a prefix whose keys end with ids, from the last before an id; "" for all.
func newestFirst(prefix, before string) storage.Range {
	in := storage.Prefix(prefix)
	in.Skip, in.Reverse = len(prefix), true
	if before != "" {
		in.To = prefix + keyval.Part(before)
	}
	return in
}

// indexKeys makes the records of reading/ and made/ in a store of v0.2.0, which has none, once.
func (s *Service) indexKeys(ctx context.Context) error {
	if s.indexed.Load() {
		return nil
	}
	there, err := view(ctx, s.db, func(r storage.Reader) (bool, error) { return indexed(ctx, r) })
	if err == nil && !there {
		err = s.db.Update(ctx, space, storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
			if there, err := indexed(ctx, t); err != nil || there { // somebody else was first
				return err
			}
			for k, err := range keyval.Map(t.Scan(ctx, storage.Prefix(keyval.Prefix(space, "key/"))), decoded[key]) {
				if err == nil {
					err = t.Put(ctx, k.index()...)
				}
				if err != nil {
					return err
				}
			}
			return t.Put(ctx, entry(indexedKey, ""))
		})
	}
	s.indexed.Store(err == nil)
	return err
}

// indexed reports whether all public keys are in the indices.
func indexed(ctx context.Context, r storage.Reader) (bool, error) {
	values, err := r.Get(ctx, indexedKey)
	return err == nil && values[0] != nil, err
}

// index returns the records of the indices for a key: none for a secret one.
func (k *key) index() []storage.Entry {
	if k.Kind != kindPublic {
		return nil
	}
	index := []storage.Entry{
		entry(readingKey(networkOf(k.Reads[0]), k.ID), strings.Join(k.Reads, "\n")),
		entry(madeKey(networkOf(k.By), k.ID), ""),
	}
	for _, folder := range k.Folders {
		index = append(index, entry(folderKey(folder, k.ID), ""))
	}
	return index
}

// newKey serves POST /x/keys/. The response has the key itself; no later one has a secret key.
func (s *Service) newKey(r *httpapi.Request) (any, error) {
	var in chosen
	if r.Decode(&in) == nil && len(in.Folders) <= mostKeyTags { // else createKey returns the error
		for i, folder := range in.Folders {
			if err := s.manages(r, folder); err != nil {
				return nil, fault.At(at("/folders", i), err)
			}
		}
	}
	if err := s.indexKeys(r.Context()); err != nil {
		return nil, err
	}
	return s.writes(s.createKey)(r)
}

func (s *Service) createKey(c *call, t *tx) (any, error) {
	k := &key{ID: newID(), CreatedAt: s.millis(), By: c.URN}
	if err := c.Decode(&k.chosen); err != nil {
		return nil, err
	}
	if err := k.check(); err != nil {
		return nil, err
	}
	if k.Owner == nil {
		k.Owner = new(bool) // a key is as narrow as its lists
	}
	if k.Kind == kindSecret && c.session == nil {
		return nil, fault.Forbidden("a secret key speaks for the person who makes it: sign in to make one")
	}
	if err := s.confirmed(c.session); err != nil {
		return nil, err
	}
	ctx, secret := c.Context(), ""
	if k.Kind == kindSecret {
		if lacks := rightsOf(c.Caller).lacks(k.Rights); lacks != "" {
			return nil, fault.Forbidden("a key may do no more than who makes it: you lack %s", lacks)
		}
		secret, k.Hash = newSecret(secretPrefix)
		k.Person = c.session.person.ID
		if err := room(ctx, t, keyval.Prefix(space, "keys/", k.Person), mostSecret,
			"you have %d secret keys, as many as one may have: revoke one first"); err != nil {
			return nil, err
		}
		if err := t.Put(ctx, entry(keysKey(k.Person, k.ID), "")); err != nil {
			return nil, err
		}
	} else {
		for i, read := range k.Reads {
			if !c.rights.Admin && !within(c.Moderates, read) {
				return nil, fault.Forbidden(
					"%s: you do not moderate %s, which this key would read", at("/reads", i), read)
			}
		}
		for _, index := range k.index() {
			if err := room(ctx, t, index.Key[:strings.LastIndexByte(index.Key, ' ')+1], mostPublic,
				"the network has %d public keys, or its people have made as many: revoke one first"); err != nil {
				return nil, err
			}
		}
		secret, k.Hash = newSecret(publicPrefix)
		k.Public = secret
	}
	k.Prefix = secret[:prefixLength]
	if err := t.Put(ctx,
		append(k.index(), keyval.JSON(keyKey(k.ID), k), entry(secretKey(k.Hash), k.ID))...); err != nil {
		return nil, err
	}
	s.accessed(ctx, t, "key made", "key", k.Prefix, "by", c.URN)
	c.Located("/x/keys/" + k.ID)
	w, err := k.wire(ctx, t)
	w.Key = secret
	return w, err
}

// check returns an error if a new key is malformed, and sets the default expiry of a secret one.
func (k *key) check() error {
	if err := checkText(k.Name, mostName); err != nil {
		return fault.Invalid("/name", "%s", err)
	}
	if err := k.Rights.grown(Rights{}); err != nil {
		return err
	}
	if len(k.Tags) > mostKeyTags {
		return fault.Unprocessable(vitrine.CodeLimit, "/tags",
			"there are %d tags: want at most %d", len(k.Tags), mostKeyTags)
	}
	if err := k.Rights.check(); err != nil {
		return err
	}
	longest := time.UnixMilli(k.CreatedAt).AddDate(1, 0, 0).UnixMilli()
	switch {
	case k.Admin:
		return fault.Invalid("/admin", "no key is an administrator")
	case k.Kind == kindSecret && len(k.Tags) > 0:
		return fault.Invalid("/tags", "a secret key has none: want the kind public, or no tags")
	case k.Kind == kindSecret && k.Reviews:
		return fault.Invalid("/reviews", "a secret key reads what its maker does: want the kind public, or false")
	case k.Kind == kindSecret && len(k.Folders) > 0:
		return fault.Invalid("/folders", "a secret key sees what its maker does: want the kind public, or no folders")
	case len(k.Folders) > mostKeyTags:
		return fault.Unprocessable(vitrine.CodeLimit, "/folders",
			"there are %d folders: want at most %d", len(k.Folders), mostKeyTags)
	case k.List && len(k.Tags) == 0:
		return fault.Invalid("/list", "a key lists what its tags publish: want the kind public and tags, or false")
	case k.Kind == kindPublic && k.Agent:
		return fault.Invalid("/agent", "an agent works for a person: want the kind secret, or false")
	case k.Kind == kindPublic && k.Owner != nil && *k.Owner:
		return fault.Invalid("/owner",
			"a public key belongs to its network and owns nothing: want the kind secret, or false")
	case k.Kind == kindSecret && k.Expires == nil:
		k.Expires = &longest
	case k.Kind == kindPublic && (len(k.Moderates)+len(k.Roles)+len(k.Groups) > 0 || k.Components):
		return fault.Invalid("/kind",
			"a public key has reads with tags, reviews and folders, and nothing else: everybody can see it")
	case k.Kind == kindPublic && len(k.Reads) == 0:
		return fault.Invalid("/reads", "want the networks or sites that the key reads")
	case k.Kind == kindPublic && len(k.Tags)+len(k.Folders) == 0 && !k.Reviews:
		return fault.Invalid("/tags", "want names of tags, reviews or folders")
	case k.Kind != kindSecret && k.Kind != kindPublic:
		return fault.Invalid("/kind", "want secret, for a program, or public, for a page")
	}
	for i, read := range k.Reads {
		if k.Kind == kindPublic && networkOf(read) != networkOf(k.Reads[0]) {
			return fault.Invalid(at("/reads", i), "a public key belongs to one network: want a key for each")
		}
	}
	for i, folder := range k.Folders {
		network, _, _, ok := folderParts(folder)
		if !ok || !strings.HasSuffix(networkOf(k.Reads[0]), ":"+network) || slices.Contains(k.Folders[:i], folder) {
			return fault.Invalid(at("/folders", i),
				"want <network>/<library>/<id of a folder>, each once, of the network of the key")
		}
	}
	for i, tag := range k.Tags {
		if !appsvc.ValidTagName(tag) {
			return fault.Invalid(at("/tags", i), "%q cannot name a tag", tag)
		}
	}
	if k.Expires != nil && *k.Expires <= k.CreatedAt {
		return fault.Invalid("/expires", "want a time to come, in milliseconds since the epoch")
	}
	if k.Kind == kindSecret && *k.Expires > longest+time.Minute.Milliseconds() { // clocks differ
		return fault.Invalid("/expires", "a secret key is good for a year at most")
	}
	return nil
}

// key returns the key of a path, if the asker may see it.
func (c *call) key(r storage.Reader) (*key, error) {
	k, err := read[key](c.Context(), r, keyKey(c.Param(0)))
	if err == nil && (k == nil || !c.sees(k)) {
		err = fault.NotFound("there is no such key")
	}
	return k, err
}

// getKey serves GET /x/keys/{id}.
func (s *Service) getKey(c *call, v storage.Reader) (any, error) {
	k, err := c.key(v)
	if err != nil {
		return nil, err
	}
	return k.wire(c.Context(), v)
}

// revokeKey serves DELETE /x/keys/{id}: it revokes the key. With folder, whoever may manage the folder takes it out of
// the key.
func (s *Service) revokeKey(r *httpapi.Request) (any, error) {
	if !r.URL.Query().Has("folder") {
		return s.writes(s.deleteKey)(r)
	}
	folder := r.Text("folder")
	if err := s.manages(r, folder); err != nil {
		return nil, fault.At("folder", err)
	}
	return s.writes(func(c *call, t *tx) (any, error) {
		ctx := c.Context()
		k, err := read[key](ctx, t, keyKey(c.Param(0)))
		if err == nil && (k == nil || !slices.Contains(k.Folders, folder)) {
			err = fault.NotFound("there is no such key")
		}
		if err != nil {
			return nil, err
		}
		k.Folders = slices.DeleteFunc(k.Folders, func(one string) bool { return one == folder })
		t.concerned = append(t.concerned, k.user())
		s.accessed(ctx, t, "folder taken out of a key", "key", k.Prefix, "by", c.URN)
		if err := t.Delete(ctx, folderKey(folder, k.ID)); err != nil {
			return nil, err
		}
		return nil, t.Put(ctx, keyval.JSON(keyKey(k.ID), k))
	})(r)
}

// deleteKey revokes the key of a path.
func (s *Service) deleteKey(c *call, t *tx) (any, error) {
	k, err := c.key(t)
	if err != nil {
		return nil, err
	}
	s.accessed(c.Context(), t, "key revoked", "key", k.Prefix, "by", c.URN)
	return nil, dropKey(c.Context(), t, k)
}

// user is the URN with which the key speaks: that of its maker, or one of its own in its network.
func (k *key) user() string {
	if k.Kind == kindSecret {
		return k.By
	}
	return networkOf(k.Reads[0]) + ":user=" + k.ID
}

func dropKey(ctx context.Context, t *tx, k *key) error {
	t.unseen = append(t.unseen, seenKey("key", k.Prefix))
	t.concerned = append(t.concerned, k.user())
	return t.Delete(ctx, append(keyval.Keys(k.index()), keyKey(k.ID), secretKey(k.Hash), keysKey(k.Person, k.ID))...)
}
