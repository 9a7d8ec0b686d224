package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// demoLibrary is the library of the sample posts: the one that every network has.
var demoLibrary = assets.Library{Network: "demo.test", ID: "demo.test"}

// demoHandles are the authors of the sample posts, each with the language that they write in.
var demoHandles = []struct{ id, name, lang string }{
	{"first-ferry", "First Ferry", "en"}, {"nachteule", "Nachteule", "de"}, {"window-seat", "Window Seat", "en"}, {"user-17", "user-17", "en"},
	{"petit-dejeuner", "Petit Déjeuner", "fr"}, {"slow-coffee", "Slow Coffee", "en"}, {"user-204", "user-204", "es"}, {"rainy-day", "Rainy Day", "en"},
	{"passeggiata", "Passeggiata", "it"}, {"bike-lane", "Bike Lane", "en"}, {"moewe", "Möwe", "de"}, {"last-tram", "Last Tram", "en"},
}

// demoWords are what the posts in a language are made of: a sentence names a place, and the tag says what it is about.
var demoWords = map[string]struct {
	places    []string
	sentences []struct{ text, tag string }
}{
	"en": {[]string{"harbour", "market", "old town", "lighthouse", "station", "café", "museum"}, []struct{ text, tag string }{
		{"Morning light over the <b>%s</b> #dawn", "photo"}, {"Queue outside the %s, worth the wait", "story"}, {"Found a mural behind the %s #streetart", "photo"},
		{"Live music at the %s tonight", "event"}, {"The %s in the rain, who else loves it?", "question"}, {"First snow on the roofs of the %s #winter", "winter"},
		{"Crêpes at the %s, still warm", "food"}, {"From the ferry you see the %s best", "ferry"}, {"<p>Ten minutes by bike to the %s &amp; back.</p><p>Flat all the way.</p>", "story"},
		{"When does the %s open on Sundays?", "question"}, {"Lost a blue umbrella near the %s", "question"}, {"They are hanging the winter lights at the %s", "winter"},
	}},
	"de": {[]string{"Hafen", "Markt", "Leuchtturm", "Bahnhof"}, []struct{ text, tag string }{
		{"Abendstimmung am %s #abendlicht", "photo"}, {"Am %s gibt es wieder Quittengelee", "food"}, {"Wann fährt die letzte Fähre vom %s?", "ferry"}, {"Erster Schnee am %s, schön still", "winter"},
	}},
	"fr": {[]string{"port", "marché", "musée"}, []struct{ text, tag string }{
		{"Un café au soleil, près du %s", "food"}, {"La fête commence au %s à huit heures", "event"}, {"Qui connaît l’histoire du %s ?", "question"},
	}},
	"es": {[]string{"puerto", "mercado", "faro"}, []struct{ text, tag string }{
		{"Mañana hay música en el %s", "event"}, {"El %s desde el barco, qué vista", "ferry"}, {"Churros en el %s, muy temprano", "food"},
	}},
	"it": {[]string{"porto", "mercato", "faro"}, []struct{ text, tag string }{
		{"Passeggiata fino al %s al tramonto #luce", "photo"}, {"Nel %s hanno acceso le luci d’inverno", "winter"}, {"Storie dal %s, di chi ci lavora", "story"},
	}},
}

// demoSources are the services that the posts came from.
var demoSources = []string{"social.demo.test", "photos.demo.test", "forum.demo.test"}

// demoPosts is the number of sample posts, and demoBatch how many of them are added at a time.
const (
	demoPosts = 126
	demoBatch = 6
)

// demoMember returns one of the users as a member of the network. The newsdesk moderates the network. The editor has
// the rights that folders give to the role, and does not see the embargoed folders.
func demoMember(name string) vitrine.Caller {
	by := vitrine.Caller{URN: demoNetwork + ":user=" + name, Roles: []string{name}}
	if name == byNewsdesk {
		by.Moderates = []string{demoNetwork}
	}
	return by
}

// demoFolders is the tree of the sample library, each folder with the place of the one above it in this list.
var demoFolders = []struct {
	label  string
	below  int // -1 = top level
	closed bool
	grants []assets.Permission
}{
	{"Campaigns", -1, false, nil},
	{"Community", -1, false, nil},
	{"Press", -1, false, []assets.Permission{demoGrant(assets.View, byEditor, "Editors"), demoGrant(assets.Manage, "press", "Press office")}},
	{"Drafts", -1, false, []assets.Permission{demoGrant(assets.Edit, byEditor, "Editors")}},
	{"Winter lights", 0, false, nil},
	{"Harbour festival", 0, false, nil},
	{"Questions", 1, false, nil},
	{"Stories", 1, false, nil},
	{"Embargoed", 2, true, []assets.Permission{demoGrant(assets.Manage, "press", "Press office"),
		{Operation: assets.View, User: &assets.Subject{ID: byRelease, Name: "Release manager"}}}},
}

// demoGrant returns a permission for a role.
func demoGrant(o assets.Operation, role, name string) assets.Permission {
	return assets.Permission{Operation: o, Role: &assets.Subject{ID: role, Name: name}}
}

// fillLibrary adds folders, some of them restricted, and posts with attributes.
func fillLibrary(ctx context.Context, s *assets.Service, clock *demoClock) error {
	clock.now = clock.time(demoTime{9, 9, 0})
	folders, err := fillFolders(ctx, s)
	if err != nil {
		return err
	}
	var ids []string
	for first := 0; first < demoPosts; first += demoBatch {
		batch := first / demoBatch
		clock.now = clock.time(demoTime{9, 10, 0}).Add(time.Duration(batch) * 9 * 24 * time.Hour / (demoPosts/demoBatch + 1))
		by := byNewsdesk
		in := assets.ChangeAssetsRequest{}
		for i := first; i < first+demoBatch; i++ {
			in.Add = append(in.Add, demoPost(i, folders))
		}
		if batch%5 == 3 { // the editor writes drafts alone
			by = byEditor
			for i := range in.Add {
				in.Add[i].Folders = []string{folders["Drafts"]}
			}
		}
		out, err := s.ChangeAssets(ctx, demoMember(by), demoLibrary, in)
		if err != nil {
			return err
		}
		for _, a := range out.Added {
			ids = append(ids, a.ID)
		}
	}
	clock.now = clock.time(demoTime{0, 1, 10})
	return fillAttributes(ctx, s, ids)
}

// fillFolders adds the folders and returns their ids by label.
func fillFolders(ctx context.Context, s *assets.Service) (map[string]string, error) {
	ids := map[string]string{}
	for i := 0; i < len(demoFolders); {
		var in assets.ChangeFoldersRequest // those of one level, whose parents are there
		from := i
		for ; i < len(demoFolders) && (demoFolders[i].below < 0) == (demoFolders[from].below < 0); i++ {
			f := demoFolders[i]
			inherits := !f.closed
			add := assets.NewFolder{Label: f.label, Inherit: &inherits, Permissions: f.grants}
			if f.below >= 0 {
				add.Path = "/" + ids[demoFolders[f.below].label]
			}
			in.Create = append(in.Create, add)
		}
		made, err := s.ChangeFolders(ctx, demoMember(byNewsdesk), demoLibrary, in)
		if err != nil {
			return nil, err
		}
		for _, f := range made {
			ids[f.Label] = f.ID
		}
	}
	return ids, nil
}

// fillAttributes gives some of the posts attributes: a decision, a campaign, a color.
func fillAttributes(ctx context.Context, s *assets.Service, ids []string) error {
	for _, a := range []struct {
		key, value  string
		first, step int
	}{
		{"status", "approved", 0, 2}, {"status", "waiting", 1, 4}, {"status", "declined", 3, 12},
		{"campaign", "winter lights", 0, 5}, {"campaign", "harbour festival", 2, 7}, {"color", "amber", 4, 9}, {"color", "blue", 5, 9}, {"color", "green", 6, 11},
	} {
		in := assets.ChangeAttributesRequest{Add: []assets.Attribute{{Key: a.key, Value: a.value}}}
		for i := a.first; i < len(ids); i += a.step {
			in.Assets = append(in.Assets, ids[i])
		}
		if _, err := s.ChangeAttributes(ctx, demoMember(byNewsdesk), demoLibrary, in); err != nil {
			return err
		}
	}
	return nil
}

// demoPost returns the i-th post. Everything in it follows from i, so every store has the same posts.
func demoPost(i int, folders map[string]string) assets.NewAsset {
	author := demoHandles[i*5%len(demoHandles)]
	words := demoWords[author.lang]
	sentence, place := words.sentences[(i+i/len(demoHandles))%len(words.sentences)], words.places[i%len(words.places)]
	content := map[string]any{
		"content": fmt.Sprintf(sentence.text, place),
		"lang":    author.lang,
		"attributedTo": map[string]any{"id": author.id, "username": author.id, "displayName": author.name,
			"url": map[string]string{"href": "https://social.demo.test/" + author.id}},
		"socialnet": map[string]int{"retweets": i * 13 % 41, "favorites": i * 29 % 97},
	}
	if i%8 == 2 {
		content["attachment"] = []map[string]any{{"version": "1.0", "type": "link", "title": "All about the " + place,
			"url": map[string]string{"href": fmt.Sprintf("https://guide.demo.test/%d", i)}, "provider_name": "guide.demo.test"}}
	}
	text, _ := json.Marshal(content) // strings and numbers only: it cannot fail
	via, rights := int64(1+i%3), int64(1+i%7/4)
	return assets.NewAsset{
		ID: fmt.Sprintf("post-%d", i+1), Generator: assets.Generator{ID: demoSources[i/2%len(demoSources)]},
		Content: text, Folders: demoPlaces(i, sentence.tag, folders), SafeTags: []string{sentence.tag, author.lang}, Via: &via, Rights: &rights,
	}
}

// demoPlaces returns the ids of the folders of the i-th post: one, two or none.
func demoPlaces(i int, tag string, folders map[string]string) []string {
	in := map[string]string{"winter": "Winter lights", "event": "Harbour festival", "question": "Questions", "story": "Stories"}[tag]
	switch {
	case i%13 == 5:
		return []string{folders["Embargoed"]}
	case i%11 == 4:
		return []string{folders["Press"]}
	case in == "":
		return nil
	case i%9 == 1:
		return []string{folders[in], folders["Community"]}
	}
	return []string{folders[in]}
}
