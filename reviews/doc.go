// Package reviews checks, imports, exports, lists and erases ratings and reviews. Its file format is NDJSON: each line
// is a JSON object, the record of one collection of reviews. A collection has the reviews of one article on one site.
// This is a record, written here on several lines:
//
//	{
//	  "source": "example.test",           the site that the reviews come from
//	  "id": "bGFtcA==",                   the id of the article there, as Base64
//	  "title": "A lamp",
//	  "created": "2019-01-01T00:00:00Z",
//	  "dimensions": ["price", "quality"], what is rated; ["default"] if there is one rating alone
//	  "reviews": [{
//	    "id": "1",
//	    "title": "Bright",
//	    "body_html": "<p>Very bright.</p>",
//	    "created": "2019-02-03T04:05:06Z",
//	    "ratings": [80, 65],              one for each dimension, each an integer from 1 to 100
//	    "author_id": "7"                  or imported_display_name, for an author without a user profile
//	  }]
//	}
//
// Further members of a review are optional: imported_email and imported_url of an author without a profile, subparts
// for extra data, and parent_id for the review that this one replies to.
//
// [Check] reads a file and yields its problems; it needs no store. A [Service] on a [storage.Store] keeps reviews, and
// [Service.As] gives a [Session] for a [vitrine.Caller]. [Session.Import] applies the same rules, and stores what is
// accepted in a network, which the caller must moderate as a whole:
//
//	svc := reviews.New(memory.New(), nil)
//	report, err := svc.As(by).Import(ctx, reviews.ImportRequest{Network: "example.test", File: file})
//
// The client of a remote service, package adapters/client, has the methods of a Session, so a program can be written
// for both. Package convert, below this one, makes the format of tables that shops export.
//
//	go doc reviews.Rules            every rule of the format with an example, as in rules.md
//	go doc reviews.Problem          where a problem is reported, and what it tells
//	go doc reviews.Rejects          a file of the lines that have an error, where people correct them
//	go doc reviews.Service          networks, who may do what, what is stored, errors
//	go doc reviews.Session.Import   what is created, updated and left unchanged, and imports that were killed
//	go doc reviews.Session.Show     what a web page shows, for callers who may read nothing else
//	go doc reviews.Session.Delete   what is erased, and which files have no byte of it then
//	go doc reviews.Session.Export   the file that an import takes
//	go doc reviews.Options          what a program sets, and its rules: Check
//	go doc reviews.Event            the feed of changes, and vitrine.Follow: who follows it
//	go doc reviews.RecordSchema     a JSON Schema of the rules that such a schema can state
//
// An accepted body_html is harmless HTML. Titles, names and subparts are plain text with any characters, so escape them
// where they are shown. Only Export returns imported_email.
package reviews
