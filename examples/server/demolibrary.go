package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine/assets"
)

var demoLibrary = assets.Library{Network: "demo.test", ID: "demo.test"}

// What the sample posts are made of: each takes the next author, place and sentence.
var (
	demoAuthors = []struct{ username, name string }{
		{"mira", "Mira Okafor"}, {"jonas", "Jonas Lindqvist"}, {"aiko", "Aiko Tanabe"}, {"petra", "Petra Novák"}, {"sam", "Sam Idris"},
	}
	demoPlaces    = []string{"harbour", "market", "old town", "lighthouse", "station", "café", "museum"}
	demoSentences = []string{
		"Morning light over the <b>%s</b> #dawn", "Queue outside the %s, worth the wait", "Found a mural behind the %s #streetart",
		"Live music at the %s tonight", "The %s in the rain, who else loves it?", "First snow on the roofs of the %s #winter",
	}
)

// fillLibrary adds folders, one of them restricted, and a few dozen posts with attributes.
func fillLibrary(ctx context.Context, s *assets.Service, by assets.Caller) error {
	created, err := s.ChangeFolders(ctx, by, demoLibrary, assets.ChangeFolders{Create: []assets.NewFolder{
		{Label: "Campaigns"}, {Label: "Community"},
		{Label: "Drafts", Permissions: []assets.Permission{{Operation: "edit", Role: &assets.Subject{ID: "editor", Name: "Editor"}}}},
	}})
	if err != nil {
		return err
	}
	winter, err := s.ChangeFolders(ctx, by, demoLibrary, assets.ChangeFolders{
		Create: []assets.NewFolder{{Label: "Winter", Path: "/" + created[0].ID}}})
	if err != nil {
		return err
	}
	folders := append(created, winter...)
	var in assets.ChangeAssets
	for i := range 42 {
		in.Add = append(in.Add, demoPost(i, folders[i%len(folders)].ID))
	}
	posts, err := s.ChangeAssets(ctx, by, demoLibrary, in)
	if err != nil {
		return err
	}
	for i, color := range []string{"amber", "blue", "green"} {
		_, err := s.ChangeAttributes(ctx, by, demoLibrary, assets.ChangeAttributes{
			Assets: []string{posts.Added[i].ID, posts.Added[i+10].ID}, Add: []assets.Attribute{{Key: "color", Value: color}}})
		if err != nil {
			return err
		}
	}
	return nil
}

// demoPost is the i-th post.
func demoPost(i int, folder string) assets.NewAsset {
	author, place := demoAuthors[i%len(demoAuthors)], demoPlaces[i%len(demoPlaces)]
	content, _ := json.Marshal(map[string]any{ // strings only: it cannot fail
		"content": fmt.Sprintf(demoSentences[i%len(demoSentences)], place),
		"lang":    "en",
		"attributedTo": map[string]any{"id": author.username, "username": author.username, "displayName": author.name,
			"url": map[string]string{"href": "https://social.demo.test/" + author.username}},
	})
	return assets.NewAsset{
		ID: fmt.Sprintf("post-%d", i+1), Generator: assets.Generator{ID: "social.demo.test"},
		Content: content, Folders: []string{folder}, SafeTags: []string{"demo", author.username},
	}
}
