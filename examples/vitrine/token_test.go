package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestTokenFlags reads the claims of tokens back.
func TestTokenFlags(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("a key for tests, 32 bytes long.."), 0o600); err != nil {
		t.Fatal(err)
	}
	const user, site, network = "urn:vitrine:example.test:user=x", "urn:vitrine:example.test:site=1",
		"urn:vitrine:example.test"
	for _, c := range []struct {
		args   string
		claims map[string]any
		life   time.Duration
	}{
		{"", map[string]any{}, 24 * time.Hour},
		{"-ttl 30d", map[string]any{}, 30 * 24 * time.Hour},
		{"-ttl 90m", map[string]any{}, 90 * time.Minute},
		{"-ttl 36500d", map[string]any{}, 36500 * 24 * time.Hour},
		{"-reads " + site + "," + network, map[string]any{"reads": []any{site, network}}, 24 * time.Hour},
		{"-reads " + site + " -tags production,draft -ttl 365d",
			map[string]any{"reads": []any{site}, "tags": []any{"production", "draft"}}, 365 * 24 * time.Hour},
		{"-moderates " + site + " -roles a,b -groups " + network + ":group=1",
			map[string]any{"moderates": []any{site}, "roles": []any{"a", "b"}, "groups": []any{network + ":group=1"}},
			24 * time.Hour},
	} {
		before := time.Now().Truncate(time.Second)
		out := run(t, dir, nil,
			append([]string{"token", "-db", "none/v.db", "-key-file", "key", "-urn", user},
				strings.Fields(c.args)...)...)
		after := time.Now()
		if out.status != 0 || out.stderr != "" {
			t.Errorf("%s: %+v", c.args, out)
			continue
		}
		have := claimsOf(t, out.stdout)
		expires := time.Unix(int64(have["exp"].(float64)), 0)
		if expires.Before(before.Add(c.life)) || expires.After(after.Add(c.life)) {
			t.Errorf("%s: expires at %v, want %v from now", c.args, expires, c.life)
		}
		delete(have, "exp")
		c.claims["sub"] = user
		if !reflect.DeepEqual(have, c.claims) {
			t.Errorf("%s: claims %v, want %v", c.args, have, c.claims)
		}
	}
	for args, says := range map[string]string{
		"-ttl 0":             "want a duration above 0",
		"-ttl -1h":           "want a duration above 0",
		"-ttl 36501d":        "at most 36500",
		"-ttl -3d":           "whole number of days",
		"-ttl 1.5d":          "whole number of days",
		"-ttl soon":          "-ttl",
		"-tags ,":            "names no tag",
		"-tags=":             "names no tag",
		"-tags x,preview-*":  `"preview-*" cannot name a tag`,
		"-reads urn:x":       "-reads",
		"-reads " + user:     "-reads",
		"-moderates " + user: "-moderates",
	} {
		out := run(t, dir, nil,
			append([]string{"token", "-db", "memory:", "-key-file", "key", "-urn", user}, strings.Fields(args)...)...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, says) {
			t.Errorf("%s: %+v, want %q", args, out, says)
		}
	}
}

// claimsOf decodes the payload of a token.
func claimsOf(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no token", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return claims
}
