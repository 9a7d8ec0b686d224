package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

var assetRandomRules = []assetRule{
	// After each Update everything in both libraries is compared with the model by every method of Reader.
	{"random writes in two libraries and random queries agree with a simple model", func(t *testing.T, s assetstore.Store) {
		const seed = 7
		t.Logf("seed %d", seed)
		d := randomData{rand.New(rand.NewPCG(seed, 0))}
		libs := []assetstore.Library{library, nowhere}
		models := []*assetModel{newAssetModel(), newAssetModel()}
		for range 25 {
			i := d.IntN(2)
			var next *assetModel
			err := s.Update(ctx, libs[i], func(w assetstore.Tx) error {
				next = models[i].clone()
				return d.changeAssets(w, next)
			})
			if err != nil {
				t.Fatal(err)
			}
			models[i] = next
			for i, lib := range libs {
				models[i].checkIn(t, s, lib)
			}
			err = s.View(ctx, libs[i], func(r assetstore.Reader) error {
				for range 30 {
					q := d.assetQuery()
					err := errors.Join(next.checkQuery(r, q), next.checkValues(r, d.assetTerm(), q.All), next.checkCounts(r, q, d.assetPrefix()))
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}},
}

// changeAssets makes some random changes to a library and its model.
func (d randomData) changeAssets(w assetstore.Tx, m *assetModel) error {
	for range d.IntN(40) {
		var err error
		switch d.IntN(10) {
		case 0:
			err = m.putFolder(w, folderRecord(fmt.Sprint(d.IntN(5)), "", permission(fmt.Sprint(d.IntN(3)))))
		case 1, 2:
			if len(m.rows) > 0 {
				err = m.delete(w, pick(d, slices.Sorted(maps.Keys(m.rows))))
			}
		case 3:
			s := m.state
			s.Tree++
			err = m.setState(w, s)
		default:
			x := index(append(d.some(6, d.assetTerm), "always")...)
			x.Attributes = d.attributes()
			err = m.put(w, record(int64(1+d.IntN(60)), d.some(3, d.id)...), x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d randomData) assetTerm() string { return pick(d, oddTerms[:24]) }

// assetPrefix returns the beginning of a term, which may be all of it.
func (d randomData) assetPrefix() string {
	term := []rune(pick(d, append([]string{"always"}, oddTerms[:24]...)))
	return string(term[:1+d.IntN(len(term))])
}

func (d randomData) attributes() []assetstore.Attribute {
	var out []assetstore.Attribute
	for _, key := range d.some(2, d.assetTerm) {
		for _, value := range d.some(2, d.assetTerm) {
			out = append(out, assetstore.Attribute{Key: key, Value: value})
		}
	}
	return out
}

func (d randomData) assetQuery() assetstore.AssetQuery {
	q := assetstore.AssetQuery{Ascending: d.IntN(2) == 0, Limit: d.IntN(4)}
	for range d.IntN(4) {
		q.All = append(q.All, append(d.some(4, d.assetTerm), pick(d, []string{"always", d.assetTerm(), d.assetTerm()})))
	}
	for range d.IntN(2) * d.IntN(3) {
		q.Prefixes = append(q.Prefixes, append(d.some(2, d.assetPrefix), d.assetPrefix()))
	}
	if d.IntN(2) == 0 {
		q.After = int64(d.IntN(60))
	}
	if d.IntN(2) == 0 {
		q.Before = int64(1 + d.IntN(60))
	}
	return q
}
