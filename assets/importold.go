package assets

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// This file imports archives of format 2, written by releases whose stores had tables. It can be removed together with the
// file of examples/vitrine that calls it, when nobody has such archives any more.

// oldLine is a line of such an archive. Exactly one member is set.
type oldLine struct {
	Library *struct {
		Network string `json:"network"`
		ID      string `json:"id"`
		libraryState
	} `json:"library"`
	Folder *folderRecord `json:"folder"`
	Asset  *struct {
		Ordinal   int64          `json:"ordinal"`
		Origin    origin         `json:"origin"`
		CreatedAt int64          `json:"createdAt"`
		UpdatedAt int64          `json:"updatedAt"`
		Folders   []string       `json:"folders"`
		Body      jsontext.Value `json:"body"`
	} `json:"asset"`
}

// importOld is ImportOld of Maintenance.
func importOld(ctx context.Context, db storage.Store, lines [][]byte) error {
	all := make([]oldLine, len(lines))
	for i, text := range lines {
		if err := json.Unmarshal(text, &all[i], json.RejectUnknownMembers(true)); err != nil {
			return err
		}
	}
	l := all[0].Library
	if l == nil {
		return errors.New("a folder or an asset belongs to no library")
	}
	lib := Library{Network: l.Network, ID: l.ID}
	return record.Update(ctx, db, spaceOf(lib), storage.UpdateOptions{Large: true}, func(t *record.Tx) error {
		r, err := openRecords(ctx, lib, index.NewCache(segmentBytes), t, t)
		if err != nil {
			return err
		}
		if err := r.putState(l.libraryState, true); err != nil {
			return err
		}
		for _, x := range all[1:] {
			switch {
			case x.Folder != nil:
				err = r.putJSON(r.folderKey(x.Folder.ID), *x.Folder)
			case x.Asset != nil:
				err = r.importAsset(assetRecord{Ordinal: x.Asset.Ordinal, Origin: x.Asset.Origin, CreatedAt: x.Asset.CreatedAt,
					UpdatedAt: x.Asset.UpdatedAt, Folders: x.Asset.Folders, Body: x.Asset.Body})
			}
			if err != nil {
				return err
			}
		}
		return r.writer.Finish(ctx)
	})
}

// importAsset adds an asset.
func (r *records) importAsset(a assetRecord) error {
	a.words = Limits{}.withDefaults().SearchedWords
	terms, err := termsOf(a)
	if err != nil {
		return err
	}
	return r.putAsset(a, nil, terms)
}
