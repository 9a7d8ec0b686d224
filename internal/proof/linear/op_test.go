package linear

import "fmt"

// kind is what an operation does.
type kind int

const (
	patch kind = iota
	restore
	putTag
	deleteTag
	readLatest
	readVersion
	readTag
	readTagged
	listVersions
	listTags
	tagsNamed
	listApps
	oneView // the latest versions of app 0, of app 1 and of app 0 again, in one View
)

const (
	apps    = 2  // of a history
	tags    = 3  // names of tags: t0, t1, t2
	keys    = 3  // Idempotency-Keys of a history, for each kind that takes one
	latest  = -1 // as a version: the one that is the latest then
	missing = -2 // as a version: there is none
	noKey   = -1
	page    = 5 // how many versions listVersions asks for
)

// op is one operation of a client.
type op struct {
	kind    kind
	app     int
	version int64 // tested, restored, pointed to, read, or the one before which versions are listed
	tag     int
	title   string // of a patch; no two operations have the same
	key     int    // Idempotency-Key; equal keys of one kind mean equal operations
	by      string // URN of the user
}

// writes reports whether the operation may change something.
func (o op) writes() bool { return o.kind <= deleteTag }

func (o op) String() string {
	names := [...]string{"patch", "restore", "putTag", "deleteTag", "readLatest", "readVersion", "readTag", "readTagged",
		"listVersions", "listTags", "tagsNamed", "listApps", "oneView"}
	return fmt.Sprintf("%s(app %d, version %d, tag %d, title %q, key %d)", names[o.kind], o.app, o.version, o.tag, o.title, o.key)
}

// status is how an operation ended.
type status int

const (
	done     status = iota
	absent          // what it names is not there
	conflict        // the app has another version
	unknown         // no answer: it has taken effect, will do so, or never does
	refused         // it did not take effect, for a reason that lies outside of the model
)

// outcome is what a client was answered.
type outcome struct {
	status status
	apps   []seenApp
	tags   []seenTag
	more   bool
}

// seenApp is a version of an app in an answer.
type seenApp struct {
	app     int
	version int64
	title   string
	by      string
	at      int64 // updatedAt
}

// seenTag is a tag in an answer.
type seenTag struct {
	app, tag int
	version  int64
}

func (o outcome) String() string {
	names := [...]string{"done", "absent", "conflict", "unknown", "refused"}
	return fmt.Sprintf("%s %v %v more=%t", names[o.status], o.apps, o.tags, o.more)
}
