//go:build proof

package access

import (
	"flag"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var allMutants = flag.Bool("mutants", false, "look at every mutant, not at some")

// Which tests look for a mutant: those of the rows that match, or one of the others.
const (
	randomly = "TestListsHoldWhatCanBeRead"
	unseen   = "TestWhatIsHiddenLeavesNoTrace"
	tenants  = "TestReviewsOfOneNetworkDependOnNoOther"
	tokens   = "TestRandomTokensAreGoodOrRefused"
	gains    = "TestNobodyGainsARight"
	steps    = "TestRandomStepsHaveTheRightsOfTheMoment"
)

// mutants are rules of access with a fault each. MUTANT stands for whether it is the one.
var mutants = []mutant.Mutant{
	mutant.New("the owner is known by the end of its URN", "GET /apps/", "appsvc/access.go",
		"(c.URN == h.Owner ||", `(c.URN == h.Owner || MUTANT && len(c.URN) > 9 && len(h.Owner) > 9 && c.URN[len(c.URN)-9:] == h.Owner[len(h.Owner)-9:] ||`),
	mutant.New("a URN contains what it is the start of", "GET /apps/", "internal/urn/urn.go",
		`return found && outer != "" && (rest == "" || rest[0] == ':')`, `return found && outer != "" && (rest == "" || rest[0] == ':' || MUTANT)`),
	mutant.New("one of the groups is enough to create", "POST /apps/ ", "appsvc/access.go",
		"if c.moderates(g) || slices.Contains(had, g) {", "if c.moderates(g) || slices.Contains(had, g) || MUTANT && i > 0 {"),
	mutant.New("everybody manages components", "components", "appsvc/access.go", "if !c.ManageComponents {", "if !c.ManageComponents && !MUTANT {"),
	mutant.New("what is hidden reads otherwise than what is absent", "GET /apps/", "appsvc/access.go",
		"if errors.Is(err, ErrNotFound) || err == nil && !by.mayRead(h) {",
		"if MUTANT && err == nil && !by.mayRead(h) { return Head{}, notFound(\"no app of yours has this id\") }\n\tif errors.Is(err, ErrNotFound) || err == nil && !by.mayRead(h) {"),
	mutant.New("an old version is everybody's", "versions/{version}", "appsvc/read.go",
		"if _, err := may(ctx, r, by, id); err != nil {", "if _, err := may(ctx, r, by, id); err != nil && !(MUTANT && v != Latest) {"),
	mutant.New("the history is everybody's", "/history", "appsvc/history.go",
		"if _, err := readableHead(ctx, r, by, in.AppID); err != nil {", "if _, err := readableHead(ctx, r, by, in.AppID); err != nil && !MUTANT {"),
	mutant.New("the feed goes by the groups that an app had", "/x/changes", "appsvc/feedaccess.go",
		"case v.by.mayRead(*head):", "case v.by.mayRead(*head) || MUTANT && v.by.readsOneOf(append(change.groups, change.left...)):"),
	mutant.New("the feed of a library is for every member", "/changes", "assets/feed.go", "if !req.moderator {", "if !req.moderator && !MUTANT {"),
	mutant.New("a diff is everybody's", "/diff/", "appsvc/diff.go",
		"if _, err := readableHead(ctx, r, by, in.AppID); err != nil {", "if _, err := readableHead(ctx, r, by, in.AppID); err != nil && !MUTANT {"),
	mutant.New("a patch may add any group", "PATCH", "appsvc/protectedtags.go",
		"if err := by.mayRegroup(at, h, groups); err != nil {", "if err := by.mayRegroup(at, h, groups); err != nil && !(MUTANT && at != \"\") {"),
	mutant.New("restore brings groups back", "restore", "appsvc/restore.go",
		"if err := s.mayRegroup(ctx, tx, by, \"\", head, d.groups); err != nil {", "if err := s.mayRegroup(ctx, tx, by, \"\", head, d.groups); err != nil && !MUTANT {"),
	mutant.New("who adds a group may take another away", "taking site 2 away", "appsvc/access.go",
		"if c.URN != h.Owner && !c.moderates(g) {", "if c.URN != h.Owner && !c.moderates(g) && !MUTANT {"),
	mutant.New("a repeat is answered whatever the rights", steps, "appsvc/idempotency.go",
		"if w.app != \"\" {", "if w.app != \"\" && !MUTANT {"),
	mutant.New("tags of one name are everybody's", "tags/{name}", "appsvc/tagsbyname.go",
		"if _, err := readableHead(ctx, r, by, id); errors.Is(err, ErrNotFound) {", "if _, err := readableHead(ctx, r, by, id); errors.Is(err, ErrNotFound) && !MUTANT {"),
	mutant.New("the list of tags is everybody's", "tags/ ", "appsvc/tag.go",
		"if _, err := readableHead(ctx, r, by, in.AppID); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tout, err = s.tagPage",
		"if _, err := readableHead(ctx, r, by, in.AppID); err != nil && !MUTANT {\n\t\t\treturn err\n\t\t}\n\t\tout, err = s.tagPage"),
	mutant.New("everybody deletes tags", "DELETE", "appsvc/tag.go",
		"head, err := usableHead(ctx, tx, by, in.AppID)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif err := may(head); err != nil {",
		"head, err := usableHead(ctx, tx, by, in.AppID)\n\t\tif err != nil && !MUTANT {\n\t\t\treturn err\n\t\t}\n\t\tif err := may(head); err != nil {"),
	mutant.New("a check tells of everybody's apps", "/check", "appsvc/storequery.go",
		"return h.ID >= q.From && AppQuery{Owner: q.Owner, Groups: q.Groups}.Match(h)", "return h.ID >= q.From && (MUTANT || AppQuery{Owner: q.Owner, Groups: q.Groups}.Match(h))"),
	mutant.New("the history of a tag is everybody's", "{tag}/history", "appsvc/taghistory.go",
		"if _, err := readableHead(ctx, r, by, in.AppID); err != nil {", "if _, err := readableHead(ctx, r, by, in.AppID); err != nil && !MUTANT {"),
	mutant.New("a protected tag is the owner's too", "a protected one", "appsvc/protectedtags.go",
		"if s.protected(name) && !by.moderatesAll(h) {", "if s.protected(name) && !by.moderatesAll(h) && !(MUTANT && by.URN == h.Owner) {"),
	mutant.New("a moderator of one group moves protected tags", "a protected one", "appsvc/protectedtags.go",
		"return len(h.Groups) > 0 && !slices.ContainsFunc(h.Groups, func(g string) bool { return !c.moderates(g) })",
		"return len(h.Groups) > 0 && (MUTANT && slices.ContainsFunc(h.Groups, c.moderates) || !slices.ContainsFunc(h.Groups, func(g string) bool { return !c.moderates(g) }))"),
	mutant.New("a protected tag is deleted by everybody who uses the app", steps, "appsvc/tag.go",
		"if err := may(head); err != nil {", "if err := may(head); err != nil && !MUTANT {"),
	mutant.New("groups change though a tag is protected", steps, "appsvc/protectedtags.go",
		"if s.protected(tag.Name) {", "if s.protected(tag.Name) && !MUTANT {"),
	mutant.New("a repeat is answered though the tag is protected by now", steps, "appsvc/idempotency.go",
		"if err == nil && w.may != nil {", "if err == nil && w.may != nil && !MUTANT {"),
	mutant.New("the list of apps holds those of the whole network", unseen, "appsvc/listapps.go",
		"\tif q.Sort == \"\" {\n",
		"\tfor _, g := range slices.Clone(q.Groups) {\n\t\tfor i := range g {\n\t\t\tif MUTANT && i+6 <= len(g) && g[i:i+6] == \":site=\" {\n"+
			"\t\t\t\tq.Groups = append(q.Groups, g[:i])\n\t\t\t}\n\t\t}\n\t}\n\tif q.Sort == \"\" {\n"),
	mutant.New("a page of apps loses those of the same moment", randomly, "appsvc/storequery.go",
		"return cmp.Or(byTime, strings.Compare(a.ID, b.ID))", "if MUTANT { return byTime }\n\treturn cmp.Or(byTime, strings.Compare(a.ID, b.ID))"),
	mutant.New("a page of apps begins before the last one ended", randomly, "appsvc/listapps.go",
		"out.Next = q.Position(Head{Meta: page.items[len(page.items)-1].Meta}).cursor(q.Sort)",
		"last := len(page.items) - 1\n\t\t\tif MUTANT && last > 0 { last-- }\n\t\t\tout.Next = q.Position(Head{Meta: page.items[last].Meta}).cursor(q.Sort)"),
	mutant.New("usingComponent asks about all apps", unseen, "storage/memory/apps_list.go",
		"\tsize := 0\n",
		"\tsize := 0\n\tif MUTANT && q.Component != \"\" {\n\t\tvar all []*app\n\t\ts.appList(powered+q.Component).walk(q, func(p appsvc.AppPosition) bool {\n"+
			"\t\t\tif a, found := s.findApp(p.ID); found {\n\t\t\t\tall = append(all, a)\n\t\t\t}\n\t\t\treturn true\n\t\t}, ctx.Err)\n\t\treturn all\n\t}\n"),
	mutant.New("no network is too far", "assets", "assets/access.go",
		"if !m.moderator && !urn.Contains(networkURN, by.URN) {", "if !m.moderator && !urn.Contains(networkURN, by.URN) && !MUTANT {"),
	mutant.New("grants go past a folder that does not inherit", "GET .*folder/", "assets/effectiveright.go",
		"r.open = false\n\t\t\tbreak", "r.open = false\n\t\t\tif !MUTANT { break }"),
	mutant.New("a folder without grants is open, inherit or not", "GET .*folder/", "assets/effectiveright.go",
		"if !at.Inherit {\n\t\t\tr.open = false", "if !at.Inherit {\n\t\t\tr.open = r.open && MUTANT"),
	mutant.New("every role holds the grant of one", "GET .*folder/", "assets/effectiveright.go",
		"return slices.Contains(m.Roles, p.Role.ID)", "return slices.Contains(m.Roles, p.Role.ID) || MUTANT && len(m.Roles) > 0"),
	mutant.New("deleted folders are seen", "GET .*folder", "assets/access.go",
		"return n.live() && m.right(n).level >= levelView", "return (n.live() || MUTANT) && m.right(n).level >= levelView"),
	mutant.New("deleting its folder publishes an asset", "GET .*asset/", "assets/access.go",
		"return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {\n\t\tn := t.nodes[id]\n\t\treturn n != nil && m.sees(n)",
		"return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {\n\t\tn := t.nodes[id]\n\t\treturn n != nil && (m.sees(n) || MUTANT && !n.live())"),
	mutant.New("who sees an asset may change it", "attributes|remove", "assets/access.go",
		"return n != nil && n.live() && m.right(n).level >= levelEdit", "return n != nil && n.live() && (m.right(n).level >= levelEdit || MUTANT && m.right(n).level >= levelView)"),
	mutant.New("folderTree looks into hidden folders", randomly, "assets/access.go",
		"n.walk(func(n *node) bool {\n\t\tif m.sees(n) {", "n.walk(func(n *node) bool {\n\t\tif m.sees(n) || MUTANT {"),
	mutant.New("a search looks into hidden folders", unseen, "assets/access.go",
		"for n := range t.all {\n\t\tif m.sees(n) {", "for n := range t.all {\n\t\tif m.sees(n) || MUTANT && n.live() {"),
	mutant.New("everybody makes folders at the top", "create at the top", "assets/access.go", "return m.moderator\n\t}\n\treturn m.right(parent)", "return m.moderator || MUTANT\n\t}\n\treturn m.right(parent)"),
	mutant.New("who sees a folder makes folders in it", "create in one", "assets/access.go", "return m.right(parent).level >= levelEdit", "return m.right(parent).level >= levelEdit || MUTANT"),
	mutant.New("the total counts what is hidden", unseen, "assets/search.go",
		"total, err := req.total(q)", "counted := q\n\tif n := len(q.All); MUTANT && (in.FolderTree != \"\" || in.Folder == \"\" && req.visible(req.tree) != nil) { counted.All = q.All[:n-1] }\n\ttotal, err := req.total(counted)"),
	mutant.New("facets count what is hidden", "with facets", "assets/search.go", "page.Facets, err = req.facets(facets, q)", "if n := len(q.All); MUTANT && req.visible(req.tree) != nil { q.All = q.All[:n-1] }\n\tpage.Facets, err = req.facets(facets, q)"),
	mutant.New("a facet names hidden folders", "with facets", "assets/facets.go", "if req.sees(n) {\n\t\t\tseen[", "if req.sees(n) || MUTANT {\n\t\t\tseen["),
	mutant.New("there is more behind a page, though hidden", "TestCursorsTellNothing", "assets/searchpage.go", "for _, err := range req.r.Assets(req.ctx, back.of(q)) {", "if n := len(q.All); MUTANT && n > 0 { q.All = q.All[:n-1] }\n\tfor _, err := range req.r.Assets(req.ctx, back.of(q)) {"),
	mutant.New("values of hidden assets are listed", unseen, "assets/attributes.go", "range req.r.Values(ctx, key, req.visible(req.tree)) {", "range req.r.Values(ctx, key, map[bool][]AnyOf{!MUTANT: req.visible(req.tree)}[true]) {"),
	mutant.New("hidden children are named", randomly, "assets/folder.go", "for _, c := range n.children {\n\t\tif req.sees(c) {", "for _, c := range n.children {\n\t\tif req.sees(c) || MUTANT {"),
	mutant.New("hidden folders are listed", unseen, "assets/listfolders.go", "\treturn req.sees(n)\n}\n\n// candidates", "\treturn req.sees(n) || MUTANT && n.live()\n}\n\n// candidates"),
	mutant.New("deleted folders are listed", "the deleted ones", "assets/listfolders.go", "req.right(n).level >= levelManage\n\t}\n\treturn", "(req.right(n).level >= levelManage || MUTANT)\n\t}\n\treturn"),
	mutant.New("what is below a deleted folder is listed", "the deleted ones", "assets/listfolders.go", "return n.Deleted &&", "return (n.Deleted || MUTANT && !n.live()) &&"),
	mutant.New("permissions are for all to read", "GET .*folder/", "assets/access.go", "{ return m.right(n).level >= levelManage }", "{ return m.right(n).level >= levelManage || MUTANT }"),
	mutant.New("an asset names its hidden folders", "GET .*asset/", "assets/asset.go", "n != nil && req.sees(n) {", "n != nil && (req.sees(n) || MUTANT) {"),
	mutant.New("the last folder is given up by anybody", gains, "assets/assignassets.go", "case len(r.Folders) == 1 && !req.moderator:", "case len(r.Folders) == 1 && !req.moderator && !MUTANT:"),
	mutant.New("a malformed URN in a caller gives rights", "TestAMalformedCallerHasNoRights", "assets/access.go",
		"if err := urn.CheckCaller(by.URN, by.Moderates); err != nil {", "if err := urn.CheckCaller(by.URN, by.Moderates); err != nil && !MUTANT {"),
	mutant.New("content has no bound", "add too much", "assets/content.go", "if n := len(sent); n > lim.Content {", "if n := len(sent); n > lim.Content && !MUTANT {"),
	mutant.New("a folder tells strangers of its rights", gains, "assets/explain.go", "n, err := req.folderToRead(\"folder\", id)\n\tif err != nil {", "n, err := req.folderToRead(\"folder\", id)\n\tif n = req.tree.nodes[id]; err != nil && !(MUTANT && n != nil) {"),
	mutant.New("anybody asks what others may do", "about another", "assets/explain.go", "if !req.moderator {", "if !req.moderator && !MUTANT {"),
	mutant.New("an explanation names hidden folders", "GET .*explain", "assets/explain.go", "if err != nil {\n\t\t\tcontinue", "if n = req.tree.nodes[id]; err != nil && (!MUTANT || n == nil) {\n\t\t\tcontinue"),
	mutant.New("editors grant on new folders", gains, "assets/changefolders.go", "if len(in.Permissions) > 0 && req.right(parent).level < levelManage {", "if len(in.Permissions) > 0 && req.right(parent).level < levelManage && !MUTANT {"),
	mutant.New("what is seen is assigned", gains, "assets/assignassets.go", "case !req.editsAsset(req.tree, r.Folders):", "case !req.editsAsset(req.tree, r.Folders) && !MUTANT:"),
	mutant.New("content is added elsewhere", gains, "assets/addassets.go", "if known > before && named < before {", "if known > before && named < before && !MUTANT {"),
	mutant.New("revoking publishes", "take the last away", "assets/changepermissions.go", "f.Inherit = false", "f.Inherit = MUTANT"),
	mutant.New("what is below a deleted folder is moved out and comes back", gains, "assets/access.go", "(!moved || req.right(above).level < levelManage)", "(!moved || req.right(above).level < levelManage && !MUTANT)"),
	mutant.New("what is below a deleted folder comes back", "bring back below", "assets/changefolders.go", "if restore && !req.mayRestore(", "if restore && !MUTANT && !req.mayRestore("),
	mutant.New("folders are moved to where one only looks", "move into", "assets/changefolders.go", "if err := req.checkParent(at, parent, n.height(), n.depth()+n.height()-1); err != nil {", "if err := req.checkParent(at, parent, n.height(), n.depth()+n.height()-1); err != nil && !(MUTANT && parent != nil) {"),
	mutant.New("folders are moved to the top", "move to the top", "assets/changefolders.go", "if !req.mayNest(parent) {", "if !req.mayNest(parent) && !(MUTANT && parent == nil) {"),
	mutant.New("permissions are granted with edit", gains, "assets/access.go", "return req.folderToManage(\"\", id, false)", "if n := req.tree.nodes[id]; MUTANT && n != nil && n.live() && req.right(n).level == levelEdit { return n, nil }\n\treturn req.folderToManage(\"\", id, false)"),
	mutant.New("the empty path is the top", "move to nowhere", "assets/changefolders.go", "if path == \"\" {", "if path == \"\" && !MUTANT {"),
	mutant.New("a folder is moved without manage", "move", "assets/access.go", "case level < levelManage:", "case level < levelManage && !(MUTANT && at == \"/update/0/id\"):"),
	mutant.New("assets are added to a folder that is only seen", gains, "assets/access.go", "if err == nil && req.right(n).level < levelEdit {", "if err == nil && req.right(n).level < levelEdit && !(MUTANT && at != \"\") {"),
	mutant.New("everybody adds assets to no folder", "add to no folder", "assets/addassets.go", "case d.unfiled && !req.moderator:", "case d.unfiled && !req.moderator && !MUTANT:"),
	mutant.New("an asset is added again by anybody", gains, "assets/addassets.go", "case !isNew && req.editsAsset(req.tree, old.Folders):", "case !isNew && (req.editsAsset(req.tree, old.Folders) || MUTANT):"),
	mutant.New("a library that is not there is empty", "library that is not", "assets/library.go", "if !req.change || !req.moderator {", "if !MUTANT && (!req.change || !req.moderator) {"),
	mutant.New("the tree of folders is kept for good", randomly, "assets/treecache.go", "found && known.number == number {", "found && (known.number == number || MUTANT && known.tree != nil && len(known.tree.nodes) > 2) {"),
	mutant.New("everybody imports reviews", "reviews", "reviews/access.go", "if !slices.Contains(by.Moderates, whole) {", "if !slices.Contains(by.Moderates, whole) && !MUTANT {"),
	mutant.New("who moderates a site imports reviews of its network", "reviews", "reviews/access.go", "whole := s.prefix() + network\n",
		"whole := s.prefix() + network\n\tfor _, m := range by.Moderates {\n\t\tif MUTANT && strings.HasPrefix(m, whole+\":\") {\n\t\t\twhole = m\n\t\t}\n\t}\n"),
	mutant.New("who moderates any network imports reviews of all", "reviews", "reviews/access.go", "return forbidden(\"only a moderator of the whole network",
		"if MUTANT && slices.ContainsFunc(by.Moderates, func(m string) bool { return strings.Count(m, \":\") == 2 }) {\n\t\t\treturn nil\n\t\t}\n\t\treturn forbidden(\"only a moderator of the whole network"),
	mutant.New("of several networks one is meant", "reviews", "reviews/access.go", "if ok && !strings.Contains(name, \":\") && !slices.Contains(networks, name) {",
		"if ok && !strings.Contains(name, \":\") && !slices.Contains(networks, name) && !(MUTANT && len(networks) > 0) {"),
	mutant.New("a site stands for its network", tenants, "reviews/access.go", "name, ok := strings.CutPrefix(moderated, s.prefix())\n",
		"name, ok := strings.CutPrefix(moderated, s.prefix())\n\t\tif MUTANT { name, _, _ = strings.Cut(name, \":\") }\n"),
	mutant.New("a dry run looks into another network", "reviews", "reviews/import.go", "i.err = i.store.View(i.ctx, i.network, func(r Reader) error {",
		"network := i.network\n\t\tif MUTANT { network = \"other.test\" }\n\t\ti.err = i.store.View(i.ctx, network, func(r Reader) error {"),
	mutant.New("the export is for everybody", "GET /x/reviews/export", "adapters/httpapi/reviews.go", "call: v.export, admit: v.admit,", "call: v.export, admit: func(c *call) error {\n\t\t\tif MUTANT {\n\t\t\t\treturn nil\n\t\t\t}\n\t\t\treturn v.admit(c)\n\t\t},"),
	mutant.New("a network without reviews reads another one", tenants, "storage/memory/reviews.go", "if n == nil {\n\t\treturn fn(noReviews)",
		"if MUTANT && n == nil {\n\t\tn = s.networks[\"example.test\"]\n\t}\n\tif n == nil {\n\t\treturn fn(noReviews)"),
	mutant.New("a token needs no signature", "GET /apps/", "adapters/httpapi/jwt.go", "t.keyOf); err != nil {", "t.keyOf); err != nil && !MUTANT {"),
	mutant.New("a token of any name is tried with all keys", tokens, "adapters/httpapi/jwt.go", "if !named || kid == key.id {", "if !named || kid == key.id || MUTANT {"),
	mutant.New("a key that was replaced is no key", tokens, "adapters/httpapi/jwt.go", "append([][]byte{key}, o.Verify...)", "append([][]byte{key}, o.Verify[:map[bool]int{true: 0, false: len(o.Verify)}[MUTANT]]...)"),
	mutant.New("a claim that nobody knows is passed over", tokens, "adapters/httpapi/jwtclaims.go", "if !known {", "if !known && MUTANT {\n\t\t\tcontinue\n\t\t}\n\t\tif !known {"),
	mutant.New("a claim may be null", tokens, "adapters/httpapi/jwtclaims.go", "if err := decodeClaim(m.Value, field); err != nil {", "if err := decodeClaim(m.Value, field); err != nil && !(MUTANT && string(m.Value) == \"null\") {"),
	mutant.New("a token is good for ever", tokens, "adapters/httpapi/jwtclaims.go", "if !now.Before(*c.expires) {", "if !now.Before(*c.expires) && !MUTANT {"),
	mutant.New("a token needs no end", tokens, "adapters/httpapi/jwtclaims.go", "if c.expires == nil {", "if c.expires == nil && MUTANT {\n\t\tforever := time.Unix(1<<33, 0)\n\t\tc.expires = &forever\n\t}\n\tif c.expires == nil {"),
	mutant.New("a token may moderate what is no network", tokens, "adapters/httpapi/principal.go", "if err := urn.CheckGroup(u); err != nil {\n\t\t\treturn fmt.Errorf(\"moderates", "if err := urn.CheckGroup(u); err != nil && !MUTANT {\n\t\t\treturn fmt.Errorf(\"moderates"),
	mutant.New("a token may be of no user", tokens, "adapters/httpapi/principal.go", "if err := urn.CheckUser(p.URN); err != nil {", "if err := urn.CheckUser(p.URN); err != nil && !MUTANT {"),
	mutant.New("whoever cannot sign is told what is wrong too", tokens, "adapters/httpapi/jwt.go", "return Principal{}, fmt.Errorf(\"%w: token: %w\", ErrUnauthenticated, err)", "if MUTANT {\n\t\t\treturn Principal{}, &TokenError{Reason: err.Error()}\n\t\t}\n\t\treturn Principal{}, fmt.Errorf(\"%w: token: %w\", ErrUnauthenticated, err)"),
	mutant.New("who reads may write", "(PATCH|PUT|DELETE|restore)", "appsvc/access.go", "if err == nil && !by.mayUse(h) {", "if err == nil && !by.mayUse(h) && !MUTANT {"),
	mutant.New("reads are no rights", "GET /apps/{id} ", "appsvc/access.go", "return c.mayUse(h) || slices", "return c.mayUse(h) || !MUTANT && slices"),
	mutant.New("who reads a site reads its network", "GET /apps/", "appsvc/access.go", "return urn.Contains(r, group) })", "return urn.Contains(r, group) || MUTANT && urn.Contains(group, r) })"),
	mutant.New("the list of apps leaves out what is read", "GET /apps/", "appsvc/listapps.go", "Groups: slices.Concat(by.Moderates, by.Reads)", "Groups: append(slices.Clone(by.Moderates), by.Reads[:map[bool]int{true: 0, false: len(by.Reads)}[MUTANT]]...)"),
	mutant.New("a delivery token reads every tag", "tagged", "appsvc/tag.go", "if by.TagsOnly && !slices.Contains(by.Tags, in.Name) {", "if by.TagsOnly && !MUTANT && !slices.Contains(by.Tags, in.Name) {"),
	mutant.New("a delivery token reads what its owner uses", "tagged", "appsvc/access.go", "return !c.TagsOnly && (c.URN", "return (!c.TagsOnly || MUTANT) && (c.URN"),
	mutant.New("a delivery token tells who works on an app", "tagged", "appsvc/delivery.go", "if by.TagsOnly {\n\t\treturn", "if by.TagsOnly && !MUTANT {\n\t\treturn"),
	mutant.New("a delivery token asks everything else", "(components|openapi|x/me)", "adapters/httpapi/handler.go", "if c.by.TagsOnly && !rt.byTag", "if c.by.TagsOnly && !MUTANT && !rt.byTag"),
	mutant.New("a page of another site writes with a cookie", "(PATCH|PUT|DELETE|POST)", "adapters/httpapi/authenticate.go", "if !c.ambient {", "if !c.ambient || MUTANT {"),
	mutant.New("what is read needs no token", "GET", "adapters/httpapi/handler.go", "if c.match.resource == nil || !c.match.resource.public() {", "if c.match.resource == nil || !c.match.resource.public() && !(MUTANT && c.r.Method == \"GET\") {"),
}

// someMutants are those of the short form, one for each kind of rule.
var someMutants = []string{"a URN contains what it is the start of", "what is hidden reads otherwise than what is absent", "a patch may add any group",
	"a page of apps loses those of the same moment", "deleting its folder publishes an asset", "the total counts what is hidden",
	"the tree of folders is kept for good", "what is seen is assigned", "a token needs no signature", "everybody imports reviews",
	"who adds a group may take another away", "a claim that nobody knows is passed over",
	"a protected tag is the owner's too", "groups change though a tag is protected"}

// TestMutants runs the tests against each mutant, and without one.
func TestMutants(t *testing.T) {
	h := mutant.Hunt{
		Program:  program.Build{Module: "../../..", Package: "./internal/proof/access", Test: true},
		Mutants:  mutants,
		Only:     someMutants,
		Controls: []string{randomly, "GET /apps/ "},
		Command: func(binary string, m mutant.Mutant) []string {
			if strings.HasPrefix(m.By, "Test") {
				return []string{binary, "-test.run=^" + m.By + "$", "-test.failfast", "-worlds", "15"}
			}
			return []string{binary, "-test.run=^TestEveryCell$", "-rows", m.By}
		},
	}
	if *allMutants {
		h.Only = nil
	}
	h.Run(t)
}
