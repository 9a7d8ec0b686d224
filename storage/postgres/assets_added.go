package postgres

import (
	"bytes"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// addedAssets are the assets that an Update puts. They are inserted together, before the table is read and at the end.
// Together with AssetsFrom, which looks for the assets of a batch at once, this doubled how many are added in a second
// in batches of 1,000.
type addedAssets struct {
	ordinals, created, updated      []int64
	origins, folders, terms, bodies [][]byte
	at                              map[int64]int // the place of an ordinal in the lists
	size                            int           // bytes
}

// put adds an asset, or replaces the one with the same ordinal.
func (a *addedAssets) put(r assetstore.Record, terms []string) {
	i, again := a.at[r.Ordinal]
	if !again {
		if a.at == nil {
			a.at = map[int64]int{}
		}
		i = len(a.ordinals)
		a.at[r.Ordinal] = i
		a.ordinals, a.created, a.updated = append(a.ordinals, r.Ordinal), append(a.created, 0), append(a.updated, 0)
		a.origins, a.folders = append(a.origins, nil), append(a.folders, nil)
		a.terms, a.bodies = append(a.terms, nil), append(a.bodies, nil)
	}
	a.created[i], a.updated[i] = r.CreatedAt, r.UpdatedAt
	a.origins[i], a.folders[i] = bytes.Clone(r.Origin[:]), joinList(r.Folders)
	a.terms[i], a.bodies[i] = joinList(terms), orEmpty(bytes.Clone(r.Body))
	a.size += len(a.folders[i]) + len(a.terms[i]) + len(a.bodies[i])
}

// insert inserts the assets, in the round trip of the next statement or of the commit.
func (a *addedAssets) insert(c *conn, library string) {
	if len(a.ordinals) == 0 {
		return
	}
	c.later(`INSERT INTO asset (library, ordinal, origin, created, updated, folders, terms, body)
		SELECT $1, u.* FROM unnest($2::int8[], $3::bytea[], $4::int8[], $5::int8[], $6::bytea[], $7::bytea[], $8::bytea[]) AS u
		ON CONFLICT (library, ordinal) DO UPDATE SET origin = excluded.origin, created = excluded.created, updated = excluded.updated,
			folders = excluded.folders, terms = excluded.terms, body = excluded.body`,
		library, a.ordinals, a.origins, a.created, a.updated, a.folders, a.terms, a.bodies)
	*a = addedAssets{}
}
