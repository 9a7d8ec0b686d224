package assets

import (
	"context"
	"fmt"
)

// Explanation says why a caller may or may not do an operation on a folder.
type Explanation struct {
	Allowed bool
	Reason  string      // in words
	Grant   *Permission // the grant that decided, if one did
	From    string      // id of the folder that has the grant: the one asked about, or one above it
}

// Explain tells whether the caller may do the operation on a folder, and why: which grant, inherited
// from where. It is for whoever vouches for callers, and answers about hidden folders too; do not pass
// its answers on to the caller it is about. ErrNotFound when there is no such folder, ErrForbidden when
// the caller does not belong to the network.
func (s *Service) Explain(ctx context.Context, by Caller, lib Library, folder string, op Operation) (Explanation, error) {
	if op.level() == levelNone {
		return Explanation{}, invalidAt("operation", "want view, edit or manage, have %q", string(op))
	}
	var out Explanation
	err := s.view(ctx, by, lib, func(ss *session) error {
		n := ss.tree.nodes[folder]
		if n == nil {
			return errNoFolder("folder")
		}
		out = ss.explain(n, op)
		return nil
	})
	return out, err
}

func (m member) explain(n *node, op Operation) Explanation {
	r := m.right(n)
	out := Explanation{Allowed: r.level >= op.level()}
	switch {
	case !n.live() && op != Manage:
		return Explanation{Reason: "the folder, or one above it, is deleted"}
	case m.moderator:
		out.Reason = "the caller moderates the network"
	case r.grant != nil:
		p := r.grant.clone()
		out.Grant, out.From = &p, r.at.ID
		key := p.key(m.network)
		out.Reason = fmt.Sprintf("%s %q holds %s", key.kind, key.subject, p.Operation)
		if r.at != n {
			out.Reason += fmt.Sprintf(", inherited from folder %s", r.at.ID)
		}
	case r.open && out.Allowed:
		out.Reason = "the folder is open: no grant on the way up, and every folder on it inherits"
	case r.open:
		out.Reason = "the folder is open, which allows to view it only"
	default:
		out.Reason = "no grant on the folder, nor one it inherits, names the caller"
	}
	return out
}
