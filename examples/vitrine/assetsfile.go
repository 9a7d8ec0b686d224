package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// openBucket opens the bucket of -bucket. The environment may be that of serve, whose -files is the bucket; dir is the
// directory that -files names here.
func (p *program) openBucket(ctx context.Context, dir, bucket *string) (assets.Files, error) {
	const scheme = "s3://"
	if serves := p.getenv(variable("files")); strings.HasPrefix(serves, scheme) {
		*bucket = cmp.Or(*bucket, serves)
		if *dir == serves {
			*dir = ""
		}
	}
	if strings.HasPrefix(*dir, scheme) {
		return nil, usageError{errors.New("-files: want a directory; -bucket is for the bucket")}
	}
	return p.openFiles(ctx, "-bucket", *bucket)
}

// nowhere are Files that keep nothing.
type nowhere struct{ assets.Files }

func (nowhere) Put(_ context.Context, _ string, _ int64, from io.Reader) error {
	_, err := io.Copy(io.Discard, from)
	return err
}

// noRenditions are limits by which no picture is decoded.
var noRenditions = assets.Limits{Decoding: 1}

func (nowhere) Delete(context.Context, ...string) error { return nil }

// fileKey is what a file is known by: its folder, name and bytes. folder is "" for a file in no folder.
func fileKey(folder string, f assets.FileInfo) string { return folder + "/" + f.Name + "/" + f.SHA256 }

// fileOf returns what an asset shows of its file, or nil if it has none.
func fileOf(a assets.Asset) *assets.FileInfo {
	var body struct{ Content assetContent }
	if json.Unmarshal(a.Body, &body) != nil || body.Content.Generator.ID != filesGenerator ||
		len(body.Content.Attachment) == 0 {
		return nil
	}
	return body.Content.Attachment[0].File
}

// knowFiles reads which files the library has.
func (i *assetImport) knowFiles(ctx context.Context) error {
	if i.files != nil {
		return nil
	}
	i.files = map[string][]string{}
	for a, err := range i.to.AllAssets(ctx, i.to.lib,
		assets.SearchRequest{Generator: filesGenerator, Order: "asc", Limit: 500}) {
		if errors.Is(err, vitrine.ErrNotFound) {
			return nil // there is no library yet
		}
		if err != nil {
			return err
		}
		if f := fileOf(a); f != nil {
			for _, folder := range a.Folders {
				i.knowFile(fileKey(folder.ID, *f), a)
			}
			if len(a.Folders) == 0 {
				i.knowFile(fileKey("", *f), a)
			}
		}
	}
	return nil
}

// knowFile notes that the library has the file of an asset.
func (i *assetImport) knowFile(key string, a assets.Asset) { i.files[key] = append(i.files[key], a.ID) }

// addFile adds a picture or another file to a folder, whose path is "" for none. otherwise is what to say of a file
// that is refused, beside the reason.
func (i *assetImport) addFile(
	ctx context.Context, path, folder string, size int64, body io.Reader, otherwise string,
) error {
	i.counts.Assets++
	in := assets.UploadRequest{Name: filepath.Base(path), Size: size}
	if folder != "" {
		in.Folders = []string{folder}
	}
	_, reason, err := i.upload(ctx, in, body)
	if reason != "" {
		i.counts.Rejected++
		i.fail(problemOfAsset{path, "", "", reason + otherwise})
	}
	return err
}

// upload adds a file, unless the library has it already, and returns its asset, or the reason why it is refused. The
// folders of in may be paths, which become ids.
func (i *assetImport) upload(
	ctx context.Context, in assets.UploadRequest, body io.Reader,
) (a assets.Asset, reason string, err error) {
	refused := func(err error) (assets.Asset, string, error) {
		if e := refusal(err); e != nil {
			return assets.Asset{}, e.Error(), nil
		}
		return assets.Asset{}, "", err
	}
	// Its bytes are known once they are cleaned as an upload does it, so it is uploaded to nowhere first.
	spool, err := os.CreateTemp("", "vitrine-import-*")
	if err != nil {
		return a, "", err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	trial := openLibrary(memory.New(), i.to.lib, &assets.Options{Files: nowhere{}, Limits: noRenditions})
	looked, err := trial.Upload(ctx, trial.lib, assets.UploadRequest{Name: in.Name, Title: in.Title, Alt: in.Alt,
		Size: in.Size}, io.TeeReader(body, spool))
	if err != nil {
		return refused(err)
	}
	if err := i.knowFiles(ctx); err != nil {
		return a, "", err
	}
	if reason, err := i.resolve(ctx, in.Folders); err != nil || reason != "" {
		return a, reason, err
	}
	key := fileKey(append(in.Folders, "")[0], *fileOf(looked))
	n := i.met[key]
	i.met[key]++
	if n < len(i.files[key]) {
		i.counts.Unchanged++
		a, err = i.to.Asset(ctx, i.to.lib, i.files[key][n])
		return a, "", err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return a, "", err
	}
	if a, err = i.to.Upload(ctx, i.to.lib, in, spool); err != nil {
		return refused(err)
	}
	i.knowFile(key, a)
	i.counts.Created++
	return a, "", nil
}

// addExported adds an asset with a file whose bytes are in the directory of -files: one that export has written, or one
// that says no more of its file than the name. What would be lost is refused.
func (i *assetImport) addExported(ctx context.Context, in newAsset) error {
	var content struct {
		ID, Generator, AttributedTo, Published any
		Content                                string
		Attachment                             []struct {
			Description                              string
			Version, Type, Title, URL, Width, Height any
			Thumbnail                                any `json:"thumbnail_url"`
			File                                     struct {
				assets.FileInfo
				Focus *assets.Focus
			}
		}
	}
	strict := json.NewDecoder(bytes.NewReader(in.Content))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&content); err != nil || len(content.Attachment) != 1 {
		return i.refuse(in, fmt.Sprintf(`its content is not as export writes it, and needs no more than {"content": `+
			`"title", "attachment": [{"description": "what a picture shows", "file": {"name": "a.png"}}]}: %v`,
			cmp.Or(err, fmt.Errorf("it has %d attachments", len(content.Attachment)))))
	}
	f := content.Attachment[0].File
	if title, ok := content.Attachment[0].Title.(string); ok && title != "" && title != path.Base(f.Name) {
		return i.refuse(in,
			fmt.Sprintf("the title %q of its attachment would be lost: what a picture is called is the "+
				"\"content\" of its content, and the title of an attachment is the name of its file", title))
	}
	if len(in.SafeTags) > 0 || in.Via != nil || in.Rights != nil {
		return i.refuse(in, "an asset with a file has no safe_tags, via and rights: attributes may have them")
	}
	// The rest is checked as that of a post.
	rest := in
	rest.Generator.ID, rest.Content = "post", []byte("{}")
	if wrong, err := i.wrong(ctx, rest); err != nil || wrong {
		return err
	}
	if i.dir == "" {
		return i.refuse(in, "it has a file: -files DIR says where its bytes are, as export -files has written them")
	}
	name, err := filePath(i.dir, f.ID, f.Name)
	var file *os.File
	if err == nil {
		file, err = os.Open(name)
	}
	if err != nil {
		return i.refuse(in, err.Error())
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err == nil && f.SHA256 != "" && f.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		err = fmt.Errorf("%s has other bytes than were exported: sha256 says which", name)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return i.refuse(in, err.Error())
	}
	title, alt := html.UnescapeString(content.Content), content.Attachment[0].Description
	known := i.counts.Unchanged
	a, reason, err := i.upload(ctx, assets.UploadRequest{Name: filepath.Base(name), Folders: in.Folders, Title: title,
		Alt: alt, Size: size}, file)
	if reason != "" {
		return i.refuse(in, reason)
	}
	if err != nil {
		return err
	}
	// What an upload cannot say follows; if it is interrupted, the next import does it.
	before := a.ETag()
	a, err = i.to.EditFile(ctx, i.to.lib, assets.EditFileRequest{Asset: a.ID, IfMatch: before, Title: &title, Alt: &alt,
		Focus: f.Focus, CreatedAt: in.CreatedAt})
	if err == nil && len(in.Attributes) > 0 {
		_, err = i.to.ChangeAttributes(ctx, i.to.lib,
			assets.ChangeAttributesRequest{Assets: []string{a.ID}, Add: in.Attributes})
	}
	for _, folder := range in.Folders {
		if err == nil {
			_, err = i.to.AssignAssets(ctx, i.to.lib,
				assets.AssignAssetsRequest{Folder: folder, Assign: []string{a.ID}})
		}
	}
	if err == nil {
		a, err = i.to.Asset(ctx, i.to.lib, a.ID)
	}
	if i.counts.Unchanged > known && (err != nil || a.ETag() != before) {
		i.counts.Unchanged--
		i.counts.Updated++
	}
	if e := refusal(err); e != nil {
		i.fail(problemOfAsset{i.name, in.where, e.Pointer, e.Reason})
		return nil
	}
	return err
}

// filePath is where the bytes of a file are below the directory of -files. Without an id the name may be a path.
func filePath(dir, id, name string) (string, error) {
	if name == "" || !filepath.IsLocal(name) || id != "" && (!filepath.IsLocal(id) ||
		filepath.Base(id) != id || filepath.Base(name) != name) {
		return "", fmt.Errorf("%q of %q is no name of a file", name, id)
	}
	return filepath.Join(dir, id, filepath.FromSlash(name)), nil
}
