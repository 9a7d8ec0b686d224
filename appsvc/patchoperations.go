package appsvc

import (
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// versionPath is the JSON pointer of the version in the document. Every patch must test it.
const versionPath = appPath + "/version"

// decodePatch returns the operations of a patch. It returns ErrTooLarge if the patch has more than Limits.PatchBytes or
// Limits.PatchOps, and ErrInvalid if it is no JSON Patch or has no test of the version. The test may be any of the operations.
// Whether it holds is not checked here, since decodePatch does not know the app.
func (s *Service) decodePatch(patch []byte) ([]jsonpatch.Op, error) {
	if len(patch) > s.limits.PatchBytes {
		return nil, tooLarge("the patch has %d bytes; at most %d are allowed", len(patch), s.limits.PatchBytes)
	}
	ops, err := jsonpatch.Decode(patch, s.limits.PatchOps)
	if err != nil {
		return nil, patchError(err, vitrine.Version{})
	}
	for _, op := range ops {
		if _, ok := testedVersion(op); ok {
			return ops, nil
		}
	}
	return nil, invalid("", "the patch needs a test of %s whose value is a string: the version that the patch was made for, such as \"3\"", versionPath)
}

// testedVersion returns the version that op tests for. ok is false if op is not a test of the version with a string: a
// test for null, for instance, fails for every app, and does not say which version the patch was made for.
func testedVersion(op jsonpatch.Op) (version string, ok bool) {
	if op.Op != "test" || *op.Path != versionPath {
		return "", false
	}
	return rawjson.Text(op.Value)
}
