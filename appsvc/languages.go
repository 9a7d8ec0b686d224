package appsvc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// A store may have a rule that names its languages. Then a string in a config may be a text in several of them, see
// texts.go. Each transaction that stores a text, and each read in a language, reads the rule. The records of spoken/
// say which languages the latest and the tagged versions have, so that none of these is taken away. They are made when
// the first rule is set, and kept by each write from then on.

// languages is the rule of a store. The zero value is no rule.
type languages struct {
	List   []string `json:"languages"` // in canonical form, the base first; empty = there is no rule
	Number int64    `json:"number"`    // how often the rule was changed
	// Indexed is the last app, in the order of their keys, whose versions have got their records of spoken/ while these
	// are being made for the first time. Complete says that all have.
	Indexed  string `json:"indexed,omitzero"`
	Complete bool   `json:"complete"`
}

// mostLanguages is the maximum number of languages of a store.
const mostLanguages = 20

// ParseLanguages returns language tags of BCP 47, such as de, de-AT or zh-Hant, in canonical form. It returns
// ErrInvalid if one is malformed or unknown, if two are the same, or if there are more than 20.
func ParseLanguages(list []string) ([]string, error) {
	if len(list) > mostLanguages {
		return nil, fault.Invalid("", "there are %d languages: want at most %d", len(list), mostLanguages)
	}
	out := []string{}
	for _, name := range list {
		tag, err := language.Parse(name)
		if err != nil || !wellFormed(name) || tag == language.Und {
			return nil, fault.Invalid("", "%q is no language: want a tag of BCP 47, such as de, de-AT or zh-Hant", name)
		}
		if slices.Contains(out, tag.String()) {
			return nil, fault.Invalid("", "the language %q is there twice", tag)
		}
		out = append(out, tag.String())
	}
	return out, nil
}

// Languages returns the languages of the store, the base first; none if there is no rule. It takes no Caller: the rule
// belongs to the embedding program.
func (s *Service) Languages(ctx context.Context) ([]string, error) {
	rule, err := s.made().store.languages(ctx)
	return rule.List, err
}

// Languages returns the languages of the store, the base first; none if there is no rule. Every caller may read them.
func (s *Session) Languages(ctx context.Context) ([]string, error) {
	if err := s.by.CheckMethod("appsvc.Languages"); err != nil {
		return nil, err
	}
	return s.service.Languages(ctx)
}

// SetLanguages replaces the languages of the store, up to 20 tags of BCP 47; none takes the rule away. The first one is
// the base, which stands in for what is not translated. See "Languages" of Session. It takes no Caller: the rule
// belongs to the embedding program. When a store gets its first rule, all latest and tagged versions are read once.
//
// It returns the errors of ParseLanguages, and ErrConflict with CodeWrongState if the latest version of an app, deleted
// apps too, or a version that a tag points to has a text in a language that would be taken away.
func (s *Service) SetLanguages(ctx context.Context, list []string) error {
	list, err := ParseLanguages(list)
	if err == nil && len(list) > 0 {
		err = s.made().store.completeSpoken(ctx)
	}
	if err != nil {
		return err
	}
	return s.made().store.update(ctx, func(tx *writer) error {
		rule, err := tx.languages(ctx)
		if err != nil || slices.Equal(rule.List, list) {
			return err
		}
		if err := tx.unspoken(ctx, keyval.Without(rule.List, list)); err != nil {
			return err
		}
		rule.List, rule.Number = list, rule.Number+1
		return tx.setLanguages(ctx, rule)
	})
}

// languages reads the rule.
func (r *reader) languages(ctx context.Context) (rule languages, err error) {
	_, err = keyval.Read(ctx, r, records.LanguagesKey, &rule)
	return rule, err
}

// languages reads the rule.
func (s *store) languages(ctx context.Context) (rule languages, err error) {
	err = s.view(ctx, func(r *reader) (err error) {
		rule, err = r.languages(ctx)
		return err
	})
	return rule, err
}

func (t *writer) setLanguages(ctx context.Context, rule languages) error {
	return t.tx.Put(ctx, keyval.JSON(records.LanguagesKey, rule))
}

// unspoken returns ErrConflict if a latest or a tagged version has one of these languages.
func (t *writer) unspoken(ctx context.Context, list []string) error {
	var used []string
	for _, lang := range list {
		in := records.Under(records.SpokenKind, lang)
		in.Limit, in.Expect = 1, 1
		for e, err := range t.Scan(ctx, in) {
			if err != nil {
				return err
			}
			where := "the latest version"
			of := records.Parts(e.Key, records.SpokenKind)
			if len(of) == 3 {
				where = fmt.Sprintf("the tag %q", of[2])
			}
			used = append(used, fmt.Sprintf("%q (%s of app %q)", lang, where, of[1]))
		}
	}
	if len(used) == 0 {
		return nil
	}
	return fault.Conflict(vitrine.CodeWrongState, vitrine.Version{},
		"languages that latest or tagged versions have cannot be taken away: %s", strings.Join(used, ", "))
}

// spoken returns the records of spoken/ that follow from a version of an app: from one that a tag points to or, with
// "", from the latest one.
func spoken(app, tag string, body Body) (out []storage.Entry, err error) {
	if !mayHaveTexts(body) {
		return nil, nil
	}
	d, err := body.draft()
	if err != nil {
		return nil, err
	}
	found := map[string]string{} // in canonical form, by how they are written
	for _, e := range d.elements {
		_, config, err := e.split()
		if err != nil {
			return nil, err
		}
		eachText(config, func(_, _ int, given []given) {
			for _, g := range given {
				if found[g.lang] == "" {
					found[g.lang] = canonical(g.lang)
				}
			}
		})
	}
	for _, lang := range slices.Compact(slices.Sorted(maps.Values(found))) {
		out = append(out, storage.Entry{Key: records.SpokenKey(lang, app, tag)})
	}
	return out, nil
}

// speaks replaces the records of spoken/ that followed from one version by those that follow from another one. A nil
// body is none. It does nothing in a store that never had a rule.
func (t *writer) speaks(ctx context.Context, app, tag string, was, is Body) error {
	if !mayHaveTexts(was) && !mayHaveTexts(is) {
		return nil
	}
	if rule, err := t.languages(ctx); err != nil || !rule.Complete && rule.Indexed == "" {
		return err
	}
	before, err := spoken(app, tag, was)
	if err != nil {
		return err
	}
	now, err := spoken(app, tag, is)
	if err != nil {
		return err
	}
	return t.Replace(ctx, before, now)
}

// spokenAtOnce is the number of versions after which a transaction of completeSpoken ends.
const spokenAtOnce = 500

// completeSpoken makes the records of spoken/ in a store that never had a rule. Each transaction makes some.
func (s *store) completeSpoken(ctx context.Context) error {
	for complete := false; !complete; {
		err := s.updateAs(ctx, storage.UpdateOptions{Large: true}, func(t *writer) error {
			rule, err := t.languages(ctx)
			if complete = rule.Complete; err != nil || complete {
				return err
			}
			if err := t.moreSpoken(ctx, &rule); err != nil {
				return err
			}
			complete = rule.Complete
			return t.setLanguages(ctx, rule)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// moreSpoken makes the records of spoken/ for some apps after rule.Indexed.
func (t *writer) moreSpoken(ctx context.Context, rule *languages) error {
	var ids []string
	for id, err := range t.AppsAfter(ctx, rule.Indexed, spokenAtOnce) {
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	n := 0
	for _, id := range ids {
		if n >= spokenAtOnce {
			return nil
		}
		of, h, err := t.anyHead(ctx, id)
		if err != nil {
			return err
		}
		versions := []Tag{{AppVersion: h.Version}}
		for tag, err := range t.tags(ctx, records.TagsAfter(id, "", 0)) {
			if err != nil {
				return err
			}
			versions = append(versions, tag)
		}
		for _, v := range versions {
			app, err := of.version(ctx, h, v.AppVersion)
			var puts []storage.Entry
			if err == nil {
				puts, err = spoken(id, v.Name, app.Body)
			}
			if err == nil {
				err = t.tx.Put(ctx, puts...)
			}
			if err != nil {
				return err
			}
		}
		rule.Indexed, n = id, n+len(versions)
	}
	if rule.Complete = len(ids) < spokenAtOnce; rule.Complete {
		rule.Indexed = ""
	}
	return nil
}
