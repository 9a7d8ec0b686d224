package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// token prints a token for the user that its flags describe.
func token(_ context.Context, p *program, args []string) error {
	f := flags("token")
	db, keyFile := dbFlag(f), f.String("key-file", "", keyUsage)
	urn := f.String("urn", "", "`URN` of the user, such as urn:vitrine:example.test:user=editor")
	moderates := f.String("moderates", "", "`URNs` of the networks and sites that the user moderates, with commas")
	roles, groups := f.String("roles", "", "`ids` of the user's roles, with commas"), f.String("groups", "", "`URNs` of the user's groups, with commas")
	components := f.Bool("components", false, "the user may create and delete components")
	ttl := f.Duration("ttl", 24*time.Hour, "how `long` the token is good")
	if err := parse(f, args); err != nil {
		return err
	}
	if *urn == "" {
		return usageError{errors.New("token: -urn is missing: want the URN of a user, such as urn:vitrine:example.test:user=editor")}
	}
	who := httpapi.Principal{URN: *urn, Moderates: items(*moderates), Roles: items(*roles), Groups: items(*groups), Components: *components}
	for _, u := range append([]string{who.URN}, who.Moderates...) {
		if !strings.HasPrefix(u, "urn:") {
			return usageError{fmt.Errorf("token: %q is no URN: want urn:<vendor>:<network>, then :site=<id> or :user=<id>", u)}
		}
	}
	check, variable := checkDB, p.getenv(keyVariable)
	if *keyFile == "" && variable == "" {
		check = checkFile // the key is beside it
	}
	if err := check(*db); err != nil {
		return err
	}
	key, err := signingKey(*db, *keyFile, variable)
	if err != nil {
		return err
	}
	tokens, err := httpapi.NewTokens(key, nil)
	if err != nil {
		return err
	}
	text, err := tokens.Sign(who, time.Now().Add(*ttl))
	if err != nil {
		return err
	}
	if *ttl <= 0 {
		fmt.Fprintf(p.stderr, "server: token: with -ttl %s the token has expired already\n", *ttl)
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}

// items splits a list at its commas.
func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
