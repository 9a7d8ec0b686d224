//go:build proof

package access

import (
	"encoding/json"
	"fmt"
	"strings"
)

// reviewsOf: reviews of a network are for those who moderate it as a whole. A moderator of its sites, of
// another network or of another vendor's network of the same name is none of them, whether or not the
// network has reviews. The last row is a request that names no network: * moderates several.
var reviewsOf = table{
	//                  str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"example.test":  "   -   -   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	"other.test":    "   -   -   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .",
	"example.te":    "   -   -   -   -   -   -   +   -   -   +   -   -   .   .   .   .   .", // has no reviews
	"nowhere.test":  "   -   -   -   -   -   -   +   -   -   -   -   -   .   .   .   .   .", // has no reviews
	"example":       "   -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .", // nobody moderates it
	"the only one":  "   -   -   -   -   -   +   *   -   +   +   -   -   .   .   .   .   .", // of the caller, left out
	"":              "   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !", // no name
	network:         "   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !", // its URN
	"example.test:": "   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !   !",
}

// ofNetwork adds the network that a thing of reviewsOf stands for to a path.
func ofNetwork(path, thing string) string {
	if thing == "the only one" {
		return path
	}
	joint := "?"
	if strings.Contains(path, "?") {
		joint = "&"
	}
	return path + joint + "network=" + thing
}

// of is the part of a table that is about some things.
func (t table) of(wanted func(thing string) bool) table {
	part := table{}
	for thing, row := range t {
		if wanted(thing) {
			part[thing] = row
		}
	}
	return part
}

// records is a file with one collection, which has a review with each of the ratings.
func records(source string, ratings ...int) string {
	var list []string
	for i, rating := range ratings {
		list = append(list,
			fmt.Sprintf(`{"id":"r%d","imported_display_name":"N","imported_email":"%s@canary.test","title":"t",`+
				`"body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z","ratings":[%d]}`, i, source, rating))
	}
	return fmt.Sprintf(`{"source":%q,"title":"t","created":"2020-01-01T00:00:00Z","id":"YQ==",`+
		`"dimensions":["default"],"reviews":[%s]}`, source, strings.Join(list, ",")) + "\n"
}

// buildReviews imports the same collection into two networks, with other reviews in each.
func (w *world) buildReviews() {
	w.load("example.test", records("shop", 10, 20))
	w.load("other.test", records("shop", 10, 99, 30, 40))
}

func (w *world) load(name, file string) {
	w.t.Helper()
	r := w.send(builder,
		request{method: "POST", path: ofNetwork("/x/reviews/import", name), media: "application/x-ndjson", body: file})
	if r.status != 200 || !strings.Contains(r.body, `"errors":0`) {
		w.t.Fatalf("import into %s: %d %s", name, r.status, r.body)
	}
}

// compared is what a dry run of three reviews finds in each network: created, updated, unchanged.
var compared = map[string][3]int{"example.test": {1, 0, 2}, "other.test": {0, 1, 2}, "example.te": {3, 0, 0},
	"nowhere.test": {3, 0, 0}}

// exported is how many reviews each network has.
var exported = map[string]int{"example.test": 2, "other.test": 4}

// reviewRows are the endpoints of reviews.
func reviewRows() []row {
	load := func(query, file string) func(*world, string) request {
		return func(_ *world, thing string) request {
			return request{method: "POST", path: ofNetwork("/x/reviews/import"+query, thing),
				media: "application/x-ndjson", body: file}
		}
	}
	list := func(_ *world, thing string) request {
		return get(ofNetwork("/x/reviews/collections/YQ==/reviews", thing))
	}
	erase := func(_ *world, thing string) request {
		return request{method: "DELETE", path: ofNetwork("/x/reviews?everything=true&dryRun=true", thing)}
	}
	const says = "+200 -403 *400 !400"
	return []row{
		{route: "POST /x/reviews/import", what: "in earnest", table: reviewsOf, says: says,
			request: load("", records("new"))},
		{route: "POST /x/reviews/import", what: "dry", table: reviewsOf, says: says,
			request: load("?dryRun=true", records("shop", 10, 20, 30)),
			check: func(w *world, c caller, thing string, r reply) {
				if thing == "the only one" {
					thing = strings.TrimPrefix(c.Moderates[0], "urn:vitrine:")
				}
				var got struct{ Created, Updated, Unchanged int }
				if err := json.Unmarshal([]byte(r.body), &got); err != nil ||
					[3]int{got.Created, got.Updated, got.Unchanged} != compared[thing] {
					w.t.Errorf("%s, network %s: %+v, want %v: %v", r.what, thing, got, compared[thing], err)
				}
			}},
		{route: "POST /x/reviews/convert", table: reviewsOf, says: "+200 -403 *200 !400",
			request: func(_ *world, thing string) request {
				return request{method: "POST", path: ofNetwork("/x/reviews/convert", thing), media: "text/csv",
					body: "sku,rating,date,name\nlamp,5,2019-04-03,Ann\n"}
			}},
		{route: "DELETE /x/reviews", what: "of what is there",
			table: reviewsOf.of(func(thing string) bool { return exported[thing] > 0 }), says: says, request: erase,
			check: func(w *world, c caller, thing string, r reply) {
				if want := fmt.Sprintf(`"reviews":%d`, exported[thing]); !strings.Contains(r.body, want) {
					w.t.Errorf("%s, network %s: %s, want %s", r.what, thing, r.body, want)
				}
			}},
		{route: "DELETE /x/reviews", what: "of what is not there", says: "+404 -403 *400 !400", request: erase,
			table: reviewsOf.of(func(thing string) bool { return strings.HasPrefix(thing, "nowhere") })},
		{route: "GET /x/reviews/export", table: reviewsOf, says: says, request: func(_ *world, thing string) request {
			return get(ofNetwork("/x/reviews/export", thing))
		}, check: func(w *world, c caller, thing string, r reply) {
			if thing == "the only one" {
				thing = strings.TrimPrefix(c.Moderates[0], "urn:vitrine:")
			}
			if got := strings.Count(r.body, `"ratings"`); got != exported[thing] {
				w.t.Errorf("%s, network %s: %d reviews, want %d: %s", r.what, thing, got, exported[thing], r.body)
			}
		}},
		{route: "GET /x/reviews/changes", table: reviewsOf, says: says, request: func(_ *world, thing string) request {
			return get(ofNetwork("/x/reviews/changes", thing))
		}, check: func(w *world, c caller, thing string, r reply) {
			if thing == "the only one" {
				thing = strings.TrimPrefix(c.Moderates[0], "urn:vitrine:")
			}
			if strings.Count(r.body, `"network"`) != strings.Count(r.body, fmt.Sprintf(`"network":%q`, thing)) ||
				exported[thing] > 0 && !strings.Contains(r.body, `"created":`) {
				w.t.Errorf("%s, network %s: %s", r.what, thing, r.body)
			}
		}},
		{route: "GET /x/reviews/collections", table: reviewsOf, says: says,
			request: func(_ *world, thing string) request {
				return get(ofNetwork("/x/reviews/collections", thing))
			}, check: func(w *world, c caller, thing string, r reply) {
				if thing == "the only one" {
					thing = strings.TrimPrefix(c.Moderates[0], "urn:vitrine:")
				}
				want := `{"collections":[]}`
				if n := exported[thing]; n > 0 {
					want = fmt.Sprintf(`"count":%d`, n)
				}
				if !strings.Contains(r.body, want) || strings.Count(r.body, `"count"`) > 1 {
					w.t.Errorf("%s, network %s: %s, want %s", r.what, thing, r.body, want)
				}
			}},
		{route: "GET /x/reviews/collections/{collection}/reviews", what: "that is there",
			table: reviewsOf.of(func(thing string) bool { return exported[thing] > 0 }), says: says, request: list,
			check: func(w *world, c caller, thing string, r reply) {
				if got := strings.Count(r.body, `"ratings"`); got != exported[thing] {
					w.t.Errorf("%s, network %s: %d reviews, want %d: %s", r.what, thing, got, exported[thing], r.body)
				}
				if strings.Contains(r.body, "canary") {
					w.t.Errorf("%s, network %s: an address is in %s", r.what, thing, r.body)
				}
			}},
		{route: "GET /x/reviews/collections/{collection}/reviews", what: "that is not there",
			says: "+404 -403 *400 !400", request: list,
			table: reviewsOf.of(func(thing string) bool { return exported[thing] == 0 && thing != "the only one" })},
		{route: "POST /x/reviews/import", what: "of a file that is not read", table: reviewsOf,
			says: "+415 -403 *400 !400", request: func(_ *world, thing string) request {
				return request{method: "POST", path: ofNetwork("/x/reviews/import", thing), media: "text/csv",
					body: "a,b\n"}
			}},
	}
}
