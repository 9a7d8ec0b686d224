package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// token is the command token: it prints a signed token for the user that its flags describe. It creates no key: no
// server would verify the tokens of a new one.
func token(f *flag.FlagSet) action {
	db, keyFile := dbFlag(f), f.String("key-file", "", keyUsage)
	urn := f.String("urn", "", "`URN` of the user, such as urn:vitrine:example.test:user=editor")
	rights := rightsFlags(f, "user")
	var who httpapi.Principal
	f.Func("tags",
		"`names` of tags, separated by commas: the token reads the apps of -reads by these tags and does nothing "+
			"else, so that it can stand in a public page",
		func(list string) error {
			who.TagsOnly, who.Tags = true, items(list)
			for _, name := range who.Tags {
				if !appsvc.ValidTagName(name) {
					return fmt.Errorf("%q cannot name a tag: want names such as production, without patterns", name)
				}
			}
			if len(who.Tags) == 0 {
				return errors.New("it names no tag, so the token would be good for nothing: want names such as " +
					"production")
			}
			return nil
		})
	ttl := lifetime(24 * time.Hour)
	f.Var(&ttl, "ttl", "`duration` that the token is good for, such as 90m or 30d")
	return func(ctx context.Context, p *program) error {
		if *urn == "" {
			return usageError{errors.New("-urn is missing: want the URN of a user, such as " +
				"urn:vitrine:example.test:user=editor")}
		}
		who.URN, who.Moderates, who.Reads = *urn, rights.Moderates, rights.Reads
		who.Roles, who.Groups, who.Components = rights.Roles, rights.Groups, rights.Components
		if err := who.Check(); err != nil {
			return usageError{errors.New(namesClaims.Replace(err.Error()))}
		}
		if err := checkKind(*db); err != nil {
			return err
		}
		if p.keyIsBeside(*db, *keyFile) { // a key that is given needs no store
			if err := checkDB(*db); err != nil {
				return err
			}
			if err := readStore(ctx, *db, func(storage.Store) error { return nil }); errors.Is(err, errNoStore) {
				return exitError{fmt.Errorf("%w; or name a key file with -key-file", err), exitUsage}
			} else if err != nil {
				return err
			}
		}
		tokens, err := p.signer(*db, *keyFile)
		if err != nil {
			return err
		}
		text, err := tokens.Sign(who, time.Now().Add(time.Duration(ttl)))
		if err != nil {
			return err
		}
		if who.Components {
			fmt.Fprintln(p.stderr,
				"vitrine: this token may create and delete the components of all networks: -components is a right "+
					"over the whole store")
		}
		_, err = fmt.Fprintln(p.stdout, text)
		return err
	}
}

// lifetime is a duration above 0 that may be given in days, such as 30d.
type lifetime time.Duration

// String returns the duration as it may be given.
func (l *lifetime) String() string { return time.Duration(*l).String() }

// Set reads a number of days, or what time.ParseDuration takes.
func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		if n, err = strconv.ParseUint(days, 10, 16); err != nil || n > maxDays {
			return fmt.Errorf("want a whole number of days, at most %d", maxDays)
		}
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0 with its unit, such as 12h or 30d")
	}
	*l = lifetime(d)
	return nil
}

// maxDays is the longest lifetime of a token in days, a hundred years.
const maxDays = 36500

// namesClaims replaces the names of claims by the flags that they come from.
var namesClaims = strings.NewReplacer("sub: ", "-urn: ", "moderates/", "-moderates/", "reads/", "-reads/",
	"roles, groups and tags: ", "-roles, -groups and -tags: ")

// items returns the items of a list that are separated by commas or spaces.
func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
