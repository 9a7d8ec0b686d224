package archive

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// Stores are the stores of all domains, which one archive holds together. None may be nil. They usually come from one
// DB, but need not.
type Stores struct {
	Apps    appsvc.Store
	Assets  assets.Store
	Reviews reviews.Store
}

// StoresIn returns the stores of all domains that a store has.
func StoresIn(db storage.Store) Stores {
	return Stores{Apps: appsvc.NewRecords(db), Assets: assets.NewRecords(db), Reviews: reviews.NewRecords(db)}
}

// Counts has the number of things of each kind in an archive. Apps counts apps and not versions.
type Counts struct {
	Components, Apps, Versions, Tags, TagMoves, Answers int64
	Libraries, Folders, Assets                          int64
	Collections, Reviews                                int64
}

// String returns the counts as a sentence for people. It leaves out answers and moves of tags.
func (n Counts) String() string {
	return fmt.Sprintf("%s, %s with %s and %s, %s with %s and %s, %s with %s",
		count(n.Components, "component", "components"),
		count(n.Apps, "app", "apps"), count(n.Versions, "version", "versions"), count(n.Tags, "tag", "tags"),
		count(n.Libraries, "library", "libraries"), count(n.Folders, "folder", "folders"), count(n.Assets, "asset", "assets"),
		count(n.Collections, "collection", "collections"), count(n.Reviews, "review", "reviews"))
}

// count writes a number with its noun.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// add counts the thing of a line.
func (n *Counts) add(l line) {
	switch {
	case l.Component != nil:
		n.Components++
	case l.Version != nil:
		n.Versions++
		if l.Version.Version.Number() == 0 {
			n.Apps++
		}
	case l.Tag != nil:
		n.Tags++
	case l.Move != nil:
		n.TagMoves++
	case l.Answer != nil:
		n.Answers++
	case l.Library != nil:
		n.Libraries++
	case l.Folder != nil:
		n.Folders++
	case l.Asset != nil:
		n.Assets++
	case l.Collection != nil:
		n.Collections++
	case l.Review != nil:
		n.Reviews++
	}
}

var (
	// ErrDamaged means that the archive is not as it was written: it was truncated or changed, or the file is no archive.
	ErrDamaged = errors.New("damaged archive")
	// ErrNotEmpty means that a store to import into has data already.
	ErrNotEmpty = errors.New("the store is not empty")
)

// notArchive is the ErrDamaged for a file that is no archive, or that a newer release has written.
type notArchive struct{}

func (notArchive) Error() string {
	return fmt.Sprintf("this is no archive, or one of a newer release: want {\"vitrine\":%d} in line 1", format)
}

func (notArchive) Is(target error) bool { return target == ErrDamaged }
