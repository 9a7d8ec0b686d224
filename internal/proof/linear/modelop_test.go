//go:build proof

package linear

import "fmt"

// Kind is what an operation does.
type Kind int

// What clients do. Those from Patch to DeleteTag may change something.
const (
	Patch Kind = iota
	Restore
	PutTag
	DeleteTag
	ReadLatest
	ReadVersion
	ReadTag
	ReadTagged
	ListVersions
	ListTags
	TagsNamed
	ListApps
)

const (
	Apps    = 2  // that a history has at most, numbered from 0
	Tags    = 3  // names of tags, numbered from 0
	Keys    = 3  // Idempotency-Keys of a history, for each kind that takes one
	Latest  = -1 // as a version: the one that is the latest then
	missing = -2 // as a version: no version
	NoKey   = -1
	Page    = 5 // how many versions ListVersions asks for
)

// Op is one operation of a client.
type Op struct {
	Kind    Kind
	App     int
	Version int64 // tested, restored, pointed to, read, or the one before which versions are listed
	Tag     int
	Title   string // of a patch; no two operations have the same
	Key     int    // Idempotency-Key; equal keys of one kind mean equal operations
	By      string // URN of the user
}

// Writes reports whether the operation may change something.
func (o Op) Writes() bool { return o.Kind <= DeleteTag }

func (o Op) String() string {
	names := [...]string{"patch", "restore", "putTag", "deleteTag", "readLatest", "readVersion", "readTag",
		"readTagged",
		"listVersions", "listTags", "tagsNamed", "listApps", "oneView"}
	return fmt.Sprintf("%s(app %d, version %d, tag %d, title %q, key %d)", names[o.Kind], o.App, o.Version, o.Tag,
		o.Title, o.Key)
}

// Status is how an operation ended.
type Status int

// Operations that were refused, and reads of an unknown outcome, are no part of a history.
const (
	Done     Status = iota
	Absent          // what it names is not there
	Conflict        // the app has another version
	Unknown         // no answer: it has taken effect, will do so, or never does
	Refused         // it did not take effect, for a reason that lies outside of the model
)

// Outcome is what a client was answered.
type Outcome struct {
	Status Status
	Apps   []SeenApp
	Tags   []SeenTag
	More   bool
}

// SeenApp is a version of an app in an answer.
type SeenApp struct {
	App     int
	Version int64
	Title   string
	By      string
	At      int64 // updatedAt
}

// SeenTag is a tag in an answer.
type SeenTag struct {
	App, Tag int
	Version  int64
}

func (o Outcome) String() string {
	names := [...]string{"done", "absent", "conflict", "unknown", "refused"}
	return fmt.Sprintf("%s %v %v more=%t", names[o.Status], o.Apps, o.Tags, o.More)
}
