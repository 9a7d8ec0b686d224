package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// addAssetTools adds the tools for assets and files.
func addAssetTools(s *sdk.Server) {
	tool(s, reads, "find_assets", "Find assets", `Finds pictures, other files and posts of the asset library by words, a
folder or a kind, the newest first. Use it to put the address of a picture into a config.`, findAssets)
	tool(s, reads, "find_folders", "Find folders", `Lists folders of the asset library: those at the top level, in a
folder, or with a label. Use it for the ids that find_assets and add_file take.`, findFolders)
	tool(s, adds, "add_file", "Add a file", `Adds a picture or another file of up to 1 MiB to the asset library, and
returns its address. It replaces and removes nothing.`, addFile)
}

// libraryOf returns a library of the network of the agent, its main one for "".
func (c *call) libraryOf(id string) assets.Library {
	network := strings.Split(c.By.URN, ":")[2]
	return assets.Library{Network: network, ID: cmp.Or(id, network)}
}

type findAssetsInput struct {
	Query   string `json:"q,omitzero" jsonschema:"words of the text, title or alt; light* also finds lighthouse"`
	Folder  string `json:"folder,omitzero" jsonschema:"id of a folder, with those below it"`
	Type    string `json:"type,omitzero" jsonschema:"photo, video, audio, link or rich"`
	Library string `json:"library,omitzero" jsonschema:"id of a library; the network's own without it"`
	Cursor  string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundAssets struct {
	Assets []foundAsset `json:"assets"`
	Total  int64        `json:"total"`
	Cursor string       `json:"cursor,omitzero"`
}

type foundAsset struct {
	ID      string        `json:"id"`
	Text    string        `json:"text,omitzero"`
	Files   []foundFile   `json:"files,omitzero"`
	Folders []foundFolder `json:"folders,omitzero"`
}

type foundFile struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitzero"`
	URL    string `json:"url"`
	Alt    string `json:"alt,omitzero"`
	Width  int    `json:"width,omitzero"`
	Height int    `json:"height,omitzero"`
}

type foundFolder struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// mostOfAsset is how many files and folders a found asset is shown with.
const mostOfAsset = 5

func shownAsset(a assets.Asset) foundAsset {
	var body struct {
		Content struct {
			Content    string `json:"content"`
			Attachment []struct {
				Type        string `json:"type"`
				Title       string `json:"title"`
				Description string `json:"description"`
				URL         struct {
					Href string `json:"href"`
				} `json:"url"`
				Width  int `json:"width"`
				Height int `json:"height"`
			} `json:"attachment"`
		} `json:"content"`
	}
	out := foundAsset{ID: a.ID}
	_ = jsonv2.Unmarshal(a.Body, &body) // what its service writes in another form is left out
	out.Text = cut(body.Content.Content, mostDescription)
	for i, f := range body.Content.Attachment {
		if i < mostOfAsset && len(f.URL.Href) <= mostDescription {
			out.Files = append(out.Files, foundFile{cut(f.Type, 20), cut(f.Title, mostDescription), f.URL.Href,
				cut(f.Description, mostDescription), f.Width, f.Height})
		}
	}
	for _, f := range a.Folders[:min(len(a.Folders), mostOfAsset)] {
		out.Folders = append(out.Folders, foundFolder{f.ID, cut(f.Label, mostDescription)})
	}
	return out
}

func findAssets(c *call, in findAssetsInput) (out foundAssets, err error) {
	search := assets.SearchRequest{Query: in.Query, FolderTree: in.Folder, Until: in.Cursor}
	if in.Query != "" {
		search.In = []string{"text", "attachments"}
	}
	if in.Type != "" {
		search.Types = []string{in.Type}
	}
	out.Assets, out.Cursor, err = pageOf(40, func(limit int) (all vitrine.Page[assets.Asset], err error) {
		search.Limit = limit
		page, err := c.assets.Search(c.Context(), c.libraryOf(in.Library), search)
		if all.Items, out.Total = page.Assets, page.Total; page.HasPrev {
			all.Next = page.Prev
		}
		return all, err
	}, shownAsset)
	return out, err
}

type findFoldersInput struct {
	Query   string `json:"q,omitzero" jsonschema:"a part of the label, of folders at all levels"`
	In      string `json:"in,omitzero" jsonschema:"id of a folder: those in it; the top level without in and q"`
	Library string `json:"library,omitzero" jsonschema:"id of a library; the network's own without it"`
	Cursor  string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundFolders struct {
	Folders []shownFolder `json:"folders"`
	Cursor  string        `json:"cursor,omitzero"`
}

type shownFolder struct {
	foundFolder
	Path     string `json:"path" jsonschema:"ids of the folders above it"`
	Children int    `json:"children" jsonschema:"how many folders are in it"`
}

func findFolders(c *call, in findFoldersInput) (out foundFolders, err error) {
	lib := c.libraryOf(in.Library)
	list := assets.ListFoldersRequest{Label: in.Query, After: in.Cursor}
	if in.In != "" {
		f, err := c.assets.Folder(c.Context(), lib, in.In)
		if err != nil {
			return out, fault.At("/in", err)
		}
		list.Paths = []string{strings.TrimSuffix(f.Path, "/") + "/" + f.ID}
	}
	out.Folders, out.Cursor, err = pageOf(40, func(limit int) (vitrine.Page[assets.Folder], error) {
		list.Limit = limit
		page, err := c.assets.ListFolders(c.Context(), lib, list)
		return page.Page, err
	}, func(f assets.Folder) shownFolder {
		return shownFolder{foundFolder{f.ID, cut(f.Label, mostDescription)}, f.Path, len(f.Children)}
	})
	return out, err
}

type fileInput struct {
	Name    string   `json:"name" jsonschema:"name of the file, such as boat.jpg"`
	Bytes   string   `json:"bytes" jsonschema:"of the file, in base64; 1 MiB at most"`
	Folders []string `json:"folders,omitzero" jsonschema:"ids of the folders that it is put into, of find_folders"`
	Title   string   `json:"title,omitzero"`
	Alt     string   `json:"alt,omitzero" jsonschema:"what a picture shows, for people who do not see it"`
	Library string   `json:"library,omitzero" jsonschema:"id of a library; the network's own without it"`
}

// mostFile is how many bytes a file has at most.
const mostFile = 1 << 20

func addFile(c *call, in fileInput) (out foundAsset, err error) {
	body, err := base64.StdEncoding.DecodeString(in.Bytes)
	if err != nil {
		return out, fault.Invalid("/bytes", "want base64: %s", err)
	}
	if len(body) > mostFile {
		return out, fault.At("/bytes", fault.TooLarge("the file has %d bytes: want at most %d", len(body), mostFile))
	}
	a, err := c.assets.Upload(c.Context(), c.libraryOf(in.Library), assets.UploadRequest{Name: in.Name,
		Folders: in.Folders, Title: in.Title, Alt: in.Alt, Size: int64(len(body))}, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	return shownAsset(a), nil
}
