package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// addAppTools adds the tools for apps, components and releases.
func addAppTools(s *sdk.Server) {
	tool(s, reads, "find_apps", "Find apps", `Finds apps, the last changed first, by words of the title, by words of the
texts in configs (in: content), a group, a component or a tag. Use it first, to get the id of an app. A search in
content shows where the words are, and get_app the rest. To find the apps that show a picture, search in content for its
address without what follows the question mark. Only latest versions are searched: what visitors see by a tag may be an
earlier one, with other words and pictures.`, findApps)
	tool(s, reads, "get_app", "Read an app", `Reads a version of an app, element by element with their keys and configs:
the latest one, or one by its number or by a tag such as production. Use it before edit_app. It changes
nothing.`, getApp)
	tool(s, reads, "compare_versions", "Compare two versions", `Says what has changed between two versions of an app, as
operations of a JSON Patch. Use it to see what is not published yet, from production to latest.`, compareVersions)
	tool(s, reads, "find_components", "Find components", `Lists the components that elements can be made of, each as its
latest version. Use it to choose one for a new element.`, findComponents)
	tool(s, reads, "get_component", "Read a component",
		`Gets the JSON Schema of a component's configs, and an example. Use
it before you write a config.`, getComponent)
	tool(s, reads, "check_config", "Check a config", `Says whether a config would fit a component, and what does not. It
stores nothing.`, checkConfig)
	tool(s, adds, "create_app", "Create an app", `Creates an app with its first version, which visitors do not see. It
never publishes. A text in a config may be in several languages, as edit_app says.`, createApp)
	tool(s, adds, "edit_app", "Edit an app",
		`Makes a new version of an app by operations on its elements, named by their
keys: set a value at a pointer into a config (/items/- is behind the last item), a whole config or a component; add an
element, or an item at a pointer; remove an element, or what is at a pointer; move an element to an index. To set the
title, set /title without a key. To translate a text, put {"lang:en": "Tea", "lang:de": "Tee"} in the place of "Tea",
in the languages that get_app lists. The version is the one that you have read. If the app has a later one, nothing is
done, and the error has the difference: look at it, and send the edit again for that version. Visitors do not see the
new version: it never publishes.`, editApp)
	tool(s, adds, "comment", "Comment", `Writes a comment about an app, an element or a value in a config, or replies to
one, for the people who work on the app. Use it to ask, or to say why. It changes no app.`, comment)
	tool(s, adds, "propose_release", "Propose a release",
		`Proposes that tags move to versions, so that visitors see them.
Use it when the person asks you to publish. It moves nothing and sets no time: a person looks at it and runs it, and
where approvals are needed another person than the one you work for approves it. Look with find_releases for an open
release of yours first: with its id it is changed, and people have one to look at.`, proposeRelease)
}

type findAppsInput struct {
	Query     string   `json:"q,omitzero" jsonschema:"words that begin words of the title, or of a text"`
	In        []string `json:"in,omitzero" jsonschema:"where to look for q: title, content or both"`
	Group     string   `json:"group,omitzero" jsonschema:"URN of a network or site that the app is in"`
	Component string   `json:"component,omitzero" jsonschema:"name of a component of an element"`
	Tag       string   `json:"tag,omitzero" jsonschema:"name of a tag that the app has, such as production"`
	Cursor    string   `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundApps struct {
	Apps   []foundApp `json:"apps"`
	Cursor string     `json:"cursor,omitzero"`
}

type foundApp struct {
	ID         string                     `json:"id"`
	Title      string                     `json:"title"`
	Version    vitrine.Version            `json:"version"`
	UpdatedAt  time.Time                  `json:"updatedAt"`
	UpdatedBy  string                     `json:"updatedBy" jsonschema:"URN of who made the version"`
	Groups     []string                   `json:"groups"`
	Components []string                   `json:"components"`
	Tags       map[string]vitrine.Version `json:"tags"`
	Found      []appsvc.Found             `json:"found,omitzero" jsonschema:"of a search in content"`
}

// mostOfApp is how many groups, components and tags a found app is shown with.
const mostOfApp = 10

func findApps(c *call, in findAppsInput) (out foundApps, err error) {
	ask := appsvc.ListAppsRequest{Summary: true, Sort: appsvc.UpdatedDescending, Query: in.Query, In: in.In,
		Group: in.Group, UsingComponent: in.Component, After: in.Cursor, Limit: 50}
	if slices.Contains(in.In, "content") { // which has an order of its own
		ask.Sort = ""
		if err := c.SearchesContent(); err != nil {
			return out, err
		}
	}
	for pages := 0; pages < 20; pages++ {
		page, err := c.apps.ListApps(c.Context(), ask)
		if err != nil {
			return out, err
		}
		left, fit := room(mostList), true
		out = foundApps{Apps: []foundApp{}, Cursor: page.Next}
		for _, a := range page.Items {
			tags := map[string]vitrine.Version{}
			for _, t := range a.Tags {
				if t.Name == in.Tag || in.Tag == "" && len(tags) < mostOfApp {
					tags[t.Name] = t.AppVersion
				}
			}
			app := foundApp{a.ID, a.Title, a.Version, time.UnixMilli(a.UpdatedAt).UTC(), a.UpdatedBy,
				a.Groups[:min(len(a.Groups), mostOfApp)], a.Components[:min(len(a.Components), mostOfApp)], tags,
				a.Found}
			if in.Tag == "" || len(tags) > 0 {
				fit, out.Apps = fit && left.takes(app), append(out.Apps, app)
			}
		}
		switch {
		case !fit && ask.Limit > 1:
			ask.Limit /= 2
		case len(out.Apps) > 0 || page.Next == "" || ask.Sort == "": // a page of content is a second of work
			return out, nil
		default: // no app of the page has the tag
			ask.After = page.Next
		}
	}
	return out, nil
}

// version returns the version of an app that a text names: a number, a tag, or latest, which "" is too.
func (c *call) version(id, text string) (vitrine.Version, error) {
	if text == "" || text == "latest" {
		return vitrine.Latest, nil
	}
	if v, err := vitrine.ParseVersion(text); err == nil {
		return v, nil
	}
	tag, err := c.apps.Tag(c.Context(), appsvc.TagRequest{AppID: id, Name: text})
	return tag.AppVersion, err
}

type getAppInput struct {
	ID      string `json:"id" jsonschema:"id of the app"`
	Version string `json:"version,omitzero" jsonschema:"number of a version, or latest, which it is without"`
	Tag     string `json:"tag,omitzero" jsonschema:"name of a tag, in place of a version"`
	Cursor  string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type shownApp struct {
	ID        string          `json:"id"`
	Version   vitrine.Version `json:"version"`
	Title     string          `json:"title"`
	Groups    []string        `json:"groups"`
	Elements  []shownElement  `json:"elements"`
	Languages []string        `json:"languages" jsonschema:"in which texts may be, the base first; none: in one alone"`
	Comments  []openComment   `json:"comments,omitzero" jsonschema:"open ones, the newest first"`
	Cursor    string          `json:"cursor,omitzero"`
}

type shownElement struct {
	Key       string              `json:"key"`
	Index     int                 `json:"index"`
	Component appsvc.ComponentRef `json:"component"`
	Config    jsontext.Value      `json:"config,omitzero"`
	Part      string              `json:"part,omitzero" jsonschema:"of a long config: a part of its JSON"`
}

type openComment struct {
	ID      string `json:"id"`
	Element string `json:"element,omitzero"`
	Pointer string `json:"pointer,omitzero"`
	Text    string `json:"text"`
	By      string `json:"by"`
	Agent   string `json:"agent,omitzero" jsonschema:"name of the key, if an assistant wrote it"`
}

// mostPart is how many bytes of a JSON text a result has at most; in a string they can be twice as many.
const mostPart = 9_000

func getApp(c *call, in getAppInput) (out shownApp, err error) {
	at, err := numbersIn(in.Cursor, 3) // the version, the element, and how much of its config is known
	if err != nil {
		return out, err
	}
	v := vitrine.NewVersion(at[0])
	if in.Tag != "" && in.Version != "" {
		return out, fault.Invalid("/tag", "want a version or a tag, and not both")
	}
	if in.Cursor == "" {
		if v, err = c.version(in.ID, cmp.Or(in.Tag, in.Version)); err != nil {
			return out, err
		}
	}
	app, err := c.apps.Version(c.Context(), in.ID, v)
	if err != nil {
		return out, err
	}
	content, err := app.Body.Content()
	if err != nil {
		return out, err
	}
	languages, err := c.apps.Languages(c.Context())
	if err != nil {
		return out, err
	}
	out = shownApp{ID: app.ID, Version: app.Version, Title: app.Title, Languages: append([]string{}, languages...),
		Groups: app.Groups[:min(len(app.Groups), mostOfApp)], Elements: []shownElement{}}
	left, number := room(mostList), int(app.Version.Number())
	left.takes(out)
	for i := at[1]; i < len(content.Elements); i++ {
		e := content.Elements[i]
		shown := shownElement{Key: e.Key, Index: i, Component: e.Component, Config: jsontext.Value(e.Config)}
		if long := len(e.Config) > mostPart; long && i == at[1] && at[2] <= len(e.Config) {
			shown.Config, shown.Part = nil, cut(string(e.Config[at[2]:]), mostPart)
			if known := at[2] + len(shown.Part); known < len(e.Config) {
				out.Cursor = cursorOf(number, i, known)
			} else if i+1 < len(content.Elements) {
				out.Cursor = cursorOf(number, i+1, 0)
			}
			out.Elements = append(out.Elements, shown)
			break
		} else if long || !left.takes(shown) {
			out.Cursor = cursorOf(number, i, 0)
			break
		}
		out.Elements = append(out.Elements, shown)
	}
	if in.Cursor != "" {
		return out, nil
	}
	comments, err := c.apps.ListComments(c.Context(), appsvc.ListCommentsRequest{AppID: in.ID, Open: true, Limit: 20})
	for _, o := range comments.Items {
		shown := openComment{o.ID, o.Element, o.Pointer, cut(o.Text, mostDescription), o.By, o.Agent}
		if left.takes(shown) {
			out.Comments = append(out.Comments, shown)
		}
	}
	return out, err
}

type compareInput struct {
	ID     string `json:"id" jsonschema:"id of the app"`
	From   string `json:"from" jsonschema:"number of a version, latest, or the name of a tag"`
	To     string `json:"to,omitzero" jsonschema:"as from; the latest version without it"`
	Cursor string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type difference struct {
	From       vitrine.Version  `json:"from"`
	To         vitrine.Version  `json:"to"`
	Difference []jsontext.Value `json:"difference" jsonschema:"operations of a JSON Patch; a long value is left out"`
	Cursor     string           `json:"cursor,omitzero"`
}

func compareVersions(c *call, in compareInput) (out difference, err error) {
	at, err := numbersIn(in.Cursor, 3) // the two versions, and how many operations are known
	if err != nil {
		return out, err
	}
	from, to := vitrine.NewVersion(at[0]), vitrine.NewVersion(at[1])
	if in.Cursor == "" {
		if from, err = c.version(in.ID, in.From); err == nil {
			to, err = c.version(in.ID, in.To)
		}
		if err != nil {
			return out, err
		}
	}
	diff, err := c.apps.Diff(c.Context(), in.ID, from, to)
	if err != nil {
		return out, err
	}
	return shownDifference(diff.From, diff.To, diff.Patch, at[2])
}

// shownDifference returns the operations of a patch for which there is room, without the test of the version and the
// note. known is how many of them were returned before.
func shownDifference(from, to vitrine.Version, patch []byte, known int) (out difference, err error) {
	var ops []jsontext.Value
	err = jsonv2.Unmarshal(patch, &ops)
	ops = slices.DeleteFunc(ops, func(op jsontext.Value) bool {
		return bytes.HasPrefix(op, []byte(`{"op":"test"`)) || bytes.HasPrefix(op, []byte(`{"op":"add","path":"/note"`))
	})
	out = difference{From: from, To: to, Difference: []jsontext.Value{}}
	left := room(mostList)
	for i, op := range ops[min(known, len(ops)):] {
		if op = short(op); !left.takes(op) {
			out.Cursor = cursorOf(int(from.Number()), int(to.Number()), known+i)
			break
		}
		out.Difference = append(out.Difference, op)
	}
	return out, err
}

// short returns an operation without its value if it is long.
func short(op jsontext.Value) jsontext.Value {
	if len(op) <= mostPart {
		return op
	}
	var named struct {
		Op   string `json:"op"`
		Path string `json:"path"`
		From string `json:"from,omitzero"`
	}
	_ = jsonv2.Unmarshal(op, &named) // it is one
	named.Path = cut(named.Path, mostPart)
	text, _ := jsonv2.Marshal(named)
	return text
}

type createInput struct {
	Title    string       `json:"title"`
	Groups   []string     `json:"groups" jsonschema:"URNs of the networks or sites that it is for"`
	Elements []newElement `json:"elements,omitzero"`
}

type newElement struct {
	Component string         `json:"component" jsonschema:"name of the component"`
	Version   string         `json:"version,omitzero" jsonschema:"of the component; the latest one without it"`
	Config    jsontext.Value `json:"config" jsonschema:"an object that fits the component's schema"`
}

type edited struct {
	ID         string           `json:"id"`
	Version    vitrine.Version  `json:"version"`
	Difference []jsontext.Value `json:"difference,omitempty" jsonschema:"without long values"`
	Cursor     string           `json:"cursor,omitzero" jsonschema:"for compare_versions, which has all"`
	DryRun     bool             `json:"dryRun,omitzero" jsonschema:"nothing was stored"`
	URL        string           `json:"url" jsonschema:"where the person looks at the app"`
}

func createApp(c *call, in createInput) (out edited, err error) {
	create := appsvc.CreateAppRequest{Title: in.Title, Groups: in.Groups}
	for i, e := range in.Elements {
		element, err := c.element(e)
		if err != nil {
			return out, fault.At(fmt.Sprintf("/elements/%d/component", i), err)
		}
		create.Elements = append(create.Elements, element)
	}
	app, err := c.apps.CreateApp(c.Context(), create)
	return edited{ID: app.ID, Version: app.Version, URL: c.addressOf(app.ID)}, err
}

// element returns an element with the latest version of its component, if it names none.
func (c *call) element(e newElement) (appsvc.NewElement, error) {
	if e.Version == "" {
		x, err := c.apps.Component(c.Context(), e.Component)
		if err != nil {
			return appsvc.NewElement{}, err
		}
		e.Version = x.Version
	}
	return appsvc.NewElement{Component: appsvc.ComponentRef{Name: e.Component, Version: e.Version},
		Config: []byte(e.Config)}, nil
}

type commentInput struct {
	ID       string   `json:"id" jsonschema:"id of the app"`
	Text     string   `json:"text"`
	Element  string   `json:"element,omitzero" jsonschema:"key of the element that it is about"`
	Pointer  string   `json:"pointer,omitzero" jsonschema:"JSON pointer into its config"`
	Reply    string   `json:"reply,omitzero" jsonschema:"id of a comment that it replies to"`
	Mentions []string `json:"mentions,omitzero" jsonschema:"URNs of people"`
}

type commented struct {
	ID string `json:"id"`
}

func comment(c *call, in commentInput) (out commented, err error) {
	if in.Reply != "" {
		reply, err := c.apps.ReplyToComment(c.Context(),
			appsvc.ReplyRequest{AppID: in.ID, Comment: in.Reply, Text: in.Text, Mentions: in.Mentions})
		return commented{reply.ID}, err
	}
	made, err := c.apps.CreateComment(c.Context(), appsvc.CreateCommentRequest{AppID: in.ID, Element: in.Element,
		Pointer: in.Pointer, Text: in.Text, Mentions: in.Mentions})
	return commented{made.ID}, err
}

type releaseInput struct {
	Name  string      `json:"name" jsonschema:"what it brings, in a few words"`
	Note  string      `json:"note,omitzero" jsonschema:"for those who approve it"`
	Moves []moveInput `json:"moves"`
	Ask   []string    `json:"ask,omitzero" jsonschema:"URNs of people who are asked to approve it"`
	ID    string      `json:"id,omitzero" jsonschema:"id of an open release of yours: changes it, and makes none"`
}

type moveInput struct {
	App string `json:"app" jsonschema:"id of the app"`
	Tag string `json:"tag,omitzero" jsonschema:"production without it"`
	To  string `json:"to,omitzero" jsonschema:"a version, latest, or none to take the tag away"`
}

type proposal struct {
	ID      string          `json:"id"`
	Version vitrine.Version `json:"version"`
	State   string          `json:"state"`
	Needs   int             `json:"needs" jsonschema:"how many people have to approve it"`
	URL     string          `json:"url" jsonschema:"where the person looks at it"`
	Next    string          `json:"next" jsonschema:"what happens next, for the person"`
}

func proposeRelease(c *call, in releaseInput) (out proposal, err error) {
	release := appsvc.CreateReleaseRequest{Name: in.Name, Note: in.Note, Ask: in.Ask}
	for i, m := range in.Moves {
		move := appsvc.ReleaseMove{AppID: m.App, Tag: cmp.Or(m.Tag, "production"), To: appsvc.NoTag()}
		if m.To != "none" {
			v, err := c.version(m.App, m.To)
			if err == nil && v == vitrine.Latest {
				var app appsvc.App
				app, err = c.apps.App(c.Context(), m.App)
				v = app.Version
			}
			if err != nil {
				return out, fault.At(fmt.Sprintf("/moves/%d", i), err)
			}
			move.To = appsvc.PointsTo(v)
		}
		release.Moves = append(release.Moves, move)
	}
	var rel appsvc.Release
	if in.ID == "" {
		rel, err = c.apps.CreateRelease(c.Context(), release)
	} else if rel, err = c.apps.Release(c.Context(), in.ID); err == nil {
		rel, err = c.apps.UpdateRelease(c.Context(), appsvc.UpdateReleaseRequest{ID: in.ID, Version: rel.Version,
			Name: in.Name, Note: in.Note, Moves: release.Moves, Ask: in.Ask})
	}
	next := "A person looks at it in the console, and runs it. Nothing is published before."
	if rel.Needs > 0 {
		next = fmt.Sprintf("People have to approve it first, %d of them and not the one you work for. Then somebody "+
			"runs it in the console. Nothing is published before.", rel.Needs)
	}
	return proposal{rel.ID, rel.Version, string(rel.State), rel.Needs, c.Absolute("/#/releases/" + rel.ID), next}, err
}
