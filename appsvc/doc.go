// Package appsvc stores the apps of web sites, and keeps every version of them.
//
// An app is a part of a web site that people edit: a title, elements, and the groups that it belongs to, which decide
// who may read and change it. An element is one part of an app, such as a poll: it names a component, which is the
// script that shows it, and carries a config, a JSON object with the settings of this one poll. The manifest of a
// component has the URL of the script, and the configSchema, a JSON Schema for configs. Every change of an app makes a
// new version; a version never changes, and all stay readable. A tag, such as "production", points to one version of
// one app: moving the tag publishes another version.
//
// A caller is the user for whom a method is called, with the rights of this user. The embedding program says who the
// caller is; this package stores no users. Users and groups are named by URNs:
//
//	urn:vitrine:example.test           a group: a network of sites
//	urn:vitrine:example.test:site=1    a group: a site of it
//	urn:vitrine:example.test:user=me   a user of it
//
// [New] returns a [Service] on a [storage.Store], and [Service.As] a [Session], which has the methods that act for one
// [vitrine.Caller]. What acts for no caller, such as [Service.RunDue], is a method of the Service. The client of a
// remote service, adapters/client, has the methods of a Session, so a program can be written for both.
//
//	go doc appsvc.Service        the errors of all methods, and what is stored
//	go doc appsvc.Session        reading, rights, idempotency keys
//	go doc appsvc.PatchBuilder   how an app is changed
//	go doc appsvc.Tag            how a version is published, and appsvc.Release: many at once
//	go doc appsvc.HistoryEntry   what has changed between versions
//	go doc appsvc.Component      components, configs and their schemas
//	go doc appsvc.Options        what a program sets, and its rules: Check
//	go doc appsvc.Change         what a rule sees of a change, and where it keeps rows and writes SQL
//	go doc appsvc.Event          the feed of changes, and vitrine.Follow: who follows it
//	go doc appsvc.Limits         what the service accepts
//
// The comment of package vitrine shows the first use. The first example here, in firstapp_example_test.go, makes a
// component and an app, changes the app, and publishes the change.
package appsvc
