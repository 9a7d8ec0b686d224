package assets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// Maintenance says how the records of libraries are checked, archived and rebuilt. Its Audit yields a fault for each
// record that a Service with these limits cannot have written; a zero limit means the default. files is
// Options.Files. It reads each library in one View:
//
//   - the count of assets in the State is right, and no asset has a higher ordinal than State.Last;
//   - each folder is well-formed, its parent exists, and no folder is below itself or too deep;
//   - each asset is well-formed, and in folders that exist;
//   - no two assets have the same generator and foreign id;
//   - the index has the terms that follow from the assets, and no others, and so has one that is being built beside it,
//     as far as it is built;
//   - each file belongs to one asset and has its bytes, in their number and with their SHA-256, and the State has the
//     sum of their sizes. There are no bytes that have had no record for a day.
//
// Rebuild drops the indices, and builds them from the assets by the rules of now. Meanwhile libraries can be changed,
// but a search in the library that is being rebuilt, and adding assets to it, returns ErrBusy. Archives leave out the
// feeds.
func Maintenance(limits Limits, files Files) storage.Maintenance {
	return storage.Maintenance{
		Audit: func(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
			return func(yield func(storage.Fault, error) bool) {
				names := map[string]expectedBytes{} // that files have
				faults := keyval.Audit(ctx, db, librarySpaces,
					func(r storage.Reader, space string) ([]storage.Fault, error) {
						a := audit{limits: limits.withDefaults(), names: names}
						err := a.run(ctx, r, space)
						return a.faults, err
					})
				for fault, err := range faults {
					if !yield(fault, err) || err != nil {
						return
					}
				}
				New(db, &Options{Files: files}).auditBytes(ctx, names)(yield)
			}
		},
		Rebuild:     rebuild,
		NotArchived: feed.Kinds(librarySpaces + "*"),
	}
}

// audit is the audit of a library.
type audit struct {
	*records
	limits Limits
	faults []storage.Fault
	ids    map[string]bool          // of folders
	count  int64                    // of assets so far
	files  int                      // assets with a file so far
	stored int64                    // bytes of these files
	names  map[string]expectedBytes // of files, in all libraries so far
	last   assetRecord
}

// mostFaults is the maximum number of faults of a library that an audit yields.
const mostFaults = 1000

// fault records what is wrong with an entry, unless err is nil.
func (a *audit) fault(key string, err error) {
	if err != nil && len(a.faults) < mostFaults {
		a.faults = append(a.faults, storage.Fault{Key: key, Wrong: err.Error()})
	}
}

func (a *audit) run(ctx context.Context, r storage.Reader, space string) error {
	key := keyval.Key(space, libraryKind)
	values, err := r.Get(ctx, key)
	if err != nil {
		return err
	}
	var lib Library
	if values[0] == nil || json.Unmarshal(values[0], &lib) != nil || spaceOf(lib) != space {
		a.fault(key, errors.New("is missing, or names another library"))
		return nil // without its name, a space cannot be read
	}
	if a.records, err = openRecords(ctx, lib, index.NewCache(segmentBytes), r, nil); err != nil {
		return err
	}
	kinds := []string{libraryKind, stateKind, assetKind, folderKind, fileKind, goneKind}
	for rules := range newRules + 1 {
		kinds = append(kinds, a.indexBy(rules, nil).Kinds()...)
	}
	unknown, err := keyval.Unknown(a.ctx, a.r, a.space, kinds...)
	if err != nil {
		return err
	}
	a.faults = append(a.faults, unknown...)
	a.fault(a.key(stateKind), a.checkState())
	a.ids = map[string]bool{}
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(keyval.Prefix(a.space, folderKind))) {
		var f folderRecord
		if err == nil {
			err = readJSON(e.Key, e.Value, &f)
		}
		if err != nil {
			return err
		}
		if e.Key != a.folderKey(f.ID) {
			a.fault(e.Key, fmt.Errorf("is the folder %q", f.ID))
		}
		a.ids[f.ID] = true
		a.fault(e.Key, a.checkFolder(f))
	}
	a.fault(a.folderKey(""), a.checkTree())
	for e, err := range a.r.Scan(a.ctx, storage.Range{From: a.assets, To: a.assetKey(1)}) {
		if err != nil {
			return err
		}
		a.fault(e.Key, errors.New("is the key of no asset"))
	}
	for r, err := range a.assetsIn(nil, pageRange{ascending: true}) {
		if err != nil {
			return err
		}
		a.fault(a.assetKey(r.Ordinal), a.checkAsset(r))
		a.last = r
		a.count++
	}
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(keyval.Prefix(a.space, goneKind))) {
		if err != nil {
			return err
		}
		a.fault(e.Key, a.checkGone(e))
	}
	known := 0
	for _, err := range a.r.Scan(a.ctx, storage.Prefix(keyval.Prefix(a.space, fileKind))) {
		if err != nil {
			return err
		}
		known++
	}
	if known != a.files || a.stored != a.state.Files {
		a.fault(a.key(stateKind), fmt.Errorf("%d files of %d bytes belong to assets, and the library has %d files of "+
			"%d bytes", a.files, a.stored, known, a.state.Files))
	}
	if a.count != a.state.Count {
		a.fault(a.key(stateKind), fmt.Errorf("the State counts %d assets, and there are %d", a.state.Count, a.count))
	}
	wrong, err := a.checkIndex(a.index)
	if err == nil && a.next != nil {
		_, err = a.checkIndex(a.next)
	}
	if err != nil || wrong {
		return err
	}
	return a.checkOrigins()
}

// checkIndex reports whether something is wrong with an index.
func (a *audit) checkIndex(in *index.Reader) (wrong bool, err error) {
	faults, err := in.Audit(a.ctx, func(yield func(index.Entry, error) bool) { a.indexed(rules(in.Rules), yield) })
	for _, fault := range faults {
		a.fault(in.Key(), errors.New(fault))
	}
	return len(faults) > 0, err
}

// checkState returns an error if no library can have this name or State.
func (a *audit) checkState() error {
	if err := checkLibrary(a.lib, "urn:vitrine:"+a.lib.Network, a.limits.Name); err != nil { // any vendor will do
		return err
	}
	switch s := a.state; {
	case !wasWritten(s):
		return errors.New("the library has no key")
	case s.Last < 0 || s.Last > maxOrdinal:
		return fmt.Errorf("last is %d, want 0 to %d", s.Last, int64(maxOrdinal))
	case s.Count < 0 || s.Count > s.Last:
		return fmt.Errorf("count is %d, want 0 to last, which is %d", s.Count, s.Last)
	case !isTime(s.At):
		return errors.New("at is in no year from 1 to 9999")
	}
	return nil
}

// isTime reports whether a time, in milliseconds since the epoch, can be written as a date.
func isTime(millis int64) bool {
	t := time.UnixMilli(millis).UTC()
	return t.UnixMilli() == millis && 1 <= t.Year() && t.Year() <= 9999
}

// checkFolder returns an error unless the folder by itself is one that a Service could have
// written.
func (a *audit) checkFolder(f folderRecord) error {
	if err := cmp.Or(checkName("id", f.ID, a.limits.Name), checkName("label", f.Label, a.limits.Name)); err != nil {
		return err
	}
	if n := len(f.Permissions); n > a.limits.Permissions {
		return fmt.Errorf("has %d permissions, at most %d are allowed", n, a.limits.Permissions)
	}
	for i, p := range f.Permissions {
		at := fmt.Sprintf("/permissions/%d", i)
		switch {
		case !a.isResource(p.RID, f.ID):
			return fmt.Errorf("%s/rId: %q is not the resource of this folder", at, p.RID)
		case levelOf(p.Operation) == levelNone:
			return fmt.Errorf("%s/operation: want view, edit or manage, have %q", at, string(p.Operation))
		case p.RType != resourceType:
			return fmt.Errorf("%s/rType: want %q", at, resourceType)
		}
		if err := cmp.Or(checkSubject(p, at, a.limits), checkName(at+"/id", p.ID, a.limits.Name)); err != nil {
			return err
		}
	}
	return nil
}

// isResource reports whether rid is the resource ID of a folder of the library, with any vendor: the records do not
// contain the vendor of the Service.
func (a *audit) isResource(rid, folder string) bool {
	network, ok := strings.CutSuffix(rid, resourceID("", a.lib, folder))
	return ok && strings.HasSuffix(network, ":"+a.lib.Network) && urn.CheckGroup(network) == nil
}

// checkTree checks the rules between folders.
func (a *audit) checkTree() error {
	t, err := newTree(a.folders())
	if err != nil {
		return err
	}
	for _, n := range t.top {
		if height := n.height(); height > a.limits.Depth {
			return fmt.Errorf("folder %q: has %d levels, at most %d are allowed", n.ID, height, a.limits.Depth)
		}
	}
	return nil
}

// checkAsset returns an error unless a Service could have written the asset after the previous one.
func (a *audit) checkAsset(r assetRecord) error {
	switch {
	case r.Ordinal <= a.last.Ordinal:
		return fmt.Errorf("the asset %d comes after the asset %d", r.Ordinal, a.last.Ordinal)
	case r.Ordinal > a.state.Last:
		return fmt.Errorf("the asset %d is above the highest ordinal, %d", r.Ordinal, a.state.Last)
	case !isTime(r.CreatedAt) || !isTime(r.UpdatedAt):
		return errors.New("createdAt or updatedAt is in no year from 1 to 9999")
	case len(r.Folders) > a.limits.AssetFolders:
		return fmt.Errorf("is in %d folders, at most %d are allowed", len(r.Folders), a.limits.AssetFolders)
	case len(unique(r.Folders)) != len(r.Folders):
		return errors.New("is in one folder twice")
	}
	for _, id := range r.Folders {
		if !a.ids[id] {
			return fmt.Errorf("the asset %d is in the folder %q, which does not exist", r.Ordinal, id)
		}
	}
	f, err := r.fileOf()
	if err == nil && f != nil {
		err = a.checkFile(r, f)
	}
	if err != nil {
		return err
	}
	return checkBody(r, f, a.limits)
}

// checkFile returns an error unless the record of the asset's file belongs to this asset alone.
func (a *audit) checkFile(r assetRecord, f *fileRecord) error {
	a.files++
	a.stored += f.stored()
	if !isFileID(f.ID) || !strings.HasPrefix(f.Bytes, f.ID+"-") || len(f.Sum) != 2*sha256.Size ||
		checkFileName(f.Name) != nil {
		return fmt.Errorf("has a file with the id %q, the name %q, the bytes %q and the sum %q", f.ID, f.Name, f.Bytes,
			f.Sum)
	}
	var ordinal int64
	values, err := a.r.Get(a.ctx, a.fileKey(f.ID), keyval.Key(fileSpace(f.ID), homeKind, f.ID))
	switch {
	case err != nil:
		return err
	case values[0] == nil || json.Unmarshal(values[0], &ordinal) != nil || ordinal != r.Ordinal:
		return fmt.Errorf("has the file %q, whose record names another asset", f.ID)
	case values[1] == nil:
		return fmt.Errorf("has the file %q, and no record says that it is in this library", f.ID)
	}
	a.names[f.Bytes] = expectedBytes{f.Size, f.Sum}
	for _, r := range f.Renditions {
		a.names[f.renditionName(r.Width)] = expectedBytes{size: r.Size}
	}
	return nil
}

// checkGone returns an error unless the record is one of bytes that no file has, and that were those of a file of this
// library. Upkeep deletes them without looking at them again.
func (a *audit) checkGone(e storage.Entry) error {
	var gone goneFile
	if err := readJSON(e.Key, e.Value, &gone); err != nil {
		return err
	}
	for _, name := range gone.Names {
		id, _, _ := strings.Cut(name, "-")
		if _, has := a.names[name]; !isFileID(id) || has || gone.Home != "" && gone.Home != id {
			return fmt.Errorf(
				"names the bytes %q of the removed file %q: want bytes of that file, which it has not now", name,
				gone.Home)
		}
		values, err := a.r.Get(a.ctx, keyval.Key(fileSpace(id), homeKind, id))
		if err != nil {
			return err
		}
		var home fileHome
		if values[0] != nil && json.Unmarshal(values[0], &home) == nil && home.Library != a.lib {
			return fmt.Errorf("names the bytes %q of another library", name)
		}
	}
	return nil
}

// expectedBytes is what is known of the bytes of a file or of a rendition.
type expectedBytes struct {
	size int64
	sum  string // SHA-256 in hex; "" of a rendition
}

// auditBytes yields a fault for each of these names whose bytes are missing or others, and for each other name that had
// bytes a day ago. It reads all bytes. What has changed since the names were read is looked at again.
func (s *Service) auditBytes(
	ctx context.Context, names map[string]expectedBytes,
) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		fault := func(name, wrong string) bool {
			return yield(storage.Fault{Key: keyval.Key(fileSpace(name), objectKind, name), Wrong: wrong}, nil)
		}
		before := s.now().Add(-uploadTime)
		for stored, err := range s.files.List(ctx) {
			var has bool
			if _, known := names[stored.Name]; err == nil && !known && stored.Since.Before(before) {
				if has, err = s.recorded(ctx, stored.Name); err == nil && !has &&
					!fault(stored.Name, "no file has had these bytes for a day") {
					return
				}
			}
			if err != nil {
				yield(storage.Fault{}, err)
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			wrong, err := s.wrongBytes(ctx, name, names[name])
			if err == nil && wrong == "" {
				continue
			}
			has := false
			if err == nil {
				has, err = s.recorded(ctx, name)
			}
			if err != nil {
				yield(storage.Fault{}, err)
				return
			}
			if has && !fault(name, wrong) {
				return
			}
		}
	}
}

// wrongBytes returns what is wrong with the bytes of a name, "" if nothing is, and an error if that cannot be found
// out.
func (s *Service) wrongBytes(ctx context.Context, name string, want expectedBytes) (wrong string, err error) {
	sum, content := sha256.New(), &fileContent{ctx: ctx, files: s.files, name: name, size: want.size}
	defer content.Close()
	n, err := io.Copy(sum, content)
	switch {
	case errors.Is(err, fs.ErrNotExist) && n == 0:
		return "a file has these bytes, and they are missing", nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("a file has %d bytes, and only the first %d are there", want.size, n), nil
	case err != nil:
		return "", err
	case want.sum != "" && hex.EncodeToString(sum.Sum(nil)) != want.sum:
		return "a file has other bytes: their SHA-256 is not that of the record", nil
	}
	return "", nil
}

// checkBody returns an error unless the body of r is, byte by byte, what a Service writes. It splits the body into
// parts, applies the rules for new assets to them, and encodes them again.
func checkBody(r assetRecord, f *fileRecord, lim Limits) error {
	p, err := partsOf(r.Body)
	if err != nil {
		return err
	}
	var all fault.List
	checkAttributes("/attributes", p.Attributes, lim, &all)
	var from struct { // the content says which asset it is
		ID        string    `json:"id"`
		Generator Generator `json:"generator"`
	}
	if err := json.Unmarshal(p.Content, &from); err != nil {
		return err
	}
	lim.Content = len(p.Content) // a limit of what is sent
	var d draft
	if f == nil {
		d, err = NewAsset{ID: from.ID, Generator: from.Generator, Content: []byte(p.Content),
			SafeTags: p.Tags, stored: true}.draft("", lim, time.Time{}, &all)
	} else { // the content follows from the file
		checkTags("/safe_tags", p.Tags, lim, &all)
		d, err = f.draft(nil, lim)
	}
	if err = cmp.Or(all.Err(), err); err != nil {
		return err
	}
	p.Attributes = unique(p.Attributes)
	d.applyTo(&p, r.CreatedAt)
	switch {
	case r.Origin != d.origin:
		return errors.New("the origin is not that of its generator and foreign id")
	case !bytes.Equal(p.body(), r.Body):
		return errors.New("the body is not in the form in which it is stored, or published is not createdAt")
	}
	return nil
}

// checkOrigins reports assets that have the same origin.
func (a *audit) checkOrigins() error {
	var failed error
	err := a.index.Each(a.ctx, nil, index.Prefix(string(kindOrigin)), false, func(_ string, list []int64) bool {
		if len(list) == 1 {
			return true
		}
		rows, err := a.assetsWith(list)
		for i, r := range rows {
			if slices.ContainsFunc(rows[:i], func(o assetRecord) bool { return o.Origin == r.Origin }) {
				a.fault(a.assetKey(r.Ordinal), errors.New("another asset has the same generator and foreign id"))
			}
		}
		failed = err
		return err == nil
	})
	return cmp.Or(failed, err)
}

// indexed yields the entries that an index must have. It skips assets whose terms cannot be computed, which have a
// fault already.
func (a *audit) indexed(by rules, yield func(index.Entry, error) bool) {
	for r, err := range a.assetsIn(nil, pageRange{ascending: true}) {
		if err != nil {
			yield(index.Entry{}, err)
			return
		}
		e, err := indexEntry(r, by)
		if err != nil {
			continue
		}
		if !yield(e, nil) {
			return
		}
	}
}

// indexEntry returns the entry that the index must have for an asset.
func indexEntry(a assetRecord, by rules) (index.Entry, error) {
	terms, err := termsOf(a, by)
	if err != nil {
		err = fmt.Errorf("asset %d: %w", a.Ordinal, err)
	}
	return index.Entry{Ordinal: a.Ordinal, Terms: terms}, err
}

// rebuild is Rebuild of Maintenance.
func rebuild(ctx context.Context, db storage.Store) error {
	for lib, err := range libraries(ctx, db) {
		if err == nil {
			err = rebuildIndex(ctx, db, lib)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuildIndex drops the indices of a library, and builds the one by newRules.
func rebuildIndex(ctx context.Context, db storage.Store, lib Library) error {
	space := spaceOf(lib)
	err := keyval.Update(ctx, db, space, storage.UpdateOptions{Large: true}, func(t *keyval.Tx) error {
		r := newRecords(ctx, lib, t, t)
		values, err := t.Get(ctx, r.key(stateKind))
		if err == nil && values[0] != nil {
			if err = readJSON(r.key(stateKind), values[0], &r.state); err == nil {
				r.state.Rules = newRules
				err = r.putState(r.state, false)
			}
		}
		for rules := range newRules + 1 {
			if err == nil {
				_, err = r.indexBy(rules, nil).Drop(ctx, t, 0)
			}
		}
		if err != nil {
			return err
		}
		return r.indexBy(newRules, nil).Begin(ctx, t)
	})
	b := builder{db: db, lib: lib, cache: index.NewCache(segmentBytes)}
	for more := true; more && err == nil; {
		more, err = b.step(ctx)
	}
	return err
}
