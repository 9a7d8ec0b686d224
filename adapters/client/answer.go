package client

import (
	"fmt"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// answer is a response that was read completely, except for the body of an export, which has gone to request.into.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// result is a value for the body of an answer that not every JSON object of its form fits.
type result interface {
	// check returns an error if the answer that was decoded into the value cannot be from the service.
	check() error
}

// decode reads the body of a success into out. Without out, the status must be one that the service gives: 201 or 204 for a
// change, and 200 for an export. Its error says what was answered in place of what the service would answer.
func (a answer) decode(r request, out any) error {
	err := a.decodeInto(r, out)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, a.beginning())
	}
	return err
}

func (a answer) decodeInto(r request, out any) error {
	switch {
	case r.into != nil && !a.isExport():
		return fmt.Errorf("its status is %d and its type %q, not 200 and %q", a.status, a.header.Get("Content-Type"), exportType)
	case r.into != nil, out == nil && (a.status == http.StatusCreated || a.status == http.StatusNoContent):
		return nil
	case out == nil:
		return fmt.Errorf("its status is %d, not 201 or 204", a.status)
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return err
	}
	if member, there := hallmark(out); !there {
		return fmt.Errorf("it has no member %q", member)
	}
	if out, ok := out.(result); ok {
		return out.check()
	}
	return nil
}

// exportType is the media type of an export of reviews.
const exportType = "application/x-ndjson"

// isExport reports whether the body of the answer is an export. The page of a proxy has another type.
func (a answer) isExport() bool {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return a.status == http.StatusOK && kind == exportType
}

// beginning says how the body begins, for an error.
func (a answer) beginning() string {
	if len(a.body) == 0 {
		return "it is empty"
	}
	const most = 100 // characters
	return fmt.Sprintf("it begins with %#.*q", most, a.body[:min(len(a.body), most*utf8.UTFMax)])
}

// hallmark returns the name of a member that every answer of the service has that is decoded into out, and whether this one has
// it. Without this, an object of something else, such as a proxy, would be read as an empty list. A list that is there and empty
// is not nil.
func hallmark(out any) (member string, there bool) {
	switch out := out.(type) {
	case *apps:
		return "apps", out.Apps != nil
	case *tags:
		return "tags", out.Tags != nil
	case *moves:
		return "moves", out.Moves != nil
	case *history:
		return "history", out.History != nil
	case *appsvc.Diff:
		return "patch", out.Patch != nil
	case *components:
		return "components", out.Components != nil
	case *manifests:
		return "components", out.Components != nil
	case *component:
		return "name", out.Name != ""
	case *manifest:
		return "name", out.Name != ""
	case *appsvc.ComponentCheck:
		return "broken", out.Broken != nil
	case *appsvc.ChangesPage:
		return "next", out.Next != ""
	case *identity:
		return "urn", out.URN != ""
	case *assets.SearchPage:
		return "assets", out.Assets != nil
	case *assets.ChangedAssets:
		return "added", out.Added != nil
	case *assets.Explanation:
		return "view", out.View.Rule != ""
	case *assets.AssignedAssets:
		return "assign", out.Assign != nil
	case *attributes:
		return "attributes", out.Attributes != nil
	case *assets.ChangedAttributes:
		return "result", out.Result != nil
	case *folders:
		return "folders", out.Folders != nil
	case *oneFolder:
		return "folder", out.Folder.ID != ""
	case *permissions:
		return "permissions", out.Permissions != nil
	case *assets.ChangesPage:
		return "next", out.Next != ""
	case *reviews.Report:
		return "problems", out.Problems != nil
	case *erased:
		return "reviews", out.Reviews != nil
	case *collections:
		return "collections", out.Collections != nil
	case *reviewList:
		return "reviews", out.Reviews != nil
	}
	return "", true // its check, or its UnmarshalJSON, refuses an answer without what it needs
}
