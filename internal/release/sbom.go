package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// bill is a software bill of materials (SBOM) in the format CycloneDX 1.5.
type bill struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

// metadata says what the bill is about.
type metadata struct {
	Timestamp string    `json:"timestamp"` // of the commit
	Component component `json:"component"`
}

// component is the program, a module that it links, or the standard library.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

// property is a fact for which CycloneDX has no field.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dependency says which components another one uses directly.
type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// sbom returns the bill of a program. Everything in it comes from the build information that Go puts into a program.
func sbom(info *debug.BuildInfo, committed time.Time) ([]byte, error) {
	program := moduleComponent("application", info.Main.Path, info.Main.Version)
	program.URL += "#" + strings.TrimPrefix(strings.TrimPrefix(info.Path, info.Main.Path), "/")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision", "GOOS", "GOARCH":
			program.Properties = append(program.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	std := moduleComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"))
	all := []component{std}
	uses := dependency{program.Ref, []string{std.Ref}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: a release links what its go.mod requires", m.Path, m.Replace.Path)
		}
		c := moduleComponent("library", m.Path, m.Version)
		hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(hash) == 0 {
			return nil, fmt.Errorf("%s has no sum in go.sum: %q", m.Path, m.Sum)
		}
		// The sum is of a list of the module's files, and not of one file, so it is no hash in the sense of the format.
		c.Properties = []property{{"go:sum:h1", hex.EncodeToString(hash)}}
		all = append(all, c)
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	list := bill{"CycloneDX", "1.5", 1, metadata{committed.Format(time.RFC3339), program}, all, []dependency{uses}}
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// moduleComponent returns a Go module as a component.
func moduleComponent(kind, path, version string) component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: url, Name: path, Version: version, URL: url}
}

// commitTime returns the time of the commit that a program was built from.
func commitTime(info *debug.BuildInfo) (time.Time, error) {
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, err := time.Parse(time.RFC3339, s.Value)
			return at.UTC(), err
		}
	}
	return time.Time{}, fmt.Errorf("the program does not say which commit it was built from")
}
