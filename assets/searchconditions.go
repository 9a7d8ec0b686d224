package assets

import "github.com/vitrine-go/vitrine/internal/index"

// conditions returns the query for the assets that the search asks for and that the caller sees,
// without the bounds of its times and cursors. whole are the words of the search text that do not
// end in *. prefixes are those that do, without the *. It returns ErrNotFound if the caller does
// not see a folder that the search names.
//
// What the caller may see is at the end of q.All:
//
//   - with Folder, the term of that folder; with FolderTree, the terms of that folder and of the
//     folders below it that the caller sees. Assets in folders that the caller sees are visible, so
//     nothing else is needed;
//   - with neither of them, the terms of all folders that the caller sees and the term of the
//     assets in no folder; see visible. The set is left out for a caller who sees every folder.
func (req *request) conditions(in SearchRequest, whole, prefixes []string) (q index.Query, err error) {
	var all [][]string
	// The text: each word in full, or as the beginning of a word.
	for _, w := range whole {
		all = append(all, []string{wordTerm(w)})
	}
	for _, p := range prefixes {
		q.Prefixes = append(q.Prefixes, []string{prefixTerm(p)})
	}
	// The other fields. An asset must satisfy each of them.
	for _, a := range in.Attributes {
		if a.Value == nil {
			q.Prefixes = append(q.Prefixes, hasKey(a.Key))
		} else {
			all = append(all, hasAttribute(Attribute{Key: a.Key, Value: *a.Value}))
		}
	}
	for _, tag := range in.Tags {
		all = append(all, []string{term(kindTag, tag)})
	}
	if in.Generator != "" {
		all = append(all, []string{term(kindGenerator, in.Generator)})
	}
	if in.Via != nil {
		all = append(all, []string{integerTerm(kindVia, *in.Via)})
	}
	if in.Rights != nil {
		all = append(all, []string{integerTerm(kindRights, *in.Rights)})
	}
	// The folders, which also say what the caller may see.
	if in.Folder != "" {
		n, err := req.folderSeen("folder", in.Folder)
		if err != nil {
			return q, err
		}
		all = append(all, []string{term(kindFolder, n.ID)})
	}
	if in.FolderTree != "" {
		n, err := req.folderSeen("folderTree", in.FolderTree)
		if err != nil {
			return q, err
		}
		all = append(all, req.seenInTree(n))
	}
	if in.Folder == "" && in.FolderTree == "" {
		all = append(all, req.visible(req.tree)...)
	}
	q.All = all
	return q, nil
}
