package assets

import (
	"context"

	"github.com/vitrine-go/vitrine"
)

// Admit checks whether the caller may ask anything at all about a library. It does not read the
// store, so it does not tell whether the library exists. Every other method checks the same first.
// A server calls Admit before it reads the body of a request, so that a caller without rights
// cannot make it read and hold a large one.
//
// It returns ErrInvalid if the caller has a malformed URN or the id of the library is malformed,
// and ErrForbidden if the caller does not belong to the network or has TagsOnly set, or if the
// network's name cannot be one.
func (s *Service) Admit(by vitrine.Caller, lib Library) error {
	_, err := s.enter(by, lib)
	return err
}

// AdmitChange checks whether the caller may ask for a change in a library. A server calls it before
// it reads the body of a change. Rights may change until the body has arrived, so the method that
// makes the change checks everything again.
//
// It returns the errors of Admit, and ErrNotFound if the library does not exist and the caller is
// no moderator: only a moderator's change creates a library.
func (s *Service) AdmitChange(ctx context.Context, by vitrine.Caller, lib Library) error {
	return s.admit(ctx, by, lib, func(*request) error { return nil })
}

// AdmitAssignAssets is AdmitChange for AssignAssets. It also returns ErrNotFound if the caller does
// not see the folder, and ErrForbidden if the caller does not have edit on it.
func (s *Service) AdmitAssignAssets(ctx context.Context, by vitrine.Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(req *request) error {
		_, err := req.folderToFill("", folder)
		return err
	})
}

// AdmitChangePermissions is AdmitChange for ChangePermissions. It also returns ErrNotFound if the
// caller does not see the folder, and ErrForbidden if the caller does not have manage on it.
func (s *Service) AdmitChangePermissions(ctx context.Context, by vitrine.Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(req *request) error {
		_, err := req.folderToGrantOn(folder)
		return err
	})
}

// admit runs the rules of a change that do not depend on its body, on a snapshot.
func (s *Service) admit(ctx context.Context, by vitrine.Caller, lib Library, rules func(*request) error) error {
	return s.open(ctx, by, lib, true, func(req *request) error {
		if err := req.load(); err != nil {
			return err
		}
		return rules(req)
	})
}

// enter makes the checks of Admit, and returns the caller as a member of the library's network.
func (s *Service) enter(by vitrine.Caller, lib Library) (member, error) {
	network := s.NetworkURN(lib)
	m, err := memberOf(by, network)
	if err != nil {
		return member{}, err
	}
	return m, checkLibrary(lib, network, s.limits.Name)
}
