package httpapi_test

import (
	"strings"
	"testing"
)

func TestMembersThatAreMissingOrNullAreNamed(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"f"}`)
	id := w.mustAsset("1", "x")
	for _, c := range []struct{ path, body, word string }{
		{"/attributes", `{"add":[{"key":"k","value":"v"}]}`, `member \"assets\" is missing`},
		{"/attributes", `{}`, `member \"assets\" is missing`},
		{"/attributes", `{"assets":null}`, "/assets: null is not allowed"},
		{"/attributes", `{"assets":["ID"],"add":[{"key":"k","value":""},{"key":"k"}]}`, `/add/1/value: member \"value\" is missing`},
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
		{"/folders", `{"update":[{"id":"FOLDER","Label":"x"}]}`, `unknown member \"Label\"`},
	} {
		w.as(editor, "POST", library+c.path, strings.NewReplacer("ID", id, "FOLDER", f).Replace(c.body)).want(400, c.word)
	}
	w.as(editor, "POST", library+"/attributes", `{"assets":["`+id+`"],"add":[{"key":"k","value":""}]}`).want(200, `{"key":"k","value":""}`)
	w.as(editor, "POST", library+"/attributes", `{"assets":[]}`).want(200, `{"result":[],"assets":[]}`)
	w.as(editor, "POST", library+"/folders", `{"update":[{"id":"`+f+`","label":"new","path":"/","inherit":false,"deleted":true}]}`).want(200, `"label":"new"`, `"inherit":false,"deleted":true`)
	w.as(editor, "POST", library+"/folders", `{"update":[{"id":""}]}`).want(404)
}
