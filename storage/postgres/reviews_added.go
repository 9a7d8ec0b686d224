package postgres

import (
	"bytes"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// addedCollections are the collections that an Update adds. They get numbers in the order of adding, and are inserted together
// at the end of the Update, since giving numbers locks the row of the network until the commit.
type addedCollections struct {
	list  []*addedCollection
	byKey map[string]*addedCollection
	size  int // bytes
}

type addedCollection struct {
	reviewstore.Collection
	key    string
	places int64 // how many places its reviews have taken so far
}

// maxAdded is how many bytes of added collections, or of added assets, wait for the end of the transaction.
const maxAdded = 8 << 20

// put adds a collection, or replaces Tally and Fields of one that was added.
func (a *addedCollections) put(key string, c reviewstore.Collection) {
	own := a.byKey[key]
	if own == nil {
		if a.byKey == nil {
			a.byKey = map[string]*addedCollection{}
		}
		own = &addedCollection{key: key}
		own.Key = c.Key
		a.list, a.byKey[key] = append(a.list, own), own
		a.size += len(c.Source) + len(c.ID)
	}
	a.size += len(c.Tally) + len(c.Fields) - len(own.Tally) - len(own.Fields)
	own.Tally, own.Fields = orEmpty(bytes.Clone(c.Tally)), orEmpty(bytes.Clone(c.Fields))
}

// insert numbers and inserts the collections, in the round trip of the next statement or of the commit. From then on the row of
// the network is locked, so other updates that add collections to the network wait for the commit.
func (a *addedCollections) insert(c *conn, network string) {
	if len(a.list) == 0 {
		return
	}
	var keys, sources, ids []string
	var places []int64
	var tallies, fields [][]byte
	for _, own := range a.list {
		keys, sources, ids = append(keys, own.key), append(sources, own.Source), append(ids, own.ID)
		places, tallies, fields = append(places, own.places), append(tallies, own.Tally), append(fields, own.Fields)
	}
	c.later(`WITH numbered AS (INSERT INTO review_network AS n (key, name, number) VALUES ($1, $2, $3)
			ON CONFLICT (key) DO UPDATE SET number = n.number + $3 RETURNING number - $3 AS before)
		INSERT INTO review_collection (key, network, number, places, source, id, tally, fields)
		SELECT u.key, $1, numbered.before + u.place, u.places, u.source, u.id, u.tally, u.fields
		FROM numbered, unnest($4::bytea[], $5::int8[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[])
			WITH ORDINALITY AS u (key, places, source, id, tally, fields, place)`,
		digest(network), network, int64(len(keys)), keys, places, sources, ids, tallies, fields)
	*a = addedCollections{}
}
