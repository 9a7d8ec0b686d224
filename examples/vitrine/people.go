package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage"
)

// oidcUsage says what -oidc wants.
const oidcUsage = "`file` with the OpenID Connect provider through which people sign in, in JSON: {issuer, " +
	"clientID, clientSecretFile, name, network, scopes, claim, gives}"

// baseURLUsage says what -base-url wants.
const baseURLUsage = "`URL` of the base path as clients know it, at which people sign in (https) (default: as each " +
	"request names the host, and http://localhost:PORT for people)"

// provider reads the file of -oidc; "" is none.
func (p *program) provider(file string) (out *signin.Provider, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		out, err = signin.ParseProvider(text, func(name string) ([]byte, error) { return p.readShared("file", name) })
	}
	if err != nil {
		err = usageError{fmt.Errorf("-oidc %s: %w", file, err)}
	}
	return out, err
}

// local returns the address of a server without TLS for browsers of this machine, which trust localhost as they trust
// TLS. It returns other addresses as they are.
func local(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip.IsLoopback() && (ip.To4() == nil || ip.Equal(net.IPv4(127, 0, 0, 1))) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

// firstPerson returns a text that tells the operator how to create the first person, "" if there are people. Only this
// process can reach a store in memory, so it creates the invitation itself for such a store.
func firstPerson(ctx context.Context, people *signin.Service, db string) (string, error) {
	some, err := people.Any(ctx)
	if err != nil || some || people.Origin() == "" {
		return "", err
	}
	if db == inMemory {
		link, err := people.Invite(ctx, signin.Invitation{Name: "Administrator", Rights: signin.Rights{Admin: true}})
		return "\nnobody can sign in yet. Open this link to become the administrator:\n" + link + "\n", err
	}
	db, secret := withoutPassword(db)
	with := "This"
	if secret {
		with = "With the password of the database in PGPASSWORD, or in the file that PGPASSFILE names, this"
	}
	return "\nnobody can sign in yet. " + with + " prints a link for an administrator:\nvitrine invite -db " +
		quoted(db) + " -name NAME -moderates urn:vitrine:NETWORK -admin\n", nil
}

// quoted returns a word as a shell reads it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// rightsFlags declares the flags of the rights of a person or another user, and returns the rights that they will set.
func rightsFlags(f *flag.FlagSet, who string) *signin.Rights {
	var r signin.Rights
	for _, list := range []struct {
		name, usage string
		to          *[]string
	}{
		{"moderates", "`URNs` of the networks and sites that the " + who + " moderates", &r.Moderates},
		{"reads", "`URNs` of the networks and sites whose apps the " + who + " may read and not change", &r.Reads},
		{"roles", "`ids` of the " + who + "'s roles", &r.Roles},
		{"groups", "`URNs` of the " + who + "'s groups", &r.Groups},
	} {
		f.Func(list.name, list.usage+", separated by commas", func(text string) error {
			*list.to = items(text)
			return nil
		})
	}
	f.BoolVar(&r.Components, "components", false,
		"the "+who+" may create and delete components: a right over the whole store, in all networks")
	return &r
}

// invite is the command invite: it prints a link with which a person registers a passkey.
func invite(f *flag.FlagSet) action {
	db := dbFlag(f)
	base := f.String("base-url", "",
		"`URL` of the server, which the link begins with (default: the last address of a server of this store; one "+
			"without -base-url does not replace an address with https)")
	name := f.String("name", "", "`name` of the person")
	email := f.String("email", "", "`address` of the person, which other people of the network do not see")
	urn := f.String("urn", "", "`URN` of a person who is there already, as vitrine people prints it, "+
		"also of who has lost a passkey, or for a new person (default: a new one)")
	network := f.String("network", "",
		"`URN` or name of the network that a new person belongs to (default: that of -moderates)")
	rights := rightsFlags(f, "person")
	f.BoolVar(&rights.Admin, "admin", false,
		"the person is an administrator: may do everything with people and keys of all networks, moderates the "+
			"network of their own URN, and may create and delete components")
	return func(ctx context.Context, p *program) (err error) {
		if *name == "" && *urn == "" {
			return usageError{errors.New("want -name, the name of a new person, such as 'Ann Smith', or -urn, of one " +
				"who is there")}
		}
		isNew := absent(*db)
		s, err := p.openToFill(ctx, *db)
		if err != nil {
			return err
		}
		if isNew {
			fmt.Fprintf(p.stderr, "vitrine: warning: there was no store at %s: this is a new one, which serve -db "+
				"%[1]s serves; if there should be one, remove this, and see whether -db is right\n", quoted(*db))
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if *base == "" {
			if *base, err = signin.Base(ctx, s); err != nil {
				return err
			}
			*base = cmp.Or(*base, "http://"+local(defaultAddr))
			if strings.HasPrefix(*base, "http:") {
				fmt.Fprintf(p.stderr,
					"vitrine: the link is for a browser of this machine, and for the last address of the server, "+
						"%s: -base-url names another\n", *base)
			}
		}
		service, err := signin.New(s, signin.Options{BaseURL: *base, Log: slog.New(slog.NewTextHandler(p.stderr, nil))})
		if err == nil && service.Origin() == "" {
			err = usageError{fmt.Errorf("-base-url %q: want https://… with the name of a host, or "+
				"http://localhost:…", *base)}
		}
		if err != nil {
			return err
		}
		if *urn == "" && *network == "" && len(rights.Moderates)+len(rights.Reads)+len(rights.Groups) == 0 {
			fmt.Fprintln(p.stderr,
				"vitrine: warning: a person without a network gets urn:vitrine:default, and the console shows the "+
					"apps of that network alone: name the one that the person is to work in with -moderates")
		}
		if *network != "" && !strings.Contains(*network, ":") { // as in the file of -oidc
			*network = "urn:vitrine:" + *network
		}
		if *urn != "" {
			if _, _, err := service.Rights(ctx, *urn); errors.Is(err, vitrine.ErrNotFound) {
				if *name == "" {
					return usageError{fmt.Errorf("-urn: no person has %s: vitrine people lists them, and -name NAME "+
						"makes a new one", *urn)}
				}
				fmt.Fprintf(p.stderr, "vitrine: warning: no person has %s: this makes a new one\n", printable(*urn))
			}
		} else {
			others, err := signin.People(ctx, s)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(others, func(o signin.Person) bool { return o.Name == *name }); i >= 0 {
				fmt.Fprintf(p.stderr,
					"vitrine: warning: this makes another person called %s: -urn %s is a new link for the one who "+
						"is there already\n", printable(*name), others[i].URN)
			}
		}
		link, err := service.Invite(ctx, signin.Invitation{
			URN: *urn, Name: *name, Email: *email, Network: *network, Rights: *rights})
		if err != nil {
			if errors.Is(err, vitrine.ErrInvalid) {
				// it begins with the pointer of a member
				return usageError{fmt.Errorf("-%s", strings.TrimPrefix(err.Error(), "/"))}
			}
			return err
		}
		_, err = fmt.Fprintln(p.stdout, link)
		return err
	}
}

// people is the command people: it prints who may sign in.
func people(f *flag.FlagSet) action {
	db := dbFlag(f)
	return func(ctx context.Context, p *program) error {
		return readStore(ctx, *db, func(s storage.Store) error {
			list, err := signin.People(ctx, s)
			for _, one := range list {
				_, failed := fmt.Fprintf(p.stdout, "%s\t%s\t%s\n", one.URN, printable(one.Name), standing(one))
				err = cmp.Or(err, failed)
			}
			return err
		})
	}
}

// standing says whether a person is an administrator, how they sign in, and when they were there last.
func standing(one signin.Person) string {
	var all []string
	say := func(is bool, format string, of ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, of...))
		}
	}
	say(one.Disabled, "disabled")
	say(one.Rights.Admin, "administrator")
	say(one.Passkeys > 0, "passkeys: %d", one.Passkeys)
	say(one.Provider != "", "signs in through %s", printable(one.Provider))
	say(one.Passkeys == 0 && one.Provider == "", "no passkey yet")
	say(one.Invited.After(time.Now()), "invited until %s", one.Invited.Format(time.RFC3339))
	say(!one.Seen.IsZero(), "last seen %s", one.Seen.Format(time.RFC3339))
	return strings.Join(all, ", ")
}
