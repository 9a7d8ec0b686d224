//go:build proof

package access

import "strings"

// comment makes a comment of the builder on an app, the first of it.
func (w *world) comment(thing string) {
	if r := w.send(builder, get("/apps/"+w.apps[thing]+"/comments")); strings.Contains(r.body, `"comments":[]`) {
		w.must(builder, "POST", "/apps/"+w.apps[thing]+"/comments", `{"text":"a comment"}`, 201)
	}
}

// commentRows are about the comments of apps. Whoever reads an app reads them, and persons who read it write some. A
// comment of somebody else is neither changed nor removed; who may change the app resolves it. Links that show an app
// are for persons who may change it.
func commentRows() []row {
	const comments, one = "/apps/{id}/comments", "/apps/{id}/comments/{comment}"
	about := func(method, path, what, below, body, says string) row {
		rw := ofApp(method, path, what, below, body, says)
		send := rw.request
		rw.request = func(w *world, thing string) request {
			w.comment(thing)
			return send(w, thing)
		}
		return rw
	}
	talk := func(rw row) row {
		rw.talk = true
		return rw
	}
	writers := func(rw row) row {
		rw.writers = true
		return rw
	}
	persons := func(rw row) row {
		rw.keys = 403
		return rw
	}
	const previews = "/apps/{id}/previews"
	list := about("GET", comments, "", "/comments/", "", "+200 -404")
	list.check = func(w *world, _ caller, _ string, r reply) {
		if !strings.Contains(r.body, "a comment") {
			w.t.Errorf("%s holds no comment: %s", r.what, r.body)
		}
	}
	return []row{
		list,
		about("GET", comments, "open ones", "/comments?open=true&limit=1", "", "+200 -404"),
		talk(about("POST", comments, "", "/comments/", `{"text":"another"}`, "+201 -404")),
		talk(about("POST", comments, "an element that is not", "/comments", `{"text":"x","element":"9.9"}`,
			"+422 -404")),
		talk(about("POST", comments, "a version that is not", "/comments", `{"text":"x","version":"9"}`, "+404 -404")),
		talk(about("POST", comments, "mentioning nobody", "/comments",
			`{"text":"x","mentions":["`+network+`:user=nobody"]}`, "+422 -404")),
		talk(about("POST", one+"/replies", "", "/comments/1/replies", `{"text":"a reply"}`, "+201 -404")),
		talk(about("POST", one+"/replies", "to one that is not", "/comments/9/replies", `{"text":"a reply"}`,
			"+404 -404")),
		writers(ofApp("GET", "/apps/{id}/people", "", "/people?q=x", "", "+200 -404")),
		persons(writers(ofApp("GET", previews, "", "/previews/", "", "+200 -404"))),
		persons(ofApp("POST", previews, "", "/previews", `{"version":"latest","days":1}`, "+201 -404")),
		persons(ofApp("POST", previews, "a version that is not", "/previews", `{"version":"9"}`, "+404 -404")),
		persons(ofApp("POST", previews, "a release that is not", "/previews", `{"release":"x"}`, "+404 -404")),
		persons(ofApp("DELETE", previews+"/{preview}", "one that is not", "/previews/x", "", "+404 -404")),
		{route: "GET /x/inbox/", says: "200", keys: 403, request: func(*world, string) request {
			return get("/x/inbox")
		}},
		{route: "POST /x/inbox/seen", says: "204", keys: 403,
			request: func(*world, string) request { return post("/x/inbox/seen", `{"until":1}`) }},
		about("PATCH", one, "the text", "/comments/1", `{"text":"mine"}`, "+403 -404"),
		about("PATCH", one, "resolved", "/comments/1", `{"resolved":true}`, "+200 -404"),
		about("DELETE", one, "", "/comments/1", "", "+403 -404"),
		talk(about("DELETE", one, "one that is not", "/comments/9", "", "+404 -404")),
	}
}
