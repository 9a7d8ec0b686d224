package records

import (
	"context"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Space is the space of all that this package stores.
const Space = "apps"

// The kinds of records. A key is the space, a blank, the kind, and the parts of a name with blanks between them;
// package internal/keyval defines the encoding of texts and numbers. All keys are made here, except those of the feed
// of changes: feed/, log/, name/ and named/, see feed.Feed.
const (
	// head/<app> is the head of an app: JSON, see Head. Each version replaces it.
	HeadKind = "head/"
	// deleted/<app> is the head of a deleted app, which has no head/ then. Its other records stay.
	DeletedKind = "deleted/"
	// body/<app> is the body of the latest version, followed by the tail of the history before it and the length of the
	// tail; see DecodeBody. Each version replaces it.
	BodyKind = "body/"
	// large/<app> is the body of the latest version if it has more than MostOfBody bytes. Then body/<app> has only the
	// tail.
	LargeKind = "large/"
	// history/<app> <version> is a row of package history. Versions add one from time to time. It never changes.
	HistoryKind = "history/"
	// restored/<app> <version> is the version that was restored, as a decimal number. It never changes.
	RestoredKind = "restored/"

	// list/<kind> <text> is the number of a list of apps, as a decimal number. A list is of an owner, a group or a
	// component. The first app of a list adds it. It never changes and is never removed.
	ListKind = "list/"
	// counter/ is the highest number that was ever assigned to a list, a version of a component or a release, as a
	// decimal number.
	CounterKind = "counter/"
	// created/<list> <time> <app> and updated/<list> <time> <app> are empty: the apps of a list, by time. They exist
	// for each list of an owner or a group that contains the latest version of the app; see ListKeys. A new version
	// replaces the one by update time.
	CreatedKind, UpdatedKind = "created/", "updated/"
	// used/<list> <app> has an empty value. The list is that of a component. The key exists if any version of the app
	// has an element of this component; only erasing the app removes it.
	UsedKind = "used/"
	// word/<word> <app> is empty: the title of the latest version has this word. A new title replaces it.
	WordKind = "word/"
	// note/<app> <version> is the note of a version. It never changes.
	NoteKind = "note/"

	// tag/<app> <name> is the version that a tag points to, as a decimal number.
	TagKind = "tag/"
	// move/<app> <name> <number> is a move of a tag: JSON, see Move. It never changes.
	MoveKind = "move/"
	// moved/<app> <name> is empty: there are moves of the tag. The first move adds it.
	MovedKind = "moved/"

	// published/<tag> <title> <app> is a Published, as JSON: the tag of the app points to a version with this title.
	// The one without a name is empty once each tag has such a record; before that it is the key of the last tag/ that
	// has got one, or absent.
	PublishedKind = "published/"

	// rules/ has the rules of tags: JSON, a list of TagRule. It is absent if there are no rules.
	RulesKind = "rules/"

	// languages/ has the rule of languages: JSON, see languages of package appsvc. It is absent in a store that never
	// had one.
	LanguagesKind = "languages/"
	// spoken/<language> <app> is empty: the latest version of the app has a text in this language. spoken/<language>
	// <app> <tag> is the same for the version that a tag points to. Deleted apps keep theirs.
	SpokenKind = "spoken/"

	// release/<id> is a release: JSON, see storedRelease of package appsvc. Each change replaces it.
	ReleaseKind = "release/"
	// listed/<kind> <text> <number> is the id of a release in a list; see ReleaseLists.
	ListedKind = "listed/"
	// due/<time> <id> is the id of a release that is scheduled. due/<time> <id>, with an empty part between, is that of
	// one that is to be ended, which comes before those of its time.
	DueKind = "due/"

	// comment/<app> <number> is a comment with its replies: JSON, see Comment.
	CommentKind = "comment/"
	// talk/<app> counts the comments of an app: JSON, see Talk. It is absent if the app never had one.
	TalkKind = "talk/"
	// open/<app> <number> is the URN of who has made a comment that is not resolved.
	OpenKind = "open/"
	// mentioned/<user> <time> <app> <number> is empty: an open comment mentions the user since then.
	MentionedKind = "mentioned/"
	// commented/<app> <user> is the URN of a user who has made a comment or a reply in the app, which may have been
	// removed, and commenter/<user> <app> is empty beside it.
	CommentedKind, CommenterKind = "commented/", "commenter/"

	// seen/<user> is the time until when a user has seen the inbox, as a decimal number.
	SeenKind = "seen/"

	// preview/<app> <id> is a Preview, as JSON, and shown/<hash of the secret> is its key. Archives have neither.
	PreviewKind, ShownKind = "preview/", "shown/"

	// component/<name> <version> is a version of a component without its manifest: JSON, see Component.
	ComponentKind = "component/"
	// manifest/<name> <version> is its manifest.
	ManifestKind = "manifest/"
	// id/<id> is empty: a version of a component has this id.
	IDKind = "id/"
	// was/<name> <version> is a deleted version: the digest of its manifest, see ContentDigest, a blank, and its id. If
	// the version is created again, its manifest must have the digest.
	WasKind = "was/"

	// answer/<caller> <key> is a Result, as JSON.
	ResultKind = "answer/"
	// expires/<time> <caller> <key> is empty. Each result has one.
	ExpiresKind = "expires/"

	// x/<name>/<key> are rows of the embedding program; see appsvc.Change.Rows.
)

// The kinds of lists.
const (
	OfOwner     = "owner"
	OfGroup     = "group"
	OfComponent = "component"
	ofDeleted   = "deleted " // before OfOwner and OfGroup
)

// The keys of the records that stand alone.
var CounterKey, RulesKey, PublishedKey, LanguagesKey = Key(CounterKind), Key(RulesKind), Key(PublishedKind),
	Key(LanguagesKind)

// DerivedKinds are the kinds of records that follow from others: from heads, components, releases and moves of tags.
var DerivedKinds = []string{BodyKind, LargeKind, HistoryKind, RestoredKind, TagKind, MoveKind, MovedKind, ManifestKind,
	IDKind, CreatedKind, UpdatedKind, UsedKind, WordKind, NoteKind, PublishedKind, SpokenKind, ListedKind, DueKind,
	CommentKind, TalkKind, OpenKind, MentionedKind, CommentedKind, CommenterKind, PreviewKind, ShownKind}

// Unknown returns a fault for each record that is of no kind.
func Unknown(ctx context.Context, r storage.Reader) ([]storage.Fault, error) {
	return keyval.Unknown(ctx, r, Space, append(slices.Clone(DerivedKinds), HeadKind, DeletedKind, WasKind, ListKind,
		CounterKind, ComponentKind, RulesKind, SeenKind, LanguagesKind, ReleaseKind, ResultKind, ExpiresKind)...)
}

// NotArchived are the prefixes of keys that archives leave out: the feed of changes, results of writes, and previews: a
// link that was revoked must not work again in a copy of the store.
func NotArchived() []string {
	out := feed.Kinds(Space)
	for _, kind := range []string{ResultKind, ExpiresKind, PreviewKind, ShownKind} {
		out = append(out, keyval.Prefix(Space, kind))
	}
	return out
}

// Key returns the key of a record of a kind.
func Key(kind string, parts ...string) string { return keyval.Key(Space, kind, parts...) }

// Under returns the range of the keys of a kind whose names begin with these parts.
func Under(kind string, parts ...string) storage.Range {
	return storage.Prefix(keyval.Prefix(Space, kind, parts...))
}

// Parts returns the parts of a key of a kind.
func Parts(key, kind string) []string { return keyval.Parts(key, keyval.Prefix(Space, kind)) }

func HeadKey(app string) string                { return Key(HeadKind, app) }
func BodyKey(app string) string                { return Key(BodyKind, app) }
func TagKey(app, name string) string           { return Key(TagKind, app, name) }
func ComponentKey(name, version string) string { return Key(ComponentKind, name, version) }
func ManifestKey(name, version string) string  { return Key(ManifestKind, name, version) }
func historyKey(app string, v int64) string    { return Key(HistoryKind, app, keyval.Number(v)) }
func NoteKey(app string, v int64) string       { return Key(NoteKind, app, keyval.Number(v)) }
func MoveKey(app, name string, n int64) string {
	return Key(MoveKind, app, name, keyval.Number(n))
}

// timeKey returns the key of an app in a list, by creation or by update.
func timeKey(kind string, list int64, p Position) string {
	return Key(kind, keyval.Number(list), keyval.Number(p.Time), p.ID)
}

func UsedKey(list int64, app string) string { return Key(UsedKind, keyval.Number(list), app) }

// SpokenKey returns the key of a language of a version: of the latest one if tag is "".
func SpokenKey(lang, app, tag string) string {
	if tag == "" {
		return Key(SpokenKind, lang, app)
	}
	return Key(SpokenKind, lang, app, tag)
}

// keyAfter returns the smallest key after key.
func keyAfter(key string) string { return key + "\x00" }

// decimal encodes a number as a value, and ParseDecimal decodes it.
func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func ParseDecimal(key string, value []byte) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, keyval.Damaged(key, err)
	}
	return n, nil
}
