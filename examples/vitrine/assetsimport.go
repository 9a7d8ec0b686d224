package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// importAssets is the command assets import: it adds the assets of files to one library. With -dry-run it does so in a
// copy of the library. Repeating an import adds nothing: a post is known by its generator and id, a file by its folder,
// name and bytes.
func importAssets(f *flag.FlagSet) action {
	of := newImportFlags(f, ofAssets, true)
	library := f.String("library", "", libraryUsage)
	files := f.String("files", "", "`DIR` with the bytes of files, as export -files has written it")
	bucket := f.String("bucket", "", bucketUsage)
	return func(ctx context.Context, p *program) error {
		keep, err := p.openBucket(ctx, files, bucket)
		if err != nil {
			return err
		}
		return of.run(ctx, p, func(s storage.Store, in *inputs, out *findings, done string) (err error) {
			options := &assets.Options{Files: keep}
			if *of.dryRun {
				dir, err := os.MkdirTemp("", "vitrine-import-*")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				if s, err = copyLibraries(ctx, s, *of.network, filepath.Join(dir, "copy.db")); err != nil {
					return err
				}
				defer s.Close()
				options = &assets.Options{Files: nowhere{}, Limits: noRenditions}
			}
			i := &assetImport{to: openLibrary(s, assets.Library{Network: *of.network, ID: *library}, options), in: in,
				dir: *files, out: out, folders: map[string]string{}}
			i.counts.DryRun = *of.dryRun
			for _, file := range in.list {
				i.name, i.bar, i.done, i.met = file.name, file.bar, 0, map[string]int{}
				// What was begun is ended, and interrupting stops the reading.
				if err = i.readInput(context.WithoutCancel(ctx), ctx, file); err != nil {
					err = fmt.Errorf("%s: %w", file.name, err)
					break
				}
			}
			if i.dotted > 0 {
				p.complain(fmt.Errorf("%s in directories left out: links, and names that begin with a dot",
					count(i.dotted, "entry")))
			}
			if i.shapeless {
				p.complain(errors.New(`an asset is like {"id": "1", "generator": {"id": "blog"}, "content": ` +
					`{"content": ` +
					`"<p>text</p>"}}: make such of what other programs export, with jq for instance`))
			}
			if i.removes {
				p.complain(errors.New("what requests remove was not removed: an import only adds"))
			}
			if i.counts.Folders > 0 && !*of.dryRun {
				p.complain(fmt.Errorf("%s made: every member of the network may see what is in folders at the top "+
					"level, "+
					"and below them, until they get permissions", count(i.counts.Folders, "folder")))
			}
			if err != nil {
				done, err = stopped, of.unfinished(err)
			}
			return i.out.outcome(i.counts.Errors, i.counts, func() string {
				return done + ": " + i.counts.summary()
			}, err)
		})
	}
}

// assetCounts are the counts of an import, the last line of -json.
type assetCounts struct {
	DryRun    bool  `json:"dryRun"`
	Assets    int64 `json:"assets"` // that were read; the next four are what became of them
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"`
	Folders   int64 `json:"folders"` // that were created
	Errors    int64 `json:"errors"`
}

func (c assetCounts) summary() string {
	return fmt.Sprintf("%s; %d created, %d updated, %d unchanged, %d rejected; %s created; %s",
		count(c.Assets, "asset"),
		c.Created, c.Updated, c.Unchanged, c.Rejected, count(c.Folders, "folder"), count(c.Errors, "error"))
}

// assetImport is the state of an import.
type assetImport struct {
	to     assetLibrary
	in     *inputs
	dir    string // of -files
	out    *findings
	counts assetCounts

	name string // of the input
	bar  *progress
	done int64 // bytes of the input

	folders map[string]string // ids, by paths of labels
	batch   []newAsset
	size    int
	files   map[string][]string // ids of assets, by fileKey; nil before the first file
	met     map[string]int      // how many files of the input there were, by fileKey
	dotted  int64
	removes bool

	shapeless bool // something has no generator, so it is no asset
}

// newAsset is an asset that waits to be added, with its text and place in the input.
type newAsset struct {
	assets.NewAsset
	text   []byte
	where  string
	before string // its ETag in the library; "" if it is not there
}

// maxBatch is how many assets, and how many bytes of them, are added at once: so few that others do not wait long.
const (
	maxBatch      = 200
	maxBatchBytes = 512 << 10
)

// problemOfAsset is a line of -json.
type problemOfAsset struct {
	File    string `json:"file,omitzero"`
	Where   string `json:"where,omitzero"` // such as line 7; "" for a picture or another file
	Pointer string `json:"pointer"`        // JSON pointer into the asset
	Message string `json:"message"`
}

// places matches what differs in the pointers of problems of one kind.
var places = regexp.MustCompile(`/\d+`)

// fail reports a problem.
func (i *assetImport) fail(p problemOfAsset) {
	i.counts.Errors++
	i.shapeless = i.shapeless || p.Pointer == "/generator"
	kind := cmp.Or(places.ReplaceAllString(p.Pointer, "/*"), "asset")
	if p.Where == "" {
		kind = "file"
	} else if len(i.in.list) == 1 {
		p.File = ""
	}
	where := strings.Join(slices.DeleteFunc([]string{p.File, p.Where, p.Pointer}, func(s string) bool {
		return s == ""
	}), ", ")
	i.out.add(finding{rule: kind, severity: reviews.SeverityError, where: where, message: p.Message, json: p})
}

// failAll reports the problems of a batch, and returns which assets have one.
func (i *assetImport) failAll(e *vitrine.Error, batch []newAsset) map[int]bool {
	wrong := map[int]bool{}
	for _, p := range e.Problems {
		wrong[p.Item] = true
		at := strings.TrimPrefix(p.Pointer, fmt.Sprintf("/add/%d", p.Item))
		if strings.HasPrefix(at, "/folders/") {
			p.Message += "; the path of one begins with a slash, as in /Winter/Press"
		}
		i.fail(problemOfAsset{i.name, batch[p.Item].where, at, p.Message})
	}
	return wrong
}

// reject counts an asset that is not added, and keeps its text.
func (i *assetImport) reject(a newAsset) error {
	i.counts.Rejected++
	if i.in.rejects == nil {
		return nil
	}
	var text bytes.Buffer
	if bytes.IndexByte(a.text, '\n') < 0 || json.Compact(&text, a.text) != nil {
		text.Reset()
		text.Write(a.text)
	}
	_, err := i.in.rejects.Write(append(text.Bytes(), '\n'))
	return err
}

// refusal returns the error of a library that refuses something; nil for an error with which the import ends.
func refusal(err error) *vitrine.Error {
	if e, ok := errors.AsType[*vitrine.Error](err); ok && !errors.Is(err, vitrine.ErrBusy) {
		return e
	}
	return nil
}

// refuse rejects an asset with one problem.
func (i *assetImport) refuse(a newAsset, message string) error {
	i.fail(problemOfAsset{i.name, a.where, "", message})
	return i.reject(a)
}

// readInput imports a file or a directory. reading ends when the command is interrupted.
func (i *assetImport) readInput(ctx, reading context.Context, in *input) error {
	if in.info != nil && in.info.IsDir() {
		return i.readDirectory(ctx, reading, in.name)
	}
	r, err := openAssets(in)
	if err == errNoJSON && in.file != nil && in.info.Mode().IsRegular() {
		if _, err := in.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return i.addFile(ctx, in.name, "", in.info.Size(), untilDone{reading, in.file},
			"; or JSON of assets, which begins with { or [: make that of tables and of XML, an asset a line")
	}
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for {
		text, err := r.next()
		if i.removes = i.removes || r.removes; err != nil {
			if failed := i.flush(ctx); failed != nil || err == io.EOF {
				return failed
			}
			return err
		}
		i.counts.Assets++
		i.done += int64(len(text))
		i.bar.show(i.done, i.counts.Assets, "asset", i.counts.Errors)
		a := newAsset{text: text, where: r.where()}
		_ = a.UnmarshalJSON(text) // adding it tells what is wrong
		identity := maphash.Comparable(identities, [2]string{a.Generator.ID, a.ID})
		switch wrong := a.dateFromContent(); {
		case seen[identity] && a.ID != "":
			err = i.refuse(a,
				"an asset with this generator and id came before in this file: keep one of them, or give "+
					"it an id of its own")
		case wrong:
			i.fail(problemOfAsset{i.name, a.where, "/content/published", "want a real date in ISO 8601, or another " +
				"one in createdAt"})
			err = i.reject(a)
		default:
			err = i.add(ctx, a)
		}
		seen[identity] = true
		if err != nil {
			return err
		}
	}
}

// identities is the seed by which the identities of assets become numbers.
var identities = maphash.MakeSeed()

// dateFromContent fills createdAt, if it is missing, with the time of publishing in the content. wrong means that this
// is not a date: the library would take the time of adding instead.
func (a *newAsset) dateFromContent() (wrong bool) {
	var content struct{ Published any }
	if a.CreatedAt != nil || json.Unmarshal(a.Content, &content) != nil {
		return false
	}
	text, _ := content.Published.(string)
	if text == "" {
		return content.Published != nil && content.Published != ""
	}
	quoted, _ := json.Marshal(text)
	var dated assets.NewAsset
	_ = dated.UnmarshalJSON(fmt.Appendf(nil, `{"createdAt":%s}`, quoted))
	if a.CreatedAt = dated.CreatedAt; a.CreatedAt != nil && a.CreatedAt.IsZero() {
		a.CreatedAt = nil // what cannot be read
	}
	return a.CreatedAt == nil
}

// add adds an asset, at the latest when flush is called.
func (i *assetImport) add(ctx context.Context, a newAsset) error {
	if a.Generator.ID == filesGenerator {
		if err := i.flush(ctx); err != nil {
			return err
		}
		return i.addExported(ctx, a)
	}
	if name := i.fileMeant(a); name != "" {
		return i.refuse(a,
			fmt.Sprintf("the file %q in the directory of -files is not added to it: the generator of an "+
				"asset with a file is \"files\", and not %q", name, a.Generator.ID))
	}
	// An asset that is refused makes no folder.
	if slices.ContainsFunc(a.Folders, func(path string) bool {
		return path[:min(1, len(path))] == "/" &&
			i.folders[path] == ""
	}) {
		if wrong, err := i.wrong(ctx, a); err != nil || wrong {
			return err
		}
	}
	if reason, err := i.resolve(ctx, a.Folders); err != nil {
		return err
	} else if reason != "" {
		return i.refuse(a, reason)
	}
	i.batch, i.size = append(i.batch, a), i.size+len(a.text)
	if len(i.batch) < maxBatch && i.size < maxBatchBytes {
		return nil
	}
	return i.flush(ctx)
}

// wrong reports whether a library would refuse an asset, whatever its folders and its files are. If so, it is rejected.
func (i *assetImport) wrong(ctx context.Context, a newAsset) (bool, error) {
	trial := openLibrary(memory.New(), i.to.lib, nil)
	alone := a.NewAsset
	alone.Folders = nil
	_, err := trial.ChangeAssets(ctx, trial.lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{alone}})
	e := refusal(err)
	switch {
	case e == nil:
		return false, err
	case len(e.Problems) == 0:
		return true, i.refuse(a, e.Reason)
	}
	i.failAll(e, []newAsset{a})
	return true, i.reject(a)
}

// fileMeant returns the name of a file in the directory of -files that an asset names and that would be lost, since its
// generator is not files. It returns "" if there is none.
func (i *assetImport) fileMeant(a newAsset) string {
	var content assetContent
	if i.dir == "" || json.Unmarshal(a.Content, &content) != nil {
		return ""
	}
	for _, attachment := range content.Attachment {
		if attachment.File == nil {
			continue
		}
		name, err := filePath(i.dir, attachment.File.ID, attachment.File.Name)
		if err == nil {
			_, err = os.Stat(name)
		}
		if err == nil {
			return attachment.File.Name
		}
	}
	return ""
}

// resolve replaces the paths of folders by their ids, and creates those that are missing. It returns why it cannot.
func (i *assetImport) resolve(ctx context.Context, folders []string) (reason string, err error) {
	for n, path := range folders {
		if !strings.HasPrefix(path, "/") || path == "/" {
			continue // an id
		}
		key, above := "", "/"
		for _, token := range strings.Split(path[1:], "/") {
			key += "/" + token
			if i.folders[key] == "" {
				i.folders[key], err = i.folderAt(ctx, above, jsonpointer.Unescape(token))
			}
			if e := refusal(err); e != nil {
				return fmt.Sprintf("the folder %q: %s", key, e.Reason), nil
			}
			if err != nil {
				return "", err
			}
			folders[n] = i.folders[key]
			above = strings.TrimSuffix(above, "/") + "/" + folders[n]
		}
	}
	return "", nil
}

// folderAt returns the id of the folder with a label below the folder with a path of ids. It creates it if there is
// none.
func (i *assetImport) folderAt(ctx context.Context, above, label string) (id string, err error) {
	for f, err := range i.to.AllFolders(ctx, i.to.lib, assets.ListFoldersRequest{Paths: []string{above}}) {
		switch {
		case errors.Is(err, vitrine.ErrNotFound): // there is no library yet
		case err != nil:
			return "", err
		case f.Label != label:
		case id != "":
			return "", &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid,
				Reason: "there are two of this label: give the id of one in place of the path"}
		default:
			id = f.ID
		}
	}
	if id != "" {
		return id, nil
	}
	out, err := i.to.ChangeFolders(ctx, i.to.lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: label, Path: above}}})
	if err != nil {
		return "", err
	}
	i.counts.Folders++
	return out.Folders[0].ID, nil
}

// flush adds the assets that wait.
func (i *assetImport) flush(ctx context.Context) error {
	batch := i.batch
	i.batch, i.size = nil, 0
	for n, a := range batch {
		in := assets.SearchRequest{Generator: a.Generator.ID, ForeignID: a.ID, Limit: 1}
		if in.Generator == "" || in.ForeignID == "" {
			continue
		}
		// Adding it says what is wrong, or creates the library.
		page, err := i.to.Search(ctx, i.to.lib, in)
		if err != nil && !errors.Is(err, vitrine.ErrInvalid) && !errors.Is(err, vitrine.ErrNotFound) {
			return err
		}
		for _, found := range page.Assets {
			batch[n].before = found.ETag()
		}
	}
	return i.change(ctx, batch)
}

// change adds a batch, without the assets that have a problem.
func (i *assetImport) change(ctx context.Context, batch []newAsset) error {
	for len(batch) > 0 {
		var request assets.ChangeAssetsRequest
		for _, a := range batch {
			request.Add = append(request.Add, a.NewAsset)
		}
		out, err := i.to.ChangeAssets(ctx, i.to.lib, request)
		e := refusal(err)
		switch {
		case err == nil:
			i.count(batch, out.Added)
			return nil
		case e == nil:
			return err
		case len(e.Problems) > 0:
			wrong := i.failAll(e, batch)
			var rest []newAsset
			for n, a := range batch {
				if !wrong[n] {
					rest = append(rest, a)
				} else if err := i.reject(a); err != nil {
					return err
				}
			}
			batch = rest
		case len(batch) == 1:
			return i.refuse(batch[0], e.Reason)
		default: // together they are too much
			half := len(batch) / 2
			if err := i.change(ctx, batch[:half]); err != nil {
				return err
			}
			batch = batch[half:]
		}
	}
	return nil
}

// count counts what became of a batch.
func (i *assetImport) count(batch []newAsset, added []assets.Asset) {
	for n, a := range batch {
		switch a.before {
		case "":
			i.counts.Created++
		case added[n].ETag():
			i.counts.Unchanged++
		default:
			i.counts.Updated++
		}
	}
}

// copyLibraries copies the libraries of a network into a new SQLite store, for a dry run.
func copyLibraries(ctx context.Context, from storage.Store, network, name string) (storage.Store, error) {
	to, err := openStore(ctx, name, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return to, from.View(ctx, func(r storage.Reader) error {
		for space, err := range r.Spaces(ctx, keyval.Space("assets", network)+"/") {
			var part []storage.Entry
			put := func(more ...storage.Entry) error {
				if part = append(part, more...); len(more) > 0 && len(part) < 1000 {
					return nil
				}
				defer func() { part = nil }()
				return to.Update(ctx, space, storage.UpdateOptions{Large: true},
					func(t storage.Tx) error { return t.Put(ctx, part...) })
			}
			for e, failed := range r.Scan(ctx, storage.Prefix(space+" ")) {
				if err = cmp.Or(err, failed); err == nil {
					err = put(e)
				}
			}
			if err = cmp.Or(err, put()); err != nil {
				return err
			}
		}
		return nil
	})
}

// readDirectory imports the files of a directory. Those of its subdirectories go into folders of the same names.
func (i *assetImport) readDirectory(ctx, reading context.Context, root string) error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case reading.Err() != nil:
			return errors.New("interrupted")
		case name == root:
			return nil
		case strings.HasPrefix(entry.Name(), ".") || !entry.IsDir() && !entry.Type().IsRegular():
			i.dotted++
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		folder := ""
		if rel != "." {
			for _, label := range strings.Split(filepath.ToSlash(rel), "/") {
				folder += "/" + jsonpointer.Escape(label)
			}
		}
		if err := i.addFile(ctx, name, folder, info.Size(), file, ""); err != nil {
			return err
		}
		i.done += info.Size()
		i.bar.show(i.done, i.counts.Assets, "file", i.counts.Errors)
		return nil
	})
}
