package assets

import (
	"encoding/json"
	"fmt"
	"slices"
)

// NewAsset is an asset to add (contract, section 4.2, A2). Generator, ID and Content are required.
type NewAsset struct {
	ID        string          `json:"id"` // foreign: of the content in its originating service
	Generator Generator       `json:"generator"`
	Content   json.RawMessage `json:"content"` // an object; its id, generator and published are not used
	Folders   []string        `json:"folders"` // ids of folders to add it to
	SafeTags  []string        `json:"safe_tags"`
	Via       *int64          `json:"via"`
	Rights    *int64          `json:"rights"`
}

// Generator is the service that a content originates from.
type Generator struct {
	ID string `json:"id"`
}

// draft is a NewAsset that is well-formed, with all the work done that needs no store.
type draft struct {
	NewAsset
	origin  Origin
	content []byte   // but for its last member; see contentHead
	text    []string // terms
}

// draft checks the asset, which stands at the pointer at.
func (in NewAsset) draft(at string, lim Limits) (draft, error) {
	d := draft{NewAsset: in, origin: originOf(in.Generator.ID, in.ID)}
	if err := checkName(at+"/id", in.ID, lim.Text); err != nil {
		return d, err
	}
	if err := checkName(at+"/generator/id", in.Generator.ID, lim.Name); err != nil {
		return d, err
	}
	if len(in.SafeTags) > lim.Tags {
		return d, invalidAt(at+"/safe_tags", "has %d tags, at most %d are allowed", len(in.SafeTags), lim.Tags)
	}
	for i, tag := range in.SafeTags {
		if err := checkName(fmt.Sprintf("%s/safe_tags/%d", at, i), tag, lim.Name); err != nil {
			return d, err
		}
	}
	d.SafeTags = unique(in.SafeTags)
	d.Folders = unique(in.Folders)
	if len(in.Content) == 0 {
		return d, invalidAt(at, "member \"content\" is missing")
	}
	var err error
	if d.content, err = contentHead(in.Content, in.ID, in.Generator.ID, at+"/content"); err != nil {
		return d, err
	}
	d.text, err = searchable(append(slices.Clip(d.content), '}'))
	return d, err
}

// applyTo replaces what the draft has of an asset's parts.
func (d draft) applyTo(p *parts, createdAt int64) {
	p.content, p.generator = finishContent(d.content, createdAt), d.Generator.ID
	if d.SafeTags != nil {
		p.tags = d.SafeTags
	}
	if d.Via != nil {
		p.via = d.Via
	}
	if d.Rights != nil {
		p.rights = d.Rights
	}
}

// unique returns the list without repeats, in its order; nil stays nil.
func unique[T comparable](list []T) []T {
	if list == nil {
		return nil
	}
	seen := make(map[T]bool, len(list))
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
