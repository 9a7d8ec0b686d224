package main

import (
	"context"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// The users who have made the sample apps, named for what they do.
const (
	byDesigner = "designer"
	byEditor   = "editor"
	byNewsdesk = "newsdesk"
	byRelease  = "release-manager"
)

// demoSites are the sites of the sample network. Everybody may change the apps of each.
var demoSites = []string{demoNetwork + ":site=news", demoNetwork + ":site=blog", demoNetwork + ":site=shop", demoNetwork + ":site=events"}

// demoAuthor returns one of the users as a caller.
func demoAuthor(name string) vitrine.Caller {
	return vitrine.Caller{URN: demoNetwork + ":user=" + name, Moderates: demoSites}
}

// demoApp is a sample app with its history: how it was created, and what was done to it since.
type demoApp struct {
	title, site string
	elements    []appsvc.NewElement
	made        demoTime
	by          string
	steps       []demoStep
}

// demoStep is one change of an app: when, by whom and what.
type demoStep struct {
	at demoTime
	by string
	do demoAction
}

// demoAction makes a change of an app.
type demoAction func(ctx context.Context, apps *appsvc.Session, id string) error

// edited returns the action that patches the app and so makes a version.
func edited(change func(p *appsvc.PatchBuilder)) demoAction {
	return func(ctx context.Context, apps *appsvc.Session, id string) error {
		_, err := appsvc.EditApp(ctx, apps, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			change(p)
			return p.Err()
		})
		return err
	}
}

// tagged returns the action that sets a tag.
func tagged(name string, v vitrine.Version) demoAction {
	return func(ctx context.Context, apps *appsvc.Session, id string) error {
		_, err := apps.PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: v})
		return err
	}
}

// restored returns the action that restores an earlier version.
func restored(v vitrine.Version) demoAction {
	return func(ctx context.Context, apps *appsvc.Session, id string) error {
		_, err := apps.Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: v})
		return err
	}
}

// The edits that the sample apps are made of.

func titled(title string) demoAction {
	return edited(func(p *appsvc.PatchBuilder) { p.SetTitle(title) })
}

func set(element int, pointer string, value any) demoAction {
	return edited(func(p *appsvc.PatchBuilder) { p.SetConfig(element, pointer, value) })
}

func inserted(at int, e appsvc.NewElement) demoAction {
	return edited(func(p *appsvc.PatchBuilder) { p.InsertElement(at, e) })
}

func moved(from, to int) demoAction {
	return edited(func(p *appsvc.PatchBuilder) { p.MoveElement(from, to) })
}

func removed(at int) demoAction {
	return edited(func(p *appsvc.PatchBuilder) { p.RemoveElement(at) })
}

func element(name, version, config string) appsvc.NewElement {
	return appsvc.NewElement{Component: appsvc.ComponentRef{Name: name, Version: version}, Config: []byte(config)}
}

// fillApps adds the sample components and apps. All their changes, of whatever app, are made in the order of their
// times, as the feed of changes needs it. It returns the id of the first app.
func fillApps(ctx context.Context, s *appsvc.Service, clock *demoClock) (first string, err error) {
	type scene struct {
		at  time.Time
		act func() error
	}
	var scenes []scene
	component := func(at demoTime, manifest string) {
		scenes = append(scenes, scene{clock.time(at), func() error {
			by := demoAuthor(byDesigner)
			by.Components = true
			_, err := s.CreateComponent(ctx, by, appsvc.CreateComponentRequest{Manifest: []byte(manifest)})
			return err
		}})
	}
	for i, manifest := range []string{demoFeed10, demoPoll1, demoCountdown, demoMap, demoAnalytics} {
		component(demoTime{9, 8, i}, manifest)
	}
	component(demoTime{5, 13, 30}, demoFeed11)
	component(demoTime{1, 16, 10}, demoPoll2)
	for i, a := range demoApps(clock) {
		var id string
		scenes = append(scenes, scene{clock.time(a.made), func() error {
			app, err := s.CreateApp(ctx, demoAuthor(a.by), appsvc.CreateAppRequest{
				Title: a.title, Groups: []string{demoNetwork + ":site=" + a.site}, Elements: a.elements})
			id = app.ID
			if i == 0 {
				first = id
			}
			return err
		}})
		for _, step := range a.steps {
			scenes = append(scenes, scene{clock.time(step.at), func() error { return step.do(ctx, s.As(demoAuthor(step.by)), id) }})
		}
	}
	slices.SortStableFunc(scenes, func(a, b scene) int { return a.at.Compare(b.at) })
	for _, x := range scenes {
		clock.now = x.at
		if err := x.act(); err != nil {
			return "", err
		}
	}
	return first, nil
}

// demoApps returns the sample apps. One of the requests that -demo prints reads the first.
func demoApps(clock *demoClock) []demoApp {
	version := vitrine.NewVersion[int]
	latest := vitrine.Latest
	return []demoApp{{
		title: "Front page", site: "news", made: demoTime{9, 8, 40}, by: byDesigner,
		elements: []appsvc.NewElement{
			element("@demo/feed", "1.0.0", `{"limit":10}`),
			element("@demo/analytics", "0.4.2", `{"property":"front"}`),
		},
		steps: []demoStep{
			{demoTime{9, 8, 52}, byDesigner, set(0, "/theme", "dark")},
			{demoTime{9, 8, 54}, byDesigner, set(0, "/limit", 30)},
			{demoTime{9, 8, 57}, byDesigner, set(0, "/limit", 25)},
			{demoTime{9, 9, 5}, byRelease, tagged("staging", latest)},
			{demoTime{8, 10, 10}, byEditor, titled("Front page, autumn")},
			{demoTime{8, 10, 14}, byEditor, inserted(2, element("@demo/poll", "1.0.0",
				`{"question":"Where shall the next market be?","answers":[{"text":"At the harbour"},{"text":"In the old town"}],"style":"cards"}`))},
			{demoTime{8, 10, 17}, byEditor, set(2, "/answers/-", map[string]string{"text": "By the station", "color": "#e8590c"})},
			{demoTime{8, 10, 19}, byEditor, set(2, "/question", "Where shall the winter market be?")},
			{demoTime{8, 10, 21}, byEditor, moved(2, 1)},
			{demoTime{8, 15, 0}, byRelease, tagged("production", latest)},
			{demoTime{6, 9, 30}, byNewsdesk, set(1, "/introduction", "The square is being paved until spring, so the market needs another place. Every vote counts once.")},
			{demoTime{6, 9, 33}, byNewsdesk, set(1, "/contact", "newsdesk@demo.test")},
			{demoTime{5, 14, 2}, byEditor, edited(func(p *appsvc.PatchBuilder) {
				p.SetComponent(0, appsvc.ComponentRef{Name: "@demo/feed", Version: "1.1.0"}).SetConfig(0, "/theme", "auto")
			})},
			{demoTime{5, 14, 4}, byEditor, set(0, "/source", map[string]string{"tag": "harbour"})},
			{demoTime{5, 14, 30}, byRelease, tagged("staging", latest)},
			{demoTime{4, 9, 0}, byRelease, tagged("production", latest)},
			{demoTime{4, 9, 20}, byRelease, tagged("production", version(8))},
			{demoTime{3, 11, 0}, byNewsdesk, set(0, "/source", map[string]string{"query": "harbour market"})},
			{demoTime{3, 11, 4}, byNewsdesk, set(0, "/heading", "From the harbour")},
			{demoTime{3, 16, 0}, byRelease, tagged("production", latest)},
			{demoTime{1, 9, 45}, byEditor, titled("Front page, winter")},
			{demoTime{1, 9, 50}, byEditor, inserted(0, element("@demo/countdown", "1.2.0", `{"title":"Winter market","until":"`+clock.date(18)+`","size":"large"}`))},
			{demoTime{0, 1, 35}, byNewsdesk, set(0, "/colors", map[string]string{"background": "#1b4332", "text": "#f8f9fa"})},
			{demoTime{0, 1, 31}, byNewsdesk, set(0, "/title", "Winter market at the harbour")},
			{demoTime{0, 0, 40}, byEditor, set(0, "/afterwards", map[string]string{"label": "Plan of the market", "page": "https://demo.test/market"})},
			{demoTime{0, 0, 25}, byRelease, tagged("staging", latest)},
		},
	}, {
		title: "Harbour festival", site: "events", made: demoTime{8, 13, 5}, by: byDesigner,
		elements: []appsvc.NewElement{
			element("@demo/countdown", "1.2.0", `{"title":"Harbour festival","until":"`+clock.date(40)+`"}`),
			element("@demo/map", "2.3.0", `{"center":{"lat":54.32,"lon":10.14},"zoom":14,"places":[{"label":"Stage on the pier","position":{"lat":54.3241,"lon":10.1427},"note":"Music from 18:00"}]}`),
		},
		steps: []demoStep{
			{demoTime{8, 13, 9}, byDesigner, set(1, "/layers", []string{"ferries"})},
			{demoTime{8, 13, 11}, byDesigner, set(1, "/places/-", map[string]any{"label": "Kitchen boats", "color": "#2f9e44", "position": map[string]float64{"lat": 54.3226, "lon": 10.1402}})},
			{demoTime{8, 13, 14}, byDesigner, set(1, "/places/-", map[string]any{"label": "First aid", "color": "#c92a2a", "position": map[string]float64{"lat": 54.3219, "lon": 10.1445}})},
			{demoTime{7, 9, 0}, byRelease, tagged("preview", latest)},
			{demoTime{7, 11, 15}, byNewsdesk, inserted(2, element("@demo/poll", "1.0.0",
				`{"question":"Which day will you come?","answers":[{"text":"Friday","color":"#364fc7"},{"text":"Saturday","color":"#0b7285"},{"text":"Sunday","color":"#2b8a3e"}],"closes":"`+clock.date(30)+`","results":{"show":"votes","votes":200}}`))},
			{demoTime{7, 11, 18}, byNewsdesk, set(2, "/introduction", "It helps us to order enough chairs.")},
			{demoTime{4, 8, 30}, byEditor, removed(1)},
			{demoTime{4, 8, 55}, byNewsdesk, restored(version(5))},
			{demoTime{4, 9, 10}, byNewsdesk, set(1, "/layers", []string{"ferries", "bicycles", "lifts"})},
			{demoTime{3, 10, 0}, byRelease, tagged("production", latest)},
			{demoTime{2, 12, 40}, byDesigner, set(0, "/colors", map[string]string{"background": "#0b3d91"})},
			{demoTime{2, 12, 43}, byDesigner, set(0, "/seconds", true)},
			{demoTime{0, 2, 20}, byEditor, set(1, "/places/0/note", "Music from 18:00, and a film after dark")},
			{demoTime{0, 2, 5}, byRelease, tagged("preview", latest)},
		},
	}, {
		title: "Poll of the week", site: "news", made: demoTime{7, 16, 0}, by: byNewsdesk,
		elements: []appsvc.NewElement{
			element("@demo/poll", "1.0.0", `{"question":"How do you get to work?","answers":[{"text":"By ferry","color":"#1971c2"},{"text":"By bicycle","color":"#2f9e44"},{"text":"On foot","color":"#f08c00"},{"text":"By bus","color":"#9c36b5"}],"results":{"show":"always"}}`),
		},
		steps: []demoStep{
			{demoTime{7, 16, 10}, byRelease, tagged("production", latest)},
			{demoTime{6, 10, 0}, byNewsdesk, set(0, "/style", "list")},
			{demoTime{6, 10, 2}, byNewsdesk, set(0, "/answers/3/text", "By bus or tram")},
			{demoTime{6, 11, 0}, byRelease, tagged("production", latest)},
			{demoTime{2, 17, 30}, byEditor, set(0, "/question", "How do you get to work in winter?")},
			{demoTime{2, 17, 36}, byEditor, set(0, "/closes", clock.date(6))},
		},
	}, {
		title: "Travel map (draft)", site: "blog", made: demoTime{6, 14, 20}, by: byEditor,
		elements: []appsvc.NewElement{
			element("@demo/map", "2.3.0", `{"center":{"lat":46.95,"lon":7.44},"zoom":6}`),
		},
		steps: []demoStep{
			{demoTime{6, 14, 25}, byEditor, set(0, "/places", []map[string]any{{"label": "Old town", "position": map[string]float64{"lat": 46.948, "lon": 7.4515}}})},
			{demoTime{6, 14, 29}, byEditor, set(0, "/places/-", map[string]any{"label": "Lake pier", "position": map[string]float64{"lat": 46.7577, "lon": 7.6274}, "note": "Boats until five"})},
			{demoTime{5, 9, 15}, byDesigner, titled("Travel map")},
			{demoTime{5, 9, 18}, byDesigner, set(0, "/layers", []string{"ferries", "steps"})},
			{demoTime{5, 9, 30}, byRelease, tagged("staging", latest)},
			{demoTime{2, 8, 50}, byEditor, set(0, "/cluster", false)},
		},
	}, {
		title: "Customer stories", site: "shop", made: demoTime{5, 15, 45}, by: byEditor,
		elements: []appsvc.NewElement{
			element("@demo/feed", "1.1.0", `{"heading":"What you say","source":{"tag":"story"}}`),
			element("@demo/analytics", "0.4.2", `{"property":"stories"}`),
		},
		steps: []demoStep{
			{demoTime{5, 15, 50}, byEditor, set(0, "/hidden", []string{"refund", "spoiler"})},
			{demoTime{3, 13, 0}, byRelease, tagged("production", latest)},
			{demoTime{1, 14, 12}, byDesigner, set(0, "/limit", 60)},
		},
	}, {
		title: "Screen in the ferry terminal", site: "shop", made: demoTime{3, 17, 0}, by: byDesigner,
		elements: []appsvc.NewElement{
			element("@demo/countdown", "1.2.0", `{"title":"Summer timetable","until":"`+clock.date(120)+`","size":"small","afterwards":{"text":"The summer timetable is in force."}}`),
			element("@demo/feed", "1.1.0", `{"limit":5,"theme":"dark","source":{"tag":"ferry","language":"en"}}`),
		},
		steps: []demoStep{
			{demoTime{3, 17, 6}, byDesigner, moved(1, 0)},
			{demoTime{2, 9, 0}, byRelease, tagged("production", latest)},
			{demoTime{2, 9, 1}, byRelease, tagged("kiosk-2", latest)},
			{demoTime{0, 0, 55}, byNewsdesk, set(0, "/heading", "Seen from the ferry")},
		},
	}}
}
