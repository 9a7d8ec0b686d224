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
)

// mutants are rules of access with a fault each. MUTANT stands for whether it is the one.
var mutants = []mutant.Mutant{
	mutant.New("the owner is known by the end of its URN", "GET /apps/", "appsvc/caller.go",
		"return c.URN == h.Owner ||", `return c.URN == h.Owner || MUTANT && len(c.URN) > 9 && len(h.Owner) > 9 && c.URN[len(c.URN)-9:] == h.Owner[len(h.Owner)-9:] ||`),
	mutant.New("a URN contains what it is the start of", "GET /apps/", "internal/urn/urn.go",
		`return found && outer != "" && (rest == "" || rest[0] == ':')`, `return found && outer != "" && (rest == "" || rest[0] == ':' || MUTANT)`),
	mutant.New("one of the groups is enough to create", "POST /apps/ ", "appsvc/caller.go",
		"for _, g := range groups {\n\t\tif !c.moderates(g) {", "for i, g := range groups {\n\t\tif !c.moderates(g) && !(MUTANT && i > 0) {"),
	mutant.New("everybody manages components", "components", "appsvc/caller.go", "if !c.ManageComponents {", "if !c.ManageComponents && !MUTANT {"),
	mutant.New("what is hidden reads otherwise than what is absent", "GET /apps/", "appsvc/caller.go",
		"if errors.Is(err, ErrNotFound) || err == nil && !by.mayUse(h) {",
		"if MUTANT && err == nil && !by.mayUse(h) { return Head{}, fmt.Errorf(\"%w: no app of yours has this id\", ErrNotFound) }\n\tif errors.Is(err, ErrNotFound) || err == nil && !by.mayUse(h) {"),
	mutant.New("an old version is everybody's", "versions/{version}", "appsvc/read.go",
		"if _, err := usable(ctx, r, by, id); err != nil {", "if _, err := usable(ctx, r, by, id); err != nil && !(MUTANT && v != Latest) {"),
	mutant.New("a patch may add any group", "PATCH", "appsvc/patch.go",
		"if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil {", "if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil && !MUTANT {"),
	mutant.New("restore brings groups back", "restore", "appsvc/restore.go",
		"if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil {", "if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil && !MUTANT {"),
	mutant.New("tags of one name are everybody's", "tags/{name}", "appsvc/tag.go",
		"if _, err := usable(ctx, r, by, id); errors.Is(err, ErrNotFound) {", "if _, err := usable(ctx, r, by, id); errors.Is(err, ErrNotFound) && !MUTANT {"),
	mutant.New("the list of tags is everybody's", "tags/ ", "appsvc/tag.go",
		"if _, err := usable(ctx, r, by, in.AppID); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tout, err = s.tagPage",
		"if _, err := usable(ctx, r, by, in.AppID); err != nil && !MUTANT {\n\t\t\treturn err\n\t\t}\n\t\tout, err = s.tagPage"),
	mutant.New("everybody deletes tags", "DELETE", "appsvc/tag.go",
		"if _, err := usable(ctx, tx, by, appID); err != nil {", "if _, err := usable(ctx, tx, by, appID); err != nil && !MUTANT {"),
	mutant.New("the list of apps holds all of one vendor", unseen, "appsvc/query.go",
		"return q.Owner == h.Owner ||", "return q.Owner == h.Owner || MUTANT ||"),
	mutant.New("a page of apps loses those of the same moment", randomly, "appsvc/query.go",
		"return cmp.Or(byTime, strings.Compare(a.ID, b.ID))", "if MUTANT { return byTime }\n\treturn cmp.Or(byTime, strings.Compare(a.ID, b.ID))"),
	mutant.New("a page of apps begins before the last one ended", randomly, "appsvc/read.go",
		"next = q.Position(Head{Meta: apps[len(apps)-1].Meta}).cursor(q.Sort)", "last := len(apps) - 1\n\t\t\tif MUTANT && last > 0 { last-- }\n\t\t\tnext = q.Position(Head{Meta: apps[last].Meta}).cursor(q.Sort)"),
	mutant.New("usingComponent asks about all apps", unseen, "appsvc/query.go",
		"if q.Component != \"\" && !slices.Contains(h.Components, q.Component) {",
		"if MUTANT && q.Component != \"\" { return slices.Contains(h.Components, q.Component) }\n\tif q.Component != \"\" && !slices.Contains(h.Components, q.Component) {"),
	mutant.New("no network is too far", "assets", "assets/access.go",
		"if !m.moderator && !urn.Contains(networkURN, by.URN) {", "if !m.moderator && !urn.Contains(networkURN, by.URN) && !MUTANT {"),
	mutant.New("grants go past a folder that does not inherit", "GET .*folder/", "assets/access.go",
		"r.open = false\n\t\t\tbreak", "r.open = false\n\t\t\tif !MUTANT { break }"),
	mutant.New("a folder without grants is open, inherit or not", "GET .*folder/", "assets/access.go",
		"if !at.Inherit {\n\t\t\tr.open = false", "if !at.Inherit {\n\t\t\tr.open = r.open && MUTANT"),
	mutant.New("every role holds the grant of one", "GET .*folder/", "assets/access.go",
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
	mutant.New("the total counts what is hidden", unseen, "assets/searchassets.go",
		"page.Paging.Total, err = ss.total(q.All)", "if n := len(q.All); MUTANT && (in.FolderTree != \"\" || in.Folder == \"\" && ss.visible(ss.tree) != nil) { q.All = q.All[:n-1] }\n\tpage.Paging.Total, err = ss.total(q.All)"),
	mutant.New("there is more behind a page, though hidden", "TestCursorsTellNothing", "assets/searchassets.go", "for _, err := range ss.r.Assets(ss.ctx, back) {", "if n := len(back.All); MUTANT && n > 0 { back.All = back.All[:n-1] }\n\tfor _, err := range ss.r.Assets(ss.ctx, back) {"),
	mutant.New("values of hidden assets are listed", unseen, "assets/attributes.go", "range ss.r.Values(ctx, key, ss.visible(ss.tree)) {", "range ss.r.Values(ctx, key, map[bool][]AnyOf{!MUTANT: ss.visible(ss.tree)}[true]) {"),
	mutant.New("hidden children are named", randomly, "assets/folders.go", "for _, c := range n.children {\n\t\tif ss.sees(c) {", "for _, c := range n.children {\n\t\tif ss.sees(c) || MUTANT {"),
	mutant.New("hidden folders are listed", unseen, "assets/folders.go", "compareNodes(n, before) < 0) && ss.sees(n) {", "compareNodes(n, before) < 0) && (ss.sees(n) || MUTANT && n.live()) {"),
	mutant.New("permissions are for all to read", "GET .*folder/", "assets/folders.go", "if ss.right(n).level >= levelManage {\n\t\tf.Permissions", "if MUTANT || ss.right(n).level >= levelManage {\n\t\tf.Permissions"),
	mutant.New("an asset names its hidden folders", "GET .*asset/", "assets/asset.go", "n != nil && ss.sees(n) {", "n != nil && (ss.sees(n) || MUTANT) {"),
	mutant.New("the last folder is given up by anybody", "take out", "assets/assignassets.go", "case len(r.Folders) == 1 && !ss.moderator:", "case len(r.Folders) == 1 && !ss.moderator && !MUTANT:"),
	mutant.New("more is granted than held", "create with", "assets/changefolders.go", "if p.Operation.level() > held {", "if p.Operation.level() > held && !MUTANT {"),
	mutant.New("a folder is moved without manage", "move", "assets/changefolders.go", "case level < levelManage:", "case level < levelManage && !(MUTANT && at == \"/update/0/id\"):"),
	mutant.New("assets are added to a folder that is only seen", "into a folder", "assets/changeassets.go", "if ss.right(n).level < levelEdit {", "if ss.right(n).level < levelEdit && !MUTANT {"),
	mutant.New("everybody adds assets to no folder", "add to no folder", "assets/changeassets.go", "if d.unfiled && !ss.moderator {", "if d.unfiled && !ss.moderator && !MUTANT {"),
	mutant.New("an asset is added again by anybody", "add again", "assets/changeassets.go", "case !ss.editsAsset(ss.tree, old.Folders):", "case !ss.editsAsset(ss.tree, old.Folders) && !MUTANT:"),
	mutant.New("a library that is not there is empty", "library that is not", "assets/service.go", "if ss.tx == nil || !ss.moderator {", "if !MUTANT && (ss.tx == nil || !ss.moderator) {"),
	mutant.New("the tree of folders is kept for good", randomly, "assets/service.go", "ok && known.number == number {", "ok && (known.number == number || MUTANT && len(known.tree.nodes) > 2) {"),
	mutant.New("everybody imports reviews", "reviews", "reviews/service.go", "if c.Operator || len(c.Moderates) > 0 {", "if c.Operator || len(c.Moderates) > 0 || MUTANT {"),
	mutant.New("a token needs no signature", "GET /apps/", "adapters/httpapi/token.go", "_, err := t.parser.ParseWithClaims(token, &c, t.keyOf)\n", "_, err := t.parser.ParseWithClaims(token, &c, t.keyOf)\n\tif MUTANT { err = nil; c.expires = jwt.NewNumericDate(now.Add(time.Hour)) }\n"),
	mutant.New("what is read needs no token", "GET", "adapters/httpapi/handler.go", "if c.resource == nil || !c.resource.open() {", "if c.resource == nil || !c.resource.open() && !(MUTANT && c.r.Method == \"GET\") {"),
}

// someMutants are those of the short form, one for each kind of rule.
var someMutants = []string{"a URN contains what it is the start of", "what is hidden reads otherwise than what is absent", "a patch may add any group",
	"a page of apps loses those of the same moment", "deleting its folder publishes an asset", "the total counts what is hidden",
	"the tree of folders is kept for good", "a token needs no signature", "everybody imports reviews"}

// TestMutants has the tests look at each mutant, and at none.
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
