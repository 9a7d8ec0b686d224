package assets

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/storage"
)

// This file loads archives of format 2, which releases before keys and values have written. It goes with the file of
// examples/vitrine that calls it, when nobody has such archives any more.

// oldLine is a line of such an archive. One of its members is set.
type oldLine struct {
	Library *struct {
		Network string `json:"network"`
		ID      string `json:"id"`
		Key     Key    `json:"key"`
		Last    int64  `json:"last"`
		At      int64  `json:"at"`
		Count   int64  `json:"count"`
		Tree    int64  `json:"tree"`
	} `json:"library"`
	Folder *struct {
		ID          string       `json:"id"`
		Parent      string       `json:"parent"`
		Label       string       `json:"label"`
		Inherit     bool         `json:"inherit"`
		Deleted     bool         `json:"deleted"`
		Permissions []Permission `json:"permissions"`
	} `json:"folder"`
	Asset *struct {
		Ordinal   int64          `json:"ordinal"`
		Origin    Origin         `json:"origin"`
		CreatedAt int64          `json:"createdAt"`
		UpdatedAt int64          `json:"updatedAt"`
		Folders   []string       `json:"folders"`
		Body      jsontext.Value `json:"body"`
	} `json:"asset"`
}

// ImportOld puts what some lines of an archive of format 2 say into a store, in one update. The first line is that of their library,
// also if it was given before. The caller audits the store at the end.
func ImportOld(ctx context.Context, db storage.Store, lines [][]byte) error {
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
	return NewRecords(db).Update(ctx, Library{Network: l.Network, ID: l.ID}, func(t Tx) error {
		if err := t.SetState(ctx, State{Key: l.Key, Last: l.Last, At: l.At, Count: l.Count, Tree: l.Tree}); err != nil {
			return err
		}
		for _, x := range all[1:] {
			var err error
			switch {
			case x.Folder != nil:
				err = t.PutFolder(ctx, FolderRecord(*x.Folder))
			case x.Asset != nil:
				r := Record{Ordinal: x.Asset.Ordinal, Origin: x.Asset.Origin, CreatedAt: x.Asset.CreatedAt, UpdatedAt: x.Asset.UpdatedAt,
					Folders: x.Asset.Folders, Body: Body(x.Asset.Body)}
				var terms Index
				if terms, err = IndexOf(r, Limits{}); err == nil {
					err = t.PutAsset(ctx, r, terms)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
