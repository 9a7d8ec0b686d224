package archive

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// auditor checks that the services could have written what the lines of an archive say. The rules are in the Auditors of the
// domains. The auditor itself checks the order of the lines, and hands each line to the Auditor of its domain.
type auditor struct {
	options Options
	stage   stage

	apps       *appsvc.Auditor
	library    *library         // the last one
	assets     *assets.Auditor  // of it; nil before the first
	inAssets   bool             // all of its folders were read
	network    string           // the last one
	reviews    *reviews.Auditor // of it; nil before the first
	collection *collection      // the last one

	// The lines of library and collection. An error that shows at their end, such as a missing folder, names them.
	libraryLine, collectionLine int64
}

func newAuditor(o Options) *auditor {
	return &auditor{options: o, apps: appsvc.NewAuditor(o.Apps)}
}

// stage is a part of an archive. The parts follow each other in this order, so that whatever a line refers to was read
// before it, and one pass with little memory can check everything.
type stage int

const (
	inComponents stage = iota
	inApps
	inAnswers
	inLibraries
	inReviews
)

func (l line) stage() stage {
	switch {
	case l.Component != nil:
		return inComponents
	case l.Version != nil, l.Tag != nil, l.Move != nil:
		return inApps
	case l.Answer != nil:
		return inAnswers
	case l.Library != nil, l.Folder != nil, l.Asset != nil:
		return inLibraries
	}
	return inReviews
}

// add checks the next line. It first ends the parts that cannot go on after it: the apps before answers, a library or a
// collection before the next one, the folders of a library before its assets. Some rules can only be checked there, such
// as that each parent folder exists.
func (a *auditor) add(l line) error {
	if l.stage() < a.stage {
		return broken(l.number, errors.New("comes too late: components, apps, answers, libraries and reviews follow each other in this order"))
	}
	if a.stage < inAnswers && l.stage() >= inAnswers {
		if err := a.apps.End(); err != nil {
			return broken(l.number, err)
		}
	}
	a.stage = l.stage()
	if l.Folder == nil && l.Asset == nil {
		if err := a.endLibrary(); err != nil {
			return err
		}
	}
	if l.Collection != nil {
		if err := a.endCollection(); err != nil {
			return err
		}
	}
	if l.Asset != nil && !a.inAssets {
		a.inAssets = true
		if err := a.assets.Tree(); err != nil {
			return broken(a.libraryLine, err)
		}
	}
	return broken(l.number, a.judge(l))
}

// judge checks the line by the rules of its domain.
func (a *auditor) judge(l line) error {
	switch {
	case l.Component != nil:
		return a.apps.Component(l.Component.stored())
	case l.Version != nil:
		if err := a.apps.Version(l.Version.stored()); err != nil {
			return err
		}
		if r, ok := l.Version.restoration(); ok {
			return a.apps.Restoration(r)
		}
		return nil
	case l.Tag != nil:
		return a.apps.Tag(l.Tag.stored())
	case l.Move != nil:
		return a.apps.TagMove(l.Move.stored())
	case l.Answer != nil:
		return a.apps.Answer(l.Answer.stored())
	case l.Library != nil:
		return a.enter(l)
	case l.Folder != nil:
		return a.assets.Folder(l.Folder.stored())
	case l.Asset != nil:
		return a.assets.Asset(l.Asset.stored())
	case l.Collection != nil:
		if err := a.enterNetwork(*l.Collection.Network); err != nil {
			return err
		}
		a.collection, a.collectionLine = l.Collection, l.number
		return a.reviews.Collection(l.Collection.stored())
	}
	return a.reviews.Review(l.Review.stored())
}

// enter begins a library. It returns an error unless libraries come in order, each once.
func (a *auditor) enter(l line) (err error) {
	if before := a.library; before != nil {
		if l.Library.Network < before.Network || l.Library.Network == before.Network && l.Library.ID <= before.ID {
			return fmt.Errorf("library %q of %q comes after %q of %q, want each once and in the order of networks and ids",
				l.Library.ID, l.Library.Network, before.ID, before.Network)
		}
	}
	a.library, a.libraryLine, a.inAssets = l.Library, l.number, false
	a.assets, err = assets.NewAuditor(l.Library.name(), l.Library.state(), a.options.Assets)
	return err
}

// enterNetwork begins the reviews of a network, unless they have begun. It returns an error unless networks come in order.
func (a *auditor) enterNetwork(name string) (err error) {
	if a.reviews != nil && name == a.network {
		return nil
	}
	if a.reviews != nil && name < a.network {
		return fmt.Errorf("a collection of the network %q comes after those of %q, want networks in the order of their names", name, a.network)
	}
	a.network = name
	a.reviews, err = reviews.NewAuditor(name)
	return err
}

// endLibrary checks at the end of a library that nothing is missing, such as assets that its count includes.
func (a *auditor) endLibrary() error {
	if a.assets == nil {
		return nil
	}
	err := a.assets.End()
	a.assets = nil
	return broken(a.libraryLine, err)
}

// endCollection checks at the end of a collection that nothing is missing, such as reviews that its tally includes.
func (a *auditor) endCollection() error {
	if a.reviews == nil {
		return nil
	}
	return broken(a.collectionLine, a.reviews.End())
}

// end checks at the end of the archive that nothing is missing.
func (a *auditor) end() error {
	if err := a.apps.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := a.endLibrary(); err != nil {
		return err
	}
	return a.endCollection()
}

// broken returns an ErrDamaged that names the line, or nil if err is nil.
func broken(number int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: line %d: %w", ErrDamaged, number, err)
}
