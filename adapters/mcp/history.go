package mcp

import (
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// addHistoryTools adds the tools that say who has done what, and the one that undoes changes.
func addHistoryTools(s *sdk.Server) {
	tool(s, reads, "get_me", "Who you are", `Says for which person you work, and the networks and sites whose apps you
may change and read. Use it to know which groups a new app can have, and whose changes are this person's.`, getMe)
	tool(s, reads, "get_history", "History of an app", `Lists the versions of an app, the newest first: who made each,
when and why, and what it changed; or, with tag, who moved this tag, which is what visitors got. Use find_apps first: it
has the apps that changed last. compare_versions has the values.`, getHistory)
	tool(s, adds, "restore_version", "Restore a version",
		`Makes a new version with the content of an earlier one. Use it
to undo changes: the history has the version before them, and everything after that one is undone, also what others have
changed. To undo one change among later ones use edit_app. Visitors do not see the new version.`, restoreVersion)
	tool(s, reads, "find_people", "Find people", `Finds people who may read an app, by their names. Use it for the URNs
of those whom comment mentions, or propose_release asks.`, findPeople)
	tool(s, reads, "find_releases", "Find releases", `Lists releases, the newest first, such as those that you have
proposed: who made each, its state, what it moves, approvals, and why it could not be run.`, findReleases)
}

type me struct {
	URN       string   `json:"urn" jsonschema:"of the person"`
	Agent     string   `json:"agent" jsonschema:"name of your key, which stands at what you write"`
	Moderates []string `json:"moderates" jsonschema:"URNs of networks and sites"`
	Reads     []string `json:"reads" jsonschema:"URNs of networks and sites, to be read alone"`
	Roles     []string `json:"roles" jsonschema:"for folders of the asset library"`
}

func getMe(c *call, _ struct{}) (me, error) {
	out := me{URN: c.By.URN, Agent: c.By.Agent, Moderates: []string{}, Reads: []string{}, Roles: []string{}}
	left := room(mostList)
	for i, names := range [][]string{c.By.Moderates, c.By.Reads, c.By.Roles} {
		for _, name := range names {
			if left.takes(name) {
				to := []*[]string{&out.Moderates, &out.Reads, &out.Roles}[i]
				*to = append(*to, name)
			}
		}
	}
	return out, nil
}

type historyInput struct {
	ID     string `json:"id" jsonschema:"id of the app"`
	Tag    string `json:"tag,omitzero" jsonschema:"name of a tag, such as production: its moves in place of versions"`
	Cursor string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type history struct {
	Versions []madeVersion `json:"versions,omitzero"`
	Moves    []tagMove     `json:"moves,omitzero"`
	Cursor   string        `json:"cursor,omitzero"`
}

type madeVersion struct {
	Version      vitrine.Version        `json:"version"`
	At           time.Time              `json:"at"`
	By           string                 `json:"by" jsonschema:"URN of a person"`
	Agent        string                 `json:"agent,omitzero" jsonschema:"name of the key, if an assistant made it"`
	Note         string                 `json:"note,omitzero"`
	RestoredFrom vitrine.Version        `json:"restoredFrom,omitzero"`
	Tags         []string               `json:"tags,omitzero" jsonschema:"that point to it now"`
	Changes      []appsvc.HistoryChange `json:"changes,omitzero" jsonschema:"since the version before, without values"`
	More         bool                   `json:"moreChanges,omitzero"`
}

type tagMove struct {
	At      time.Time       `json:"at"`
	By      string          `json:"by" jsonschema:"URN of a person"`
	From    vitrine.Version `json:"from,omitzero"`
	To      vitrine.Version `json:"to,omitzero" jsonschema:"none: the tag was taken away"`
	Release string          `json:"release,omitzero"`
	Note    string          `json:"note,omitzero"`
}

func getHistory(c *call, in historyInput) (out history, err error) {
	if in.Tag != "" {
		out.Moves, out.Cursor, err = pageOf(20, func(limit int) (vitrine.Page[appsvc.TagMove], error) {
			return c.apps.ListTagMoves(c.Context(), appsvc.ListTagMovesRequest{AppID: in.ID, Name: in.Tag,
				After: in.Cursor, Limit: limit})
		}, func(m appsvc.TagMove) tagMove {
			return tagMove{time.UnixMilli(m.At).UTC(), m.By, m.From, m.To, m.Release, m.Note}
		})
		return out, err
	}
	out.Versions, out.Cursor, err = pageOf(20, func(limit int) (vitrine.Page[appsvc.HistoryEntry], error) {
		return c.apps.ListHistory(c.Context(), appsvc.ListHistoryRequest{AppID: in.ID, After: in.Cursor, Limit: limit})
	}, func(v appsvc.HistoryEntry) madeVersion {
		return madeVersion{v.Version, time.UnixMilli(v.UpdatedAt).UTC(), v.UpdatedBy, v.Agent, v.Note,
			v.RestoredFrom, v.Tags[:min(len(v.Tags), mostOfApp)], v.Changes, v.ChangesTruncated}
	})
	return out, err
}

type restoreInput struct {
	ID      string `json:"id" jsonschema:"id of the app"`
	Version string `json:"version" jsonschema:"the latest version, as you have read it"`
	Restore string `json:"restore" jsonschema:"number of the version whose content comes back, or the name of a tag"`
	Note    string `json:"note,omitzero" jsonschema:"says why, in the history"`
}

func restoreVersion(c *call, in restoreInput) (out edited, err error) {
	seen, err := vitrine.ParseVersion(in.Version)
	if err != nil {
		return out, fault.At("/version", err)
	}
	back, err := c.version(in.ID, in.Restore)
	if err != nil {
		return out, fault.At("/restore", err)
	}
	app, err := c.apps.App(c.Context(), in.ID)
	if err != nil {
		return out, err
	}
	if app.Version != seen {
		return out, c.stale(in.ID, seen, app.Version)
	}
	made, err := c.apps.Restore(c.Context(), appsvc.RestoreRequest{AppID: in.ID, Version: back, Note: in.Note})
	if err != nil {
		return out, err
	}
	diff, err := compareVersions(c, compareInput{ID: in.ID, From: seen.String(), To: made.Version.String()})
	return edited{ID: made.ID, Version: made.Version, Difference: diff.Difference, Cursor: diff.Cursor,
		URL: c.addressOf(made.ID)}, err
}

type findPeopleInput struct {
	App   string `json:"app" jsonschema:"id of the app"`
	Query string `json:"q,omitzero" jsonschema:"a part of the name"`
}

type foundPeople struct {
	People []appsvc.Person `json:"people" jsonschema:"at most 20"`
}

func findPeople(c *call, in findPeopleInput) (foundPeople, error) {
	people, err := c.apps.Readers(c.Context(), in.App, in.Query)
	return foundPeople{append([]appsvc.Person{}, people...)}, err
}

type findReleasesInput struct {
	State  string `json:"state,omitzero" jsonschema:"open, scheduled, done or cancelled"`
	App    string `json:"app,omitzero" jsonschema:"id of an app with a tag that is moved"`
	Cursor string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundReleases struct {
	Releases []foundRelease `json:"releases"`
	Cursor   string         `json:"cursor,omitzero"`
}

type foundRelease struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Note      string        `json:"note,omitzero"`
	State     string        `json:"state"`
	By        string        `json:"by" jsonschema:"URN of a person"`
	Agent     string        `json:"agent,omitzero" jsonschema:"name of the key, if an assistant made it"`
	UpdatedAt time.Time     `json:"updatedAt"`
	Moves     []releaseMove `json:"moves" jsonschema:"the first ten"`
	Count     int           `json:"moveCount"`
	Needs     int           `json:"needs" jsonschema:"how many people have to approve it"`
	Approvals int           `json:"approvals" jsonschema:"how many people have"`
	Conflicts []string      `json:"conflicts,omitempty" jsonschema:"why it could not be run, the first ten"`
}

type releaseMove struct {
	App  string          `json:"app"`
	Tag  string          `json:"tag"`
	From vitrine.Version `json:"from,omitzero" jsonschema:"none: there was no such tag"`
	To   vitrine.Version `json:"to,omitzero" jsonschema:"none: the tag is taken away"`
}

func findReleases(c *call, in findReleasesInput) (out foundReleases, err error) {
	out.Releases, out.Cursor, err = pageOf(20, func(limit int) (vitrine.Page[appsvc.Release], error) {
		return c.apps.ListReleases(c.Context(), appsvc.ListReleasesRequest{
			State: appsvc.ReleaseState(in.State), AppID: in.App, After: in.Cursor, Limit: limit})
	}, func(r appsvc.Release) foundRelease {
		rel := foundRelease{r.ID, r.Name, r.Note, string(r.State), r.By, r.Agent,
			time.UnixMilli(r.UpdatedAt).UTC(), []releaseMove{}, len(r.Moves), r.Needs, len(r.Approvals), nil}
		for _, m := range r.Moves[:min(len(r.Moves), mostOfApp)] {
			rel.Moves = append(rel.Moves, releaseMove{m.AppID, m.Tag, m.From.Version(), m.To.Version()})
		}
		for _, f := range r.Conflicts[:min(len(r.Conflicts), mostOfApp)] {
			rel.Conflicts = append(rel.Conflicts, fmt.Sprintf("%s of %s: %s", f.Tag, f.App, f.Reason))
		}
		return rel
	})
	return out, err
}
