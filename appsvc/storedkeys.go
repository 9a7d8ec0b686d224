package appsvc

import (
	"strconv"

	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// appSpace is the space of all that this package stores.
const appSpace = "apps"

// The kinds of records. A key is the space, a blank, the kind, and the parts of a name with blanks between them;
// package internal/record defines the encoding of texts and numbers. All keys are made here, except those of the feed
// of changes: feed/, log/, name/ and named/, see feed.Feed.
const (
	// head/<app> is the head of an app: JSON, see headJSON. Each version replaces it.
	headKind = "head/"
	// deleted/<app> is the head of a deleted app, which has no head/ then. Its other records stay.
	deletedKind = "deleted/"
	// body/<app> is the body of the latest version, followed by the tail of the history before it and the length of the
	// tail; see decodeBody. Each version replaces it.
	bodyKind = "body/"
	// large/<app> is the body of the latest version if it has more than mostOfBody bytes. Then body/<app> has only the
	// tail.
	largeKind = "large/"
	// history/<app> <version> is a row of package history. Versions add one from time to time. It never changes.
	historyKind = "history/"
	// restored/<app> <version> is the version that was restored, as a decimal number. It never changes.
	restoredKind = "restored/"

	// list/<kind> <text> is the number of a list of apps, as a decimal number. A list is of an owner, a group or a
	// component. The first app of a list adds it. It never changes and is never removed.
	listKind = "list/"
	// counter/ is the highest number that was ever assigned to a list, a version of a component or a release, as a
	// decimal number.
	counterKind = "counter/"
	// created/<list> <time> <app> and updated/<list> <time> <app> are empty: the apps of a list, by time. They exist
	// for each list of an owner or a group that contains the latest version of the app; see listKeys. A new version
	// replaces the one by update time.
	createdKind, updatedKind = "created/", "updated/"
	// used/<list> <app> has an empty value. The list is that of a component. The key exists if any version of the app
	// has an element of this component; only erasing the app removes it.
	usedKind = "used/"
	// word/<word> <app> is empty: the title of the latest version has this word. A new title replaces it.
	wordKind = "word/"
	// note/<app> <version> is the note of a version. It never changes.
	noteKind = "note/"

	// tag/<app> <name> is the version that a tag points to, as a decimal number.
	tagKind = "tag/"
	// move/<app> <name> <number> is a move of a tag: JSON, see the type move. It never changes.
	moveKind = "move/"
	// moved/<app> <name> is empty: there are moves of the tag. The first move adds it.
	movedKind = "moved/"

	// rules/ has the rules of tags: JSON, a list of TagRule. It is absent if there are no rules.
	rulesKind = "rules/"

	// release/<id> is a release: JSON, see storedRelease. Each change replaces it.
	releaseKind = "release/"
	// listed/<kind> <text> <number> is the id of a release in a list; see release.listedIn.
	listedKind = "listed/"
	// due/<time> <id> is the id of a release that is scheduled.
	dueKind = "due/"

	// component/<name> <version> is a version of a component without its manifest: JSON, see storedComponent.
	componentKind = "component/"
	// manifest/<name> <version> is its manifest.
	manifestKind = "manifest/"
	// id/<id> is empty: a version of a component has this id.
	idKind = "id/"
	// was/<name> <version> is a deleted version: the digest of its manifest, see contentDigest, a blank, and its id. If
	// the version is created again, its manifest must have the digest.
	wasKind = "was/"

	// answer/<caller> <key> is a storedResult, as JSON.
	resultKind = "answer/"
	// expires/<time> <caller> <key> is empty. Each result has one.
	expiresKind = "expires/"

	// x/<name>/<key> are rows of the embedding program; see Change.Rows.
)

// The kinds of lists.
const (
	ofOwner     = "owner"
	ofGroup     = "group"
	ofComponent = "component"
	ofDeleted   = "deleted " // before ofOwner and ofGroup
)

func keyOf(kind string, parts ...string) string { return rec.Key(appSpace, kind, parts...) }

// under returns the range of the keys of a kind whose names begin with these parts.
func under(kind string, parts ...string) storage.Range {
	return storage.Prefix(rec.Prefix(appSpace, kind, parts...))
}

// partsOf returns the parts of a key of a kind.
func partsOf(key, kind string) []string { return rec.Parts(key, rec.Prefix(appSpace, kind)) }

func historyKey(app string, v int64) string  { return keyOf(historyKind, app, rec.Number(v)) }
func restoredKey(app string, v int64) string { return keyOf(restoredKind, app, rec.Number(v)) }
func noteKey(app string, v int64) string     { return keyOf(noteKind, app, rec.Number(v)) }
func moveKey(app, name string, n int64) string {
	return keyOf(moveKind, app, name, rec.Number(n))
}

// timeKey returns the key of an app in a list, by creation or by update.
func timeKey(kind string, list int64, p appPosition) string {
	return keyOf(kind, rec.Number(list), rec.Number(p.Time), p.ID)
}

func usedKey(list int64, app string) string { return keyOf(usedKind, rec.Number(list), app) }

// keyAfter returns the smallest key after key.
func keyAfter(key string) string { return key + "\x00" }

// decimal encodes a number as a value, and parseDecimal decodes it.
func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func parseDecimal(key string, value []byte) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, damaged(key, err)
	}
	return n, nil
}
