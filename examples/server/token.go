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
	ttl := f.Duration("ttl", 24*time.Hour, "`duration` that the token is good for, such as 90m")
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
	if *ttl <= 0 {
		return usageError{fmt.Errorf("token: -ttl %s: want a duration above 0, such as 90m", *ttl)}
	}
	check := checkDB
	if *keyFile == "" && p.getenv(keyVariable) == "" {
		check = checkFile // the key is beside it
	}
	if err := check(*db); err != nil {
		return err
	}
	tokens, err := p.signer(*db, *keyFile)
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	text, err := tokens.Sign(who, time.Now().Add(*ttl))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}

// items splits a list at its commas.
func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
