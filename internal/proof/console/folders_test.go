//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// inside is the XPath of a folder's name below another folder.
func inside(label, parent string) string {
	return fmt.Sprintf(`%s/ancestor::li[1]/ul//span[@id and .=%q]`, folder(parent), label)
}

// focused waits until the folder with this label has the focus.
func (p *person) focused(label string) {
	p.T.Helper()
	p.Until(`(label) => document.activeElement?.querySelector(":scope > .row .called")?.textContent === label`, label)
}

// Folders are made, renamed, moved, deleted and brought back, by mouse and by keys.
func TestFolders(t *testing.T) {
	w := newWorld(t)
	summer, winter := w.newFolder("Summer", "/"), w.newFolder("Winter", "/")
	w.newFolder("June", "/"+summer)
	w.request(ann, "POST", library+"/assets",
		`{"add":[`+newAsset(1, "Snow", winter, "snow")+","+newAsset(2, "Sun", "", "sun")+`]}`)
	p := w.signIn(ann, "/assets")
	p.See(counted("Winter", 1))
	p.See(counted("Summer", 0))
	t.Run("new, renamed, and what the service says against it", func(t *testing.T) {
		p.Click(`//aside` + named("New folder"))
		p.Type(`//dialog//input`, strings.Repeat("x", 129))
		p.Click(`//dialog` + named("Create"))
		p.See(`//dialog//*[@role="alert" and contains(., "128")]`)
		p.Retype(`//dialog//input`, "Spring")
		p.Click(`//dialog` + named("Create"))
		p.focused("Spring")
		p.Press(keyF2)
		p.Retype(`//dialog//input`, "Autumn")
		p.Click(`//dialog` + named("Rename"))
		p.See(folder("Autumn"))
		p.Click(named("Change the folder Autumn"))
		p.Click(`//dialog` + named("New folder in it"))
		p.Type(`//dialog//input`, "October")
		p.Click(`//dialog` + named("Create"))
		p.See(inside("October", "Autumn"))
		p.focused("October")
	})
	t.Run("the keys of a tree", func(t *testing.T) {
		p.Press(keyLeft)
		p.focused("Autumn")
		p.Press(keyLeft)
		p.Until(`() => !document.querySelector("aside").innerText.includes("October")`)
		p.Press(keyDown)
		p.focused("Summer")
		p.Press(keyRight)
		p.See(inside("June", "Summer"))
		p.Press(keyRight)
		p.focused("June")
		p.Press(keyDown)
		p.focused("Winter")
		p.Press(keyHome)
		p.focused("Autumn")
		p.Press("w")
		p.focused("Winter")
		p.Press(keyEnter)
		p.See(`//*[@role="status" and .="1 asset"]`)
		p.See(`//li[@aria-selected="true"]//span[.="Winter"]`)
		p.Press(keyEnter)
		p.See(`//*[@role="status" and .="2 assets"]`)
	})
	t.Run("moved by keys", func(t *testing.T) {
		cut := func(want string) { // the names of the folders that are marked, as they are read out
			t.Helper()
			p.Until(`(want) => [...document.querySelectorAll('[role="treeitem"]')]
				.map((x) => x.getAttribute("aria-labelledby").split(" ")
					.map((id) => document.getElementById(id).textContent).join(" "))
				.filter((name) => name.includes("cut, to be moved")).join() === want`, want)
		}
		p.Press(keyHome)
		p.Press(keyControl + "x" + keyNull)
		cut("Autumn 0 cut, to be moved")
		p.Press("w")
		p.Press(keyControl + "x" + keyNull)
		p.See(toast("Winter moves into it"))
		cut("Winter 1 cut, to be moved")
		p.Press(keyEscape)
		p.See(toast("Winter stays where it is."))
		cut("")
		p.Press(keyHome)
		p.Press(keyControl + "v" + keyNull) // which moves nothing any more
		p.Press("w")
		p.Press(keyControl + "x" + keyNull)
		cut("Winter 1 cut, to be moved")
		p.Press(keyHome)
		p.Press(keyControl + "v" + keyNull)
		p.See(inside("Winter", "Autumn"))
		p.focused("Winter")
		cut("")
		p.Click(toast("Winter is in Autumn now.") + named("Undo"))
		p.Until(`() => [...document.querySelectorAll('[role="tree"] > li')].some((x) => ` +
			`x.querySelector(".called").textContent === "Winter")`)
	})
	t.Run("moved by dragging", func(t *testing.T) {
		p.Drag(folder("Winter"), folder("June"))
		p.See(inside("Winter", "June"))
		p.Drag(folder("Winter"), `//aside//h2[.="Folders"]`)
		p.Until(`() => [...document.querySelectorAll('[role="tree"] > li')].some((x) => ` +
			`x.querySelector(".called").textContent === "Winter")`)
		p.Drag(folder("Summer"), folder("June")) // which is below it: nothing happens
		p.See(inside("June", "Summer"))
		p.Click(folder("Summer") + `/ancestor::span[contains(@class, "row")]/span[contains(@class, "twisty")]`)
		p.Until(`() => !document.querySelector("aside").innerText.includes("June")`)
		p.Drag(folder("Winter"), folder("Summer"), folder("June")) // Summer opens while it is held there
		p.See(inside("Winter", "June"))
		p.Drag(folder("Winter"), `//aside//h2[.="Folders"]`)
		p.Until(`() => [...document.querySelectorAll('[role="tree"] > li')].some((x) => ` +
			`x.querySelector(".called").textContent === "Winter")`)
	})
	t.Run("moved by choosing a place", func(t *testing.T) {
		p.Click(named("Change the folder Winter"))
		p.Click(`//dialog` + named("Move"))
		p.Type(`//dialog//input`, keyEnter) // which chooses nothing
		p.Type(`//dialog//input`, "oct")
		p.See(`//dialog//li[contains(., "October") and contains(., "Autumn")]`)
		p.Press(keyDown + keyEnter)
		p.See(inside("Winter", "October"))
		p.focused("Winter")
		p.Press(keyShift + keyF10 + keyNull)
		p.See(`//dialog//dd[.="Autumn › October"]`)
		p.Click(`//dialog` + named("Move"))
		p.Click(`//dialog` + named("Top level"))
		p.Until(`() => [...document.querySelectorAll('[role="tree"] > li')].some((x) => ` +
			`x.querySelector(".called").textContent === "Winter")`)
	})
	t.Run("assets are dropped on a folder", func(t *testing.T) {
		card := `//ul[@aria-label="Assets"]/li`
		p.Drag(card+`[1]//span[contains(@class, "handle")]`, folder("June"))
		p.See(toast("1 put into June."))
		p.See(counted("June", 1))
		p.Click(card + `[1]//input`)
		p.Click(card + `[2]//input`)
		p.Drag(card+`[2]//span[contains(@class, "handle")]`, folder("Autumn"))
		p.See(toast("2 put into Autumn."))
	})
	t.Run("deleted and brought back", func(t *testing.T) {
		p.Click(folder("Autumn"))
		p.See(`//*[@role="status" and .="2 assets"]`)
		p.Press(keyDelete)
		p.Click(`//dialog` + named("Delete"))
		p.See(toast("Autumn is deleted."))
		p.Until(`() => !document.querySelector("aside").innerText.includes("Autumn") && ` +
			`!location.hash.includes("folder=")`)
		p.Click(named("Deleted folders"))
		p.Click(`//dialog` + named("Bring Autumn back"))
		p.See(`//dialog//li[contains(., "Autumn is back.")]`)
		p.Click(`//dialog` + named("Close"))
		p.See(folder("Autumn"))
		p.Click(named("Deleted folders"))
		p.See(`//dialog//*[contains(., "There are no deleted folders")]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("the bin", func(t *testing.T) {
		for _, label := range []string{"Rubbish", "Litter", "Waste"} {
			w.request(ann, "POST", library+"/folders", fmt.Sprintf(`{"delete":[%q]}`, w.newFolder(label, "/")))
		}
		p.Click(named("Deleted folders"))
		p.Click(`//dialog` + named("Remove Rubbish for good"))
		p.Click(`//dialog//button[.="Remove for good" and contains(@class, "main")]`)
		p.See(toast("Removed for good: 1 folder, 0 assets."))
		p.See(`//dialog//li[contains(., "Rubbish is gone.")]`)
		p.Click(`//dialog` + named("Empty the bin"))
		p.Click(`//dialog//button[.="Remove for good" and contains(@class, "main")]`)
		p.See(toast("Removed for good: 2 folders, 0 assets."))
		p.See(`//dialog//*[contains(., "There are no deleted folders")]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("who may see what changes by a move is told before", func(t *testing.T) {
		w.request(ann, "POST", library+"/folder/"+summer+"/permissions",
			`{"create":[{"operation":"edit","role":{"id":"editors"}}]}`)
		p.Drag(folder("Winter"), folder("Summer"))
		p.See(`//dialog//span[.="Role editors may view and edit it; before: view."]`)
		p.Click(`//dialog//button[.="Move"]`)
		p.See(inside("Winter", "Summer"))
	})
	t.Run("many", func(t *testing.T) {
		var many []string
		for i := range 420 {
			many = append(many, fmt.Sprintf(`{"label":"Many %03d","path":"/%s"}`, i, winter))
		}
		// They are in Winter, wherever that is now.
		var now struct{ Folder struct{ Path string } }
		if err := json.Unmarshal(w.request(ann, "GET", library+"/folder/"+winter, ""), &now); err != nil {
			t.Fatal(err)
		}
		w.request(ann, "POST", library+"/folders",
			`{"create":[`+strings.ReplaceAll(strings.Join(many, ","), `"/`+winter, `"`+now.Folder.Path+"/"+winter)+`]}`)
		p.view("/none")
		p.view("/assets?folder=" + winter)
		p.See(`//li[@aria-selected="true"]//span[.="Winter"]`)
		p.Click(folder("Winter") + `/ancestor::span[contains(@class, "row")]/span[contains(@class, "twisty")]`)
		rows := `(n) => document.querySelectorAll('[role="group"] [role="group"] > li').length === n`
		p.Until(rows, 201)
		p.Click(folder("Show more folders"))
		p.Until(rows, 401)
		p.focused("Many 200")
		p.Click(folder("Show more folders"))
		p.Until(rows, 420)
		p.Type(`//aside//input[@aria-label="Find a folder"]`, "many 41")
		p.Until(`() => document.querySelectorAll('[role="tree"] li').length === 10`)
		p.See(`//li[contains(., "Many 417") and contains(., "Summer › Winter")]`)
	})
}

// A folder that leaves a closed one keeps what closed it, or is opened by a moderator, and both can be undone.
func TestFoldersLeaveClosedOnes(t *testing.T) {
	w := newWorld(t)
	summer := w.newFolder("Summer", "/")
	winter := w.newFolder("Winter", "/"+summer)
	w.request(ann, "POST", library+"/folder/"+summer+"/permissions",
		`{"create":[{"operation":"edit","role":{"id":"editors"}}]}`)
	p := w.signIn(ann, "/assets")
	p.Click(folder("Summer") + `/ancestor::span[contains(@class, "row")]/span[contains(@class, "twisty")]`)
	p.See(inside("Winter", "Summer"))
	const keeps = "It keeps the permissions that it inherits now, as its own, and inherits no others."
	roles := func(want string) { // of Winter's own permissions, and whether it inherits
		t.Helper()
		var now struct {
			Folder struct {
				Inherit     bool
				Permissions []permission
			}
		}
		if err := json.Unmarshal(w.request(ann, "GET", library+"/folder/"+winter, ""), &now); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(now.Folder.Inherit)
		for _, g := range now.Folder.Permissions {
			got += " " + g.Operation + " " + g.Role.ID
		}
		if got != want {
			t.Errorf("Winter has %q, want %q", got, want)
		}
	}
	top := `() => [...document.querySelectorAll('[role="tree"] > li')].some((x) => ` +
		`x.querySelector(".called").textContent === "Winter")`
	p.Drag(folder("Winter"), `//aside//h2[.="Folders"]`)
	p.See(`//dialog//p[contains(., "` + keeps + `")]`)
	p.Click(`//dialog//button[.="Move"]`)
	p.Until(top)
	roles("false edit editors")
	p.Click(toast("Winter is in the top level now.") + named("Undo"))
	p.See(inside("Winter", "Summer"))
	roles("true")
	p.Drag(folder("Winter"), `//aside//h2[.="Folders"]`)
	p.Click(`//dialog//label[contains(., "Inherit from the top level instead")]//input`)
	p.See(`//dialog//span[.="Every member of the network may view it."]`)
	p.Click(`//dialog//button[.="Move"]`)
	p.Until(top)
	roles("true")
	p.Click(toast("Winter is in the top level now.") + named("Undo"))
	p.See(inside("Winter", "Summer"))
	roles("true")
}

// permission is one as it is stored.
type permission struct {
	Operation  string
	User, Role *struct{ ID string }
	Group      *string
}

// Permissions are shown with those that are inherited, changed with a preview, and explained.
func TestPermissions(t *testing.T) {
	w := newWorld(t)
	news := w.newFolder("News", "/")
	local := w.newFolder("Local", "/"+news)
	w.request(ann, "POST", library+"/folder/"+news+"/permissions",
		`{"create":[{"operation":"edit","role":{"id":"editors"}},{"operation":"manage","role":{"id":"desk"}}]}`)
	w.request(ann, "POST", library+"/assets", `{"add":[`+newAsset(1, "Snow", local, "snow")+`]}`)
	stored := func(want string) {
		t.Helper()
		var have struct{ Permissions []permission }
		if err := json.Unmarshal(w.request(ann, "GET", library+"/folder/"+local+"/permissions", ""),
			&have); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, p := range have.Permissions {
			switch {
			case p.User != nil:
				list = append(list, p.Operation+" user "+p.User.ID)
			case p.Role != nil:
				list = append(list, p.Operation+" role "+p.Role.ID)
			default:
				list = append(list, p.Operation+" group "+*p.Group)
			}
		}
		if strings.Join(list, ", ") != want {
			t.Errorf("the folder has %q, want %q", list, want)
		}
	}
	preview := func(text string) string {
		return fmt.Sprintf(`//*[contains(@class, "preview")]//li[.=%q]`, text)
	}
	table := func(row int, cells ...string) string {
		x := fmt.Sprintf(`(//table[contains(@class, "grants")]/tbody/tr)[%d]`, row)
		for i, c := range cells {
			x += fmt.Sprintf(`[td[%d][.=%q or .//option[@selected or true()][.=%q]]]`, i+1, c, c)
		}
		return x
	}
	p := w.signIn(ann, "/assets?folder="+local)
	open := func(p *person) {
		p.Click(named("Change the folder Local"))
		p.See(`//dialog//dd[.="News"]`)
	}
	open(p)
	p.See(`//dialog//dd/div[.="role editors may view and edit"]`)
	p.See(`//dialog//dd/div[.="You may view, edit and manage it: you moderate the network."]`)
	p.Click(`//dialog` + named("Permissions"))
	t.Run("what is inherited", func(t *testing.T) {
		p.See(table(1, "role editors", "view and edit", "News"))
		p.See(table(2, "role desk", "view, edit and manage", "News"))
		p.Click(`//label[contains(., "The permissions of the folders above count too")]//input`)
		p.See(preview("Role editors may not view it any more; before: view and edit."))
		p.See(preview("Only moderators of the network see it."))
		p.Click(`//label[contains(., "The permissions of the folders above count too")]//input`)
		p.See(`//*[contains(@class, "preview")]//p[.="Nothing yet."]`)
	})
	t.Run("given, and refused at the field", func(t *testing.T) {
		p.Click(named("Give a permission"))
		p.Type(`//table//input`, "rea")
		p.See(preview("Person rea may view it; before: nothing."))
		p.Click(named("Give a permission"))
		p.Click(`(//table//select[@aria-label="Who"])[2]/option[@value="group"]`)
		p.Type(`(//table//input)[2]`, "no group")
		p.Click(`//dialog` + named("Save"))
		p.See(`//table//tr[.//input[@aria-invalid="true"]]//*[contains(@class, "wrong") and contains(., "URN")]`)
		stored("")
		p.Retype(`(//table//input)[2]`, network+":site=1")
		p.Click(`(//table//select[contains(@aria-label, "may")])[2]/option[@value="edit"]`)
		p.Click(`//dialog` + named("Save"))
		p.See(toast("The permissions are saved."))
		p.See(`//dialog//dd/div[.="person rea may view"]`)
		stored("view user rea, edit group " + network + ":site=1")
	})
	t.Run("changed and taken away", func(t *testing.T) {
		p.Click(`//dialog` + named("Permissions"))
		p.Click(`//select[@aria-label="What person rea may"]/option[@value="manage"]`)
		p.See(preview("Person rea may view, edit and manage it; before: view."))
		p.Click(named("Remove group 1"))
		p.See(preview("Group 1 may not view it any more; before: view and edit."))
		p.Click(`//dialog` + named("Save"))
		p.See(toast("The permissions are saved."))
		p.See(`//dialog//dd/div[.="person rea may view, edit and manage"]`)
		stored("manage user rea")
	})
	t.Run("why, of an asset", func(t *testing.T) {
		p.Click(`//dialog` + named("Close"))
		p.Click(`//ul[@aria-label="Assets"]/li[1]//button[contains(@class, "open")]`)
		p.Click(`//dialog` + named("Why, and who else?"))
		p.Type(field("Person"), network+":user=rea")
		p.Click(`(//dialog)[last()]//button[.="Explain"]`)
		p.See(`//dialog//li[.="Rea may view and edit it: the folder “Local” has a permission to manage for person ` +
			`rea."]`)
	})
	t.Run("of somebody who moderates nothing", func(t *testing.T) {
		dan := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=dan", Roles: []string{"desk"},
			Groups: []string{network + ":site=1"}}}
		q := w.signIn(dan, "/assets?folder="+local)
		open(q)
		q.See(`//dialog//dd/div[.="You may view, edit and manage it: the folder “News” has a permission to manage ` +
			`for role desk."]`)
		q.Click(`//dialog` + named("Permissions"))
		q.See(table(2, "role desk", "view, edit and manage", "News"))
		q.Click(`(//dialog)[last()]` + named("Close"))
		q.Click(`//dialog` + named("Why?"))
		q.See(`(//dialog)[last()]//li[starts-with(., "You may view, edit and manage it")]`)
		q.Until(`() => document.querySelectorAll("dialog:last-of-type input").length === 0`)
		q.Click(`(//dialog)[last()]` + named("Close"))
		q.Click(`//dialog` + named("Close"))
		t.Run("what I may", func(t *testing.T) {
			q.Click(`//button[contains(@class, "who")]`)
			q.See(`//dialog//dt[.="Roles"]/following-sibling::dd[.="desk"]`)
			q.See(`//dialog//dt[.="Groups"]/following-sibling::dd[.//*[contains(@title, "site=1")]]`)
			q.See(`//dialog//dt[.="Until"]/following-sibling::dd[contains(., "in ")]`)
			q.Click(`//dialog` + named("Close"))
		})
		viewer := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=vic",
			Groups: []string{network + ":site=2"}, Roles: []string{"editors"}}}
		q = w.signIn(viewer, "/assets?folder="+local)
		open(q)
		q.See(`//dialog//dd/div[starts-with(., "You may view and edit it")]`)
		q.See(`//dialog//dd[contains(., "whom permissions allow that you may not see")]`)
		q.Until(`() => ![...document.querySelectorAll("dialog button")].some((b) => ["Permissions", ` +
			`"Delete"].includes(b.textContent))`)
	})
}
