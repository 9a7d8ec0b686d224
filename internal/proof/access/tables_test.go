//go:build proof

package access

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The callers, column by column. A "." stands where nothing that the caller has matters, which is
// the same as "-".
const columns = "stranger owner namesake site_1 site_10 network vendor below other prefix member components viewer " +
	"editor manager role group"

// A table says what each caller may do with each thing.
type table map[string]string

// at returns the character of a caller and a thing.
func (t table) at(c caller, thing string) byte {
	line, ok := t[thing]
	if !ok {
		panic("no table has " + thing)
	}
	cells := strings.Fields(line)
	i := slices.Index(strings.Fields(columns), strings.ReplaceAll(cmp.Or(c.like, c.name), " ", "_"))
	if i < 0 || len(cells) != len(strings.Fields(columns)) {
		panic(fmt.Sprintf("the row of %s has no cell for %s", thing, c.name))
	}
	return cells[i][0]
}

func (t table) things() []string { return slices.Sorted(maps.Keys(t)) }

// usable: an app is for its owner and for the moderators of any of the groups of its latest version;
// a URN contains another segment by segment: + may use it, - it is 404.
var usable = table{
	//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"one": "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .", // owner's, in site 1
	"ten": "    -   +   -   -   +   +   +   -   -   -   -   -   .   .   .   .   .", // owner's, in site 10
	"two": "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .", // owner's, in sites 1 and 2
	// owner's, in the network itself
	"net": "    -   +   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	// owner's, in site 1 of the other network
	"foreign": "    -   +   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .",
	// owner's, was in site 1, is in site 2
	"moved": "    -   +   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	// owner's, was in site 2, is in site 1
	"came":   "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
	"hers":   "    +   -   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .", // the stranger's, in site 1
	"absent": "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
}

// createIn: to create an app in groups, or to add them to one, takes a moderator of each.
var createIn = table{
	//              str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"site 1":   "    -   -   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
	"site 10":  "    -   -   -   -   +   +   +   -   -   -   -   -   .   .   .   .   .",
	"site 1+2": "    -   -   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	// x: site 1 of the other network
	"site 1+x": "    -   -   -   -   -   -   +   -   -   -   -   -   .   .   .   .   .",
	"network":  "    -   -   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	"other":    "    -   -   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .", // site 1 of the other network
	// site 1 of the network example.te
	"prefix": "    -   -   -   -   -   -   +   -   -   +   -   -   .   .   .   .   .",
}

// manages: components are created and deleted by selected users.
var manages = table{
	//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"component": "  -   -   -   -   -   -   -   -   -   -   -   +   .   .   .   .   .",
}

// levels: what a caller may do with a folder of the library: - nothing, v view, e edit, m manage;
// ! is no member of the network. A folder's grants are its own and, while it inherits, its parent's;
// without any it is open to members; moderators of the network may do everything.
var levels = table{
	//                str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"open":       "    v   v   !   v   v   m   m   v   !   !   v   v   v   v   v   v   v",
	"open/child": "    v   v   !   v   v   m   m   v   !   !   v   v   v   v   v   v   v",
	// a grant to the viewer below an open one
	"open/view": "    -   -   !   -   -   m   m   -   !   !   -   -   v   -   -   -   -",
	"open/cut":  "    -   -   !   -   -   m   m   -   !   !   -   -   -   -   -   -   -", // inherits not, no grant
	// to viewer, editor, manager (by URN), role and group
	"grant":    "    -   -   !   -   -   m   m   -   !   !   -   -   v   e   m   v   e",
	"grant/in": "    -   -   !   -   -   m   m   -   !   !   -   -   v   e   m   v   e", // inherits
	// inherits, and manage to the viewer
	"grant/more": "    -   -   !   -   -   m   m   -   !   !   -   -   m   e   m   v   e",
	// inherits not: view to the stranger, manage to the editor
	"grant/own":    "    v   -   !   -   -   m   m   -   !   !   -   -   -   m   -   -   -",
	"grant/own/in": "    v   -   !   -   -   m   m   -   !   !   -   -   -   m   -   -   -", // inherits that
	"absent":       "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -",
	"second":       "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -", // one of another library
}

// gone: the same of folders that are deleted, by themselves or with one above. Those who may manage
// them may read them and bring the first back; for all else they are absent.
var gone = table{
	//                str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"gone":    "    -   -   !   -   -   m   m   -   !   !   -   -   v   e   m   v   e", // the grants of grant
	"gone/in": "    -   -   !   -   -   m   m   -   !   !   -   -   v   e   m   v   e",
	"void":    "    v   v   !   v   v   m   m   v   !   !   v   v   v   v   v   v   v", // would be open
	"void/in": "    v   v   !   v   v   m   m   v   !   !   v   v   v   v   v   v   v",
}

// rights: what a caller may do with an asset: - nothing, v read, e read and change; d the same but by
// its id alone, no search finds it; ! is no member. An asset is visible where one of its folders is,
// or when it is in none; to change it takes edit on one of them, or a moderator.
var rights = table{
	//                  str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"loose":      "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v", // in no folder
	"taken out":  "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v", // was in grant
	"open":       "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v",
	"open/child": "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v",
	"open/view":  "    -   -   !   -   -   e   e   -   !   !   -   -   v   -   -   -   -",
	"open/cut":   "    -   -   !   -   -   e   e   -   !   !   -   -   -   -   -   -   -",
	"grant":      "    -   -   !   -   -   e   e   -   !   !   -   -   v   e   e   v   e",
	"grant/in":   "    -   -   !   -   -   e   e   -   !   !   -   -   v   e   e   v   e",
	"grant/more": "    -   -   !   -   -   e   e   -   !   !   -   -   e   e   e   v   e",
	"grant/own":  "    v   -   !   -   -   e   e   -   !   !   -   -   -   e   -   -   -",
	"open+cut":   "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v",
	"grant+own":  "    v   -   !   -   -   e   e   -   !   !   -   -   v   e   e   v   e",
	"gone":       "    -   -   !   -   -   d   d   -   !   !   -   -   -   -   -   -   -",
	"gone/in":    "    -   -   !   -   -   d   d   -   !   !   -   -   -   -   -   -   -",
	"gone+open":  "    v   v   !   v   v   e   e   v   !   !   v   v   v   v   v   v   v",
	"gone+grant": "    -   -   !   -   -   e   e   -   !   !   -   -   v   e   e   v   e",
	"absent":     "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -",
	"second":     "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -", // of another library
	"void":       "    -   -   !   -   -   d   d   -   !   !   -   -   -   -   -   -   -",
	// found by moderators in cut
	"gone+cut":     "    -   -   !   -   -   e   e   -   !   !   -   -   -   -   -   -   -",
	"all of grant": "    v   -   !   -   -   e   e   -   !   !   -   -   e   e   e   v   e", // in grant and all below
}

func TestTheTablesHaveAColumnForEachCaller(t *testing.T) {
	var names []string
	for _, c := range knownCallers() {
		if c.like == "" {
			names = append(names, strings.ReplaceAll(c.name, " ", "_"))
		}
	}
	if got := strings.Join(names, " "); got != columns {
		t.Errorf("the callers are %q, the columns %q", got, columns)
	}
	for _, tab := range []table{usable, createIn, manages, reviewsOf, levels, gone, rights} {
		for thing, line := range tab {
			if n := len(strings.Fields(line)); n != len(names) {
				t.Errorf("%s has %d cells, want %d", thing, n, len(names))
			}
		}
	}
}
