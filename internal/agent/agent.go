// Package agent has the list of what an agent may do: vitrine.Caller.Agent. It is the only place that says so.
package agent

import "strings"

// may are the methods of Sessions that an agent may call, all of them.
var may = strings.Fields(`
	appsvc.Changes appsvc.Component appsvc.ComponentVersion appsvc.Deliver appsvc.Diff appsvc.Languages
	appsvc.ListApps appsvc.ListComments appsvc.ListComponents appsvc.ListComponentVersions appsvc.ListHistory
	appsvc.ListPublished appsvc.Readers appsvc.Approvers appsvc.Inbox appsvc.ListPreviews
	appsvc.ListReleases appsvc.ListTagMoves appsvc.ListTags appsvc.ListVersions appsvc.Release appsvc.Tag
	appsvc.TaggedApp appsvc.TaggedAppIn appsvc.TagsNamed appsvc.Version
	appsvc.CreateApp appsvc.Patch appsvc.Restore appsvc.CreateRelease appsvc.UpdateRelease
	appsvc.CreateComment appsvc.ReplyToComment

	assets.Asset assets.Attributes assets.Changes assets.CheckMember assets.Explain assets.Folder assets.ListFolders
	assets.Permissions assets.Search assets.ShowFolder
	assets.ChangeAssets assets.Upload

	reviews.Changes reviews.Export reviews.ListCollections reviews.ListReviews reviews.Network reviews.Show`)

// May reports whether an agent may call the method of a Session with this name, such as appsvc.Patch.
func May(method string) bool {
	for _, one := range may {
		if one == method {
			return true
		}
	}
	return false
}
