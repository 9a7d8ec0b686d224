package httpapi_test

import (
	"strings"
	"testing"
)

func TestAllThatIsWrongWithAssetsIsAnsweredAtOnce(t *testing.T) {
	w := newAssetWorld(t)
	w.as(editor, "POST", library+"/assets", `{"add":[
		{"id":"1","generator":{"id":"g"},"content":{
			"attachment":[{"version":1.0,"type":"album","url":"","width":"640"}],
			"attributedTo":{"icon":null,"url":{"href":""}}},"createdAt":"2014-05-01t12:00:00+0000"}]}`).want(200,
		`"attachment":[{"version":"1.0","type":"link","width":640}],"published":"2014-05-01T12:00:00.000Z"`)
	w.as(editor, "POST", library+"/assets", `{"add":[
		{"id":"2","generator":{"id":"g"},"content":{"lang":5},"more":1},
		{"id":"3","generator":{"id":"g"},"content":{}},
		{"id":"4","generator":{"id":"g"},"content":{"x":"\ud83d"},"folders":["none"]}]}`).want(400,
		`"pointer":"/add/0/more"`,
		`"problems":[{"item":0,"pointer":"/add/0/more","message":"unknown member \"more\": the members are id, `,
		`{"item":0,"pointer":"/add/0/content/lang","message":"want a string"},{"item":2,"pointer":"/add/2/content/x"`,
		`{"item":2,"pointer":"/add/2/folders/0","message":"there is no such folder"}]`)
	long := strings.Repeat("x", 5000)
	if answer := w.as(editor, "POST", library+"/assets",
		`{"add":[{"`+long+`":1},{"content":{"id":1},"id":"`+long+`"}]}`); len(
		answer.want(400).body) > 6000 {
		t.Errorf("the answer has %d bytes", len(answer.body))
	}
	if _, total := w.as(editor, "GET", library+"/assets", "").want(200).found(); total != 1 {
		t.Errorf("%d assets", total)
	}
}

func TestMembersThatAreMissingOrNullAreNamed(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"f"}`)
	id := w.mustAsset("1", "x")
	for _, c := range []struct{ path, body, word string }{
		{"/attributes", `{"add":[{"key":"k","value":"v"}]}`, `member \"assets\" is missing`},
		{"/attributes", `{}`, `member \"assets\" is missing`},
		{"/attributes", `{"assets":null}`, "/assets: null is not allowed"},
		{"/attributes", `{"assets":["ID"],"add":[{"key":"k","value":""},{"key":"k"}]}`,
			`/add/1/value: member \"value\" is missing`},
		{"/attributes", `{"assets":["ID"],"set":[{"value":"v"}]}`, `/set/0/key: member \"key\" is missing`},
		{"/attributes", `{"assets":["ID"],"remove":[{"key":"k"}]}`, `/remove/0/value: member \"value\" is missing`},
		{"/attributes", `{"assets":[],"add":[{}]}`, `/add/0/key: member \"key\" is missing`},
		{"/attributes", `{"assets":["ID"],"add":[{"key":"k","value":null}]}`, "/add/0/value: null is not allowed"},
		{"/attributes", `{"assets":["ID"],"add":[{"key":1,"value":"v"}]}`, "/add/0/key: want a string, have a number"},
		{"/attributes", `{"assets":["ID"],"add":[{"key":"k","value":"v","x":1}]}`, `unknown member \"x\"`},
		{"/folders", `{"update":[{"label":"new"}]}`, `/update/0/id: member \"id\" is missing`},
		{"/folders", `{"update":[{"id":"FOLDER","label":"new"},{}]}`, `/update/1/id: member \"id\" is missing`},
		{"/folders", `{"update":[{"id":null}]}`, "/update/0/id: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","label":null}]}`, "/update/0/label: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","path":null}]}`, "/update/0/path: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","inherit":null}]}`, "/update/0/inherit: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","deleted":null}]}`, "/update/0/deleted: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","deleted":"no"}]}`, "/update/0/deleted: want a boolean, have a string"},
		{"/assets", `{"add":[{"generator":{"id":"g"},"content":{}}]}`, `/add/0/id: member \"id\" is missing`},
		{"/assets", `{"add":[{"id":"","generator":{"id":"g"},"content":{}}]}`, `/add/0/id: must not be empty`},
		{"/assets", `{"add":[{"id":"1","content":{}}]}`, `/add/0/generator: member \"generator\" is missing`},
		{"/assets", `{"add":[{"id":"1","generator":{},"content":{}}]}`,
			`/add/0/generator/id: member \"id\" is missing`},
		{"/assets", `{"add":[{"id":"1","generator":{"id":""},"content":{}}]}`,
			`/add/0/generator/id: must not be empty`},
		{"/assets", `{"add":[{"id":"1","generator":null,"content":{}}]}`, "/add/0/generator: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"}}]}`, `/add/0/content: member \"content\" is missing`},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":null}]}`,
			"/add/0/content: want an object, have null"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"attachment":[{"version":"1.0"}]}}]}`,
			`/add/0/content/attachment/0/type: member \"type\" is missing`},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"folders":null}]}`,
			"/add/0/folders: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"safe_tags":null}]}`,
			"/add/0/safe_tags: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"via":null}]}`,
			"/add/0/via: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"rights":null}]}`,
			"/add/0/rights: null is not allowed"},
		{"/assets", `{"add":null}`, "/add: null is not allowed"},
		{"/assets", `{"add":[],"more":1}`, "/more"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"attributes":null}]}`,
			"/add/0/attributes: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"attributes":[{"key":"k"}]}]}`,
			`/add/0/attributes/0/value: member \"value\" is missing`},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"attributes":[{"key":"","value":""}]}]}`,
			"/add/0/attributes/0/key: must not be empty"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"createdAt":null}]}`,
			"/add/0/createdAt: null is not allowed"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"createdAt":1700000000000}]}`,
			"/add/0/createdAt: want a string, have a number"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"createdAt":"yesterday"}]}`,
			"/add/0/createdAt: want a real date in ISO 8601"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"createdAt":"0000-12-31"}]}`,
			"/add/0/createdAt: want a real date"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"createdAt":"9999-01-01"}]}`,
			"/add/0/createdAt: want a time from the year 1 to a day from now"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g","x":1},"content":{}}]}`, "/add/0/generator/x"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"via":"1"}]}`, "/add/0/via"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"x":"\ud800"}}]}`, "/add/0/content/x"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"x":1,"x":2}}]}`, "/add/0/content/x"},
		{"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{}},{"id":"2"}]}`, "/add/1/generator"},
		{"/folders", `{"create":[{}]}`, `/create/0/label: member \"label\" is missing`},
		{"/folders", `{"create":[{"label":""}]}`, `/create/0/label: must not be empty`},
		{"/folders", `{"create":[{"label":"x","path":""}]}`, "/create/0/path: must not be empty"},
		{"/folders", `{"update":[{"id":"FOLDER","path":""}]}`, "/update/0/path: must not be empty"},
		{"/folders", `{"create":[{"label":"x","path":null}]}`, "/create/0/path: null is not allowed"},
		{"/folders", `{"create":[{"label":"x","inherit":null}]}`, "/create/0/inherit: null is not allowed"},
		{"/folders", `{"create":[{"label":"x","permissions":null}]}`, "/create/0/permissions: null is not allowed"},
		{"/folders", `{"create":[{"label":"x","permissions":[{"role":{"id":"r"}}]}]}`,
			`/create/0/permissions/0/operation: member \"operation\" is missing`},
		{"/folders", `{"delete":null}`, "/delete: null is not allowed"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"own","role":{"id":"r"}}]}`, "/create/0/operation"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view"}]}`, "role, group and user"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","role":{"id":"r"},"group":"urn:a:b"}]}`,
			"exactly one"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","group":"site=1"}]}`, "/create/0/group: "},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","role":{"id":"r","x":1}}]}`, "/create/0/role/x"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","rType":"asset","role":{"id":"r"}}]}`, "rType"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","rId":"urn:x","role":{"id":"r"}}]}`, "rId"},
		{"/folder/FOLDER/permissions", `{"create":[{"role":{"id":"r"}}]}`,
			`/create/0/operation: member \"operation\" is missing`},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"","role":{"id":"r"}}]}`,
			`/create/0/operation: want view, edit or manage, have \"\"`},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":null,"role":{"id":"r"}}]}`,
			"/create/0/operation: null is not allowed"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","role":{}}]}`,
			`/create/0/role/id: member \"id\" is missing`},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","user":{"id":""}}]}`,
			"/create/0/user/id: must not be empty"},
		{"/folder/FOLDER/permissions", `{"create":[{"operation":"view","rId":null,"role":{"id":"r"}}]}`,
			"/create/0/rId: null is not allowed"},
		{"/folder/FOLDER/permissions", `{"remove":[{"role":{"id":"r"}}]}`,
			`/remove/0/operation: want view, edit or manage`},
		{"/folder/FOLDER/assets", `{"assign":null}`, "/assign: null is not allowed"},
		{"/folders", `{"update":[{"id":"FOLDER","Label":"x"}]}`, `unknown member \"Label\"`},
	} {
		w.as(editor, "POST", library+strings.Replace(c.path, "FOLDER", f, 1),
			strings.NewReplacer("ID", id, "FOLDER", f).Replace(c.body)).want(400, c.word)
	}
	if _, total := w.as(editor, "GET", library+"/assets", "").want(200).found(); total != 1 {
		t.Errorf("refused requests stored %d assets", total-1)
	}
	// Permissions are answered with null for what they do not name, and may be sent back so.
	w.as(editor, "POST", library+"/folder/"+f+"/permissions",
		`{"create":[{"operation":"view","role":{"id":"r"},"group":null,"user":null}]}`).want(200,
		`"role":{"id":"r","name":""}`)
	w.as(editor, "POST", library+"/folder/"+f+"/permissions",
		`{"remove":[{"operation":"view","role":{"id":"r"},"group":null,"user":null}]}`).want(200, `{"permissions":[]}`)
	w.as(editor, "POST", library+"/attributes", `{"assets":["`+id+`"],"add":[{"key":"k","value":""}]}`).want(200,
		`{"key":"k","value":""}`)
	w.as(editor, "POST", library+"/attributes", `{"assets":[]}`).want(200, `{"result":[],"assets":[]}`)
	w.as(editor, "POST", library+"/folders",
		`{"update":[{"id":"`+f+`","label":"new","path":"/","inherit":false,"deleted":true}]}`).want(200,
		`"label":"new"`, `"inherit":false,"deleted":true`)
	w.as(editor, "POST", library+"/folders", `{"update":[{"id":""}]}`).want(404)
}
