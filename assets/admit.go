package assets

import "context"

// Admit checks whether the caller may ask anything at all about a library. It returns ErrInvalid if the caller has a malformed
// URN or the name of the library is malformed, and ErrForbidden if the caller does not belong to the network. Every method
// checks the same first. A server calls Admit before it reads the body of a request.
func (s *Service) Admit(by Caller, lib Library) error {
	_, err := s.enter(by, lib)
	return err
}

// AdmitChange checks whether the caller may change anything at all in a library. It returns the errors of Admit, and
// ErrNotFound if the library does not exist and the caller is no moderator: only a moderator's change creates a library. A
// server calls it before it reads the body of a change. The method that makes the change checks again.
func (s *Service) AdmitChange(ctx context.Context, by Caller, lib Library) error {
	return s.admit(ctx, by, lib, func(*request) error { return nil })
}

// AdmitAssignAssets returns the errors of AssignAssets that do not depend on the assets.
func (s *Service) AdmitAssignAssets(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(req *request) error {
		_, err := req.folderToFill(folder)
		return err
	})
}

// AdmitChangePermissions returns the errors of ChangePermissions that do not depend on the permissions.
func (s *Service) AdmitChangePermissions(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(req *request) error {
		_, err := req.folderToGrantOn(folder)
		return err
	})
}

// admit applies rules that a change must satisfy whatever its body is.
func (s *Service) admit(ctx context.Context, by Caller, lib Library, rules func(*request) error) error {
	return s.read(ctx, by, lib, true, rules)
}

// enter returns the caller as a member of the library's network, after the checks of Admit.
func (s *Service) enter(by Caller, lib Library) (member, error) {
	network := s.NetworkURN(lib)
	m, err := memberOf(by, network)
	if err != nil {
		return member{}, err
	}
	return m, checkLibrary(lib, network, s.limits.Name)
}
