package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/storage"
)

// filesGenerator is the generator of assets that have a file.
const filesGenerator = "files"

// libraryUsage and bucketUsage say what the flags of both commands want.
const (
	libraryUsage = "`id` of the library (default: the network's own, which has the name of the network)"
	bucketUsage  = "`address` of the bucket that has the bytes of files, as serve -files has it; without it the " +
		"store has them"
)

// assetLibrary is a library as the operator of the store sees it: with all rights.
type assetLibrary struct {
	*assets.Session
	service *assets.Service
	lib     assets.Library
}

// openLibrary returns a library of a store.
func openLibrary(s storage.Store, lib assets.Library, options *assets.Options) assetLibrary {
	svc := assets.New(s, options)
	if lib.ID == "" {
		lib.ID = lib.Network
	}
	network := svc.NetworkURN(lib)
	by := vitrine.Caller{URN: network + ":user=operator", Moderates: []string{network}}
	return assetLibrary{svc.As(by), svc, lib}
}

// exportAssets is the command assets export: it writes the assets of one library as assets import reads them.
func exportAssets(f *flag.FlagSet) action {
	db, file := dbFlag(f), outFlag(f)
	network := f.String("network", "",
		"`name` of the network whose assets are written (default: the only one of the store)")
	library := f.String("library", "", libraryUsage)
	files := f.String("files", "",
		"write the bytes of files into `DIR`, which import reads with the same flag; without "+
			"it assets that have a file are left out")
	bucket := f.String("bucket", "", bucketUsage)
	return func(ctx context.Context, p *program) error {
		if err := checkOutput(*db, "-out", *file); err != nil {
			return err
		}
		from, err := p.openBucket(ctx, files, bucket)
		if err != nil {
			return err
		}
		return ofAssets.inNetwork(ctx, p, *db, *network, func(s storage.Store, network string) error {
			from := openLibrary(s, assets.Library{Network: network, ID: *library}, &assets.Options{Files: from})
			e := assetExport{assetLibrary: from, files: *files, folders: map[string]assets.Folder{},
				paths: map[string]string{}}
			err := p.writeOut(*file, func(to io.Writer) error {
				out := bufio.NewWriterSize(to, 64<<10)
				if err := e.write(ctx, out); err != nil {
					return err
				}
				return out.Flush()
			})
			if err == nil && e.alike {
				p.complain(errors.New(
					"folders that have the same label and are in the same folder are one in the file"))
			}
			if err == nil && e.leftOut > 0 {
				p.complain(fmt.Errorf("%s left out, since they have files: -files DIR writes them, too",
					count(e.leftOut, "asset")))
			}
			return err
		})
	}
}

// assetExport writes the assets of a library.
type assetExport struct {
	assetLibrary
	files   string // directory, or "" to leave assets with files out
	folders map[string]assets.Folder
	paths   map[string]string // ids of folders, by their paths
	leftOut int64
	alike   bool // two folders have the same path
}

// write writes a line for each asset, in the order of adding.
func (e *assetExport) write(ctx context.Context, out io.Writer) error {
	for a, err := range e.AllAssets(ctx, e.lib, assets.SearchRequest{Order: "asc", Limit: 500}) {
		if err != nil {
			return err
		}
		if file := fileOf(a); file != nil {
			if e.files == "" {
				e.leftOut++
				continue
			}
			if err := e.writeFile(ctx, file.ID, file.Name); err != nil {
				return err
			}
		}
		line, err := e.line(ctx, a)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// assetContent is what the commands read of the content of an asset.
type assetContent struct {
	ID         string           `json:"id"`
	Generator  assets.Generator `json:"generator"`
	Content    any              `json:"content"` // a text, if there is a file
	Attachment []struct {
		Description any              `json:"description"`
		File        *assets.FileInfo `json:"file"`
	} `json:"attachment"`
}

// line returns an asset as JSON that import reads: a NewAsset, with the paths of its folders in place of their ids.
func (e *assetExport) line(ctx context.Context, a assets.Asset) ([]byte, error) {
	var body struct{ Content assetContent }
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return nil, fmt.Errorf("the asset %s: %w", a.ID, err)
	}
	folders := []string{}
	for _, f := range a.Folders {
		path, err := e.pathOf(ctx, f)
		if err != nil {
			return nil, err
		}
		e.alike = e.alike || cmp.Or(e.paths[path], f.ID) != f.ID
		e.paths[path] = f.ID
		folders = append(folders, path)
	}
	head, err := json.Marshal(struct {
		ID        string           `json:"id"`
		Generator assets.Generator `json:"generator"`
		Folders   []string         `json:"folders"`
		CreatedAt time.Time        `json:"createdAt"`
	}{body.Content.ID, body.Content.Generator, folders, time.UnixMilli(a.CreatedAt).UTC()})
	if err != nil {
		return nil, err
	}
	return append(append(head[:len(head)-1], ','), a.Body[1:]...), nil
}

// pathOf returns the labels of a folder and those above it, as a JSON pointer: /Winter/Press.
func (e *assetExport) pathOf(ctx context.Context, f assets.Folder) (path string, err error) {
	for _, id := range strings.Split(strings.Trim(f.Path, "/"), "/") {
		above, known := e.folders[id]
		if !known && id != "" {
			if above, err = e.Folder(ctx, e.lib, id); err != nil {
				return "", err
			}
			e.folders[id] = above
		}
		if id != "" {
			path += "/" + jsonpointer.Escape(above.Label)
		}
	}
	return path + "/" + jsonpointer.Escape(f.Label), nil
}

// writeFile writes the bytes of a file into the directory.
func (e *assetExport) writeFile(ctx context.Context, id, name string) error {
	path, err := filePath(e.files, id, name)
	if err != nil {
		return err
	}
	file, err := e.service.File(ctx, assets.FileRequest{ID: id, Name: name})
	if err != nil {
		return fmt.Errorf("the file %s: %w", name, err)
	}
	defer file.Bytes.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	to, err := createPrivate(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file.Bytes)
	return errors.Join(err, to.Close())
}
