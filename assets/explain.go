package assets

import (
	"context"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// ExplainRequest asks what somebody may do with an asset or a folder, and why. Exactly one of Asset
// and Folder is set.
type ExplainRequest struct {
	Asset  string // id
	Folder string // id

	// About is whom a moderator asks about; nil = the caller. Only its URN, Roles and Groups count, at most 100 roles
	// and 100 groups: the verdicts are those on a member of the network who moderates nothing. Its URN may also be the
	// id of a user, or "" for anybody with these roles and groups. A Service does not know who has which, so the
	// request has to say it.
	About *vitrine.Caller
}

// maxAbout is the number of roles, and of groups, that somebody may have who is asked about. Each of them is compared
// with every permission.
const maxAbout = 100

// Explanation says what somebody may do with an asset or a folder: one verdict for each operation.
// In JSON, for a folder:
//
//	{"view": {"allowed": true, "rule": "grant", "folder": "12", "grant": {…}}, "edit": {"allowed": false, "rule": "none"}, "manage": …}
type Explanation struct {
	ID     string   `json:"id,omitempty"` // of a folder in Folders; else ""
	View   Verdict  `json:"view"`
	Edit   Verdict  `json:"edit"`
	Manage *Verdict `json:"manage,omitempty"` // nil for an asset, which has no permissions of its own, and in Folders
	// Folders are the verdicts on the folders of an asset that the caller may read. Whoever may view or edit one of the
	// folders may view or edit the asset. A folder has none.
	Folders []Explanation `json:"folders,omitzero"`
}

// Verdict says whether an operation is allowed, and by which rule.
type Verdict struct {
	Allowed bool `json:"allowed"`
	Rule    Rule `json:"rule"`
	// Folder is the id of a folder: with ByGrant, the one that has the permission; with ByDeleted,
	// the one that was deleted, or "" if the caller may not read that one. It is "" with other rules.
	Folder string      `json:"folder,omitempty"`
	Grant  *Permission `json:"grant,omitempty"` // with ByGrant the permission
}

// Rule is what decides whether an operation is allowed.
type Rule string

// The rules.
const (
	ByModerator Rule = "moderator" // allowed: a moderator of the network
	ByGrant     Rule = "grant"     // allowed: a permission of the folder, or of one that it inherits from
	ByOpen      Rule = "open"      // allowed: the folder is open, so every member may view it
	ByUnfiled   Rule = "unfiled"   // allowed: the asset is in no folder, so every member may view it
	ByDeleted   Rule = "deleted"   // not allowed: the folder, or one above it, is deleted
	ByNone      Rule = "none"      // not allowed: no rule allows it
)

// Explain returns what the caller, or with in.About somebody else, may do with an asset or a
// folder, and by which rule. The verdicts come from the same rules that all other methods ask.
// Explain reveals nothing that other methods hide: it names no folder that the caller may not read.
//
// It returns ErrNotFound if the caller may not read the asset or the folder; ErrForbidden if in.About
// is given and the caller is no moderator; and ErrInvalid if not exactly one of Asset and Folder is
// given, if the user is malformed or not of the network, or if in.About has too many roles or groups.
func (s *Session) Explain(ctx context.Context, lib Library, in ExplainRequest) (Explanation, error) {
	s = s.calls("Explain")
	return view(ctx, s, lib, func(req *request) (out Explanation, err error) {
		if (in.Asset == "") == (in.Folder == "") {
			return out, fault.Invalid("asset", "want exactly one of asset and folder")
		}
		who := req.member
		if in.About != nil {
			if who, err = req.somebody(*in.About); err != nil {
				return out, err
			}
		}
		if in.Folder != "" {
			return req.explainFolder(who, in.Folder)
		}
		return req.explainAsset(who, in.Asset)
	})
}

// somebody returns the member that a moderator asks about. It returns ErrForbidden if the caller is
// no moderator, and ErrInvalid if w is malformed.
func (req *request) somebody(w vitrine.Caller) (member, error) {
	if !req.moderator {
		return member{}, fault.At("user", fault.Forbidden("only moderators may ask what others may do"))
	}
	for field, list := range map[string][]string{"role": w.Roles, "group": w.Groups} {
		if len(list) > maxAbout {
			return member{}, fault.Invalid(field, "want at most %d of them, have %d", maxAbout, len(list))
		}
	}
	// A user is given by id or by URN, and is the same member in both cases. Without a user, the member
	// has only the roles and the groups.
	m := member{Caller: vitrine.Caller{Roles: w.Roles, Groups: w.Groups}, network: req.network, id: w.URN,
		best: map[*node]*Permission{}}
	if strings.Contains(w.URN, ":") {
		if err := urn.CheckUser(w.URN); err != nil {
			return member{}, fault.Invalid("user", "an id has no colon, and as a URN %s", err)
		}
		id, ok := strings.CutPrefix(w.URN, req.network+userSegment)
		if !ok {
			return member{}, fault.Invalid("user", "%q is not of this network", w.URN)
		}
		m.id = id
	}
	if m.id != "" {
		m.URN = req.network + userSegment + m.id
	}
	return m, nil
}

// explainFolder returns the verdicts on a folder. The caller must be able to read it; who need not.
func (req *request) explainFolder(who member, id string) (Explanation, error) {
	n, err := req.folderToRead("folder", id)
	if err != nil {
		return Explanation{}, err
	}
	manage := req.verdict(who, n, levelManage)
	return Explanation{View: req.verdict(who, n, levelView), Edit: req.verdict(who, n, levelEdit), Manage: &manage}, nil
}

// explainAsset returns the verdicts on an asset and on each of its folders that the caller may
// read. The caller must be able to read the asset; who need not.
func (req *request) explainAsset(who member, id string) (Explanation, error) {
	r, err := req.find(id)
	if err != nil {
		return Explanation{}, err
	}
	if r == nil {
		return Explanation{}, noAsset("asset")
	}
	out := Explanation{Folders: []Explanation{}}
	for _, id := range r.Folders {
		n, err := req.folderToRead("folder", id)
		if err != nil {
			continue
		}
		out.Folders = append(out.Folders,
			Explanation{ID: id, View: req.verdict(who, n, levelView), Edit: req.verdict(who, n, levelEdit)})
	}
	// The asset itself: one folder that allows an operation is enough. Moderators, and assets in no
	// folder, have rules of their own.
	out.View = ofAll(out.Folders, func(f Explanation) Verdict { return f.View })
	out.Edit = ofAll(out.Folders, func(f Explanation) Verdict { return f.Edit })
	switch {
	case who.moderator:
		out.View, out.Edit = Verdict{Allowed: true, Rule: ByModerator}, Verdict{Allowed: true, Rule: ByModerator}
	case len(r.Folders) == 0:
		out.View = Verdict{Allowed: true, Rule: ByUnfiled}
	}
	return out, nil
}

// ofAll returns the verdict on an asset in these folders: that of the first folder which allows the
// operation. If none does, the rule is ByDeleted if all of the folders are deleted, and else
// ByNone.
func ofAll(folders []Explanation, of func(Explanation) Verdict) Verdict {
	out := Verdict{Rule: ByNone}
	for i, f := range folders {
		v := of(f)
		if v.Allowed {
			return v
		}
		if i == 0 || v.Rule == ByNone {
			out = v
		}
	}
	return out
}

// verdict returns whether who has a level on a folder, and by which rule. A deleted folder is
// hidden from everybody, so nobody may view or edit it; who may manage it may restore it.
//
// The caller may read n. The folder of a grant may be above n. The caller may read that one too:
// either the grant is the caller's own, or the caller is a moderator who asks about somebody else.
func (req *request) verdict(who member, n *node, level level) Verdict {
	r := who.right(n)
	switch {
	case !n.live() && level < levelManage:
		return Verdict{Rule: ByDeleted, Folder: req.deletedAbove(n)}
	case who.moderator:
		return Verdict{Allowed: true, Rule: ByModerator}
	case r.level < level:
		return Verdict{Rule: ByNone}
	case r.grant == nil:
		return Verdict{Allowed: true, Rule: ByOpen}
	}
	grant := r.grant.clone()
	return Verdict{Allowed: true, Rule: ByGrant, Folder: r.at.ID, Grant: &grant}
}

// deletedAbove returns the id of the folder whose deletion hides n: n or the nearest deleted one
// above it. It returns "" if the caller may not read that folder.
func (req *request) deletedAbove(n *node) string {
	for ; n != nil; n = n.parent {
		if n.Deleted {
			if _, err := req.folderToRead("folder", n.ID); err == nil {
				return n.ID
			}
			return ""
		}
	}
	return ""
}
