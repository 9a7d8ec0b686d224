package assets

import "github.com/vitrine-go/vitrine"

// Session is a Service for one caller: it has the methods that act for a caller, and each checks what this caller may
// do. The client of a remote service, package adapters/client, has them again. A program that names the methods it
// needs in an interface runs with both.
//
// A Session has nothing but the Service and the Caller. It is safe for concurrent use and needs
// no closing.
//
// # Who may do what
//
// Moderators of the library's network may do everything. Other members of the network, who are its
// users, may view what is open, and need a permission on a folder for everything else. There are
// three operations: view, edit and manage. Edit includes view, and manage includes both.
//
//   - A folder has its own permissions and, while it inherits, those of its parent.
//   - A folder is open if it and all folders above it inherit and none of them has a permission.
//     Every member may view it.
//   - A member may view an asset that is in no folder, or in at least one folder that is not
//     deleted and that the member may view.
//   - To change an asset takes edit on one of its folders that is not deleted. Only moderators
//     change an asset that is in no folder.
//
// [Session.Explain] says by which rule somebody may or may not do something.
//
// Nobody can gain a right by doing two allowed things one after the other:
//
//   - To put an asset into a folder takes edit on the folder and the right to change the asset. To
//     take it out of its last folder takes a moderator, since an asset in no folder is visible to
//     all members.
//   - To grant permissions takes manage on the folder. To create a folder with permissions takes
//     manage on its parent.
//   - A folder that loses its last permission also stops inheriting, so that only moderators see
//     it. Only they can make it inherit again, as nobody else may manage it. So revoking a
//     permission never makes a folder visible to more members.
//   - To move a folder takes manage on it and edit on its new parent. Only moderators move a folder
//     to the top level. A folder that moves away from folders from which it inherits permissions keeps these as its
//     own and inherits no more, unless a moderator asks for the contrary.
//   - A folder below a deleted one counts as deleted, until that one is restored. To move it out
//     and restore it in one request takes manage on each deleted folder above it too.
//   - Adding an asset that exists is [vitrine.ErrConflict] if the request names a folder that the asset is
//     not in and leaves out one that it is in. So a request that puts an asset into a new folder
//     names all folders in which its content changes. Folders that the caller may not read do not
//     count as left out. A request that puts the asset into no new folder replaces the content
//     wherever the asset is.
type Session struct {
	service *Service
	by      vitrine.Caller
	method  string // that was called, if an agent may call it; see calls
}

// As returns a Session for this caller. The caller's rights are looked up in each call, so a Session never grants a
// right that was revoked meanwhile, except those that the Caller itself states, such as Moderates and Roles.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{service: s.made(), by: by} }

// calls returns the Session for the rest of its method with this name. Methods that an agent may call begin with it. In
// all others authorize returns ErrForbidden for an agent.
func (s *Session) calls(method string) *Session {
	if s.by.Agent == "" { // saves others the copy
		return s
	}
	named := *s
	named.method = method
	return &named
}
