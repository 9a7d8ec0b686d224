package assets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// ShowFolderRequest says which assets of a folder to show.
type ShowFolderRequest struct {
	Folder string   // id
	Types  []string // as in SearchRequest
	Sort   string   // as in SearchRequest; the newest is the first
	Limit  int      // assets of a page; 0 = 50, or Limits.Page if that is lower
	After  string   // Next of another ShownFolder
	// Root is what to put before the addresses of files, which are paths: the scheme and the host of the server. "" =
	// nothing.
	Root string
}

// ShownFolder is a page of a folder for everybody who visits a web page. The HTTP API returns its JSON.
type ShownFolder struct {
	Folder struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	} `json:"folder"`
	Assets []ShownAsset `json:"assets"`
	Next   string       `json:"next,omitempty"` // goes into After; "" on the last page
}

// ShownAsset is an asset as pages show it: without attributes, tags, via, rights and the ids that it has elsewhere.
type ShownAsset struct {
	ID        string `json:"id"`
	CreatedAt string `json:"createdAt"` // ISO 8601
	Text      string `json:"text"`      // without markup
	// HTML is the text with the elements p, br, a, em, strong, ul, ol, li and blockquote. Links are http or https, and
	// have href and rel alone; nothing else has an attribute. It can be put into a page.
	HTML   string `json:"html"`
	Author struct {
		Name string `json:"name"`
		URL  string `json:"url,omitempty"`
		Icon string `json:"icon,omitempty"`
	} `json:"author"`
	Attachments []ShownAttachment `json:"attachments"`
}

// ShownAttachment is an attachment as pages show it.
type ShownAttachment struct {
	Type        string    `json:"type"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	URL         string    `json:"url,omitempty"`
	Width       int64     `json:"width,omitzero"`
	Height      int64     `json:"height,omitzero"`
	Thumbnail   string    `json:"thumbnail_url,omitempty"`
	File        *FileInfo `json:"file,omitzero"` // of an asset that has a file
}

// ShowFolder returns a page of the assets that are in a folder itself. It is the only method for callers with TagsOnly:
// they need the folder in PublicFolders. Others need the right to view it.
//
// It returns ErrForbidden for any other caller with TagsOnly, ErrNotFound if the folder is absent, deleted or not
// visible, and ErrInvalid if a field is malformed.
func (s *Session) ShowFolder(ctx context.Context, lib Library, in ShowFolderRequest) (out ShownFolder, err error) {
	s = s.calls("ShowFolder")
	var m member
	if !s.by.TagsOnly {
		m, err = s.authorize(lib)
	} else if err = s.by.CheckMethod("assets.ShowFolder"); err == nil {
		if !slices.Contains(s.by.PublicFolders, lib.Network+"/"+lib.ID+"/"+in.Folder) {
			return out, fault.Forbidden("the caller may not show this folder")
		}
		// Whoever made the caller could manage the folder. Nothing but its assets is read.
		m = member{Caller: s.by, network: s.service.NetworkURN(lib), moderator: true, best: map[*node]*Permission{}}
	}
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.service.limits.SearchTime)
	defer cancel()
	err = s.service.snapshot(ctx, lib, m, false, func(req *request) (err error) {
		if err = req.load(); err == nil {
			out, err = req.showFolder(in)
		}
		return err
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Parameter == "until" {
		after := *e
		after.Parameter = "after"
		err = &after
	}
	return out, err
}

func (req *request) showFolder(in ShowFolderRequest) (out ShownFolder, err error) {
	n, err := req.folderSeen("", in.Folder)
	if err != nil {
		return out, err
	}
	page, err := req.search(SearchRequest{Folder: n.ID, Types: in.Types, Sort: in.Sort, Limit: in.Limit,
		Until: in.After})
	if err != nil {
		return out, err
	}
	out.Folder.ID, out.Folder.Label, out.Assets = n.ID, n.Label, []ShownAsset{}
	if page.HasPrev {
		out.Next = page.Prev
	}
	for _, a := range page.Assets {
		shown, err := a.shown(in.Root)
		if err != nil {
			return out, err
		}
		out.Assets = append(out.Assets, shown)
	}
	return out, nil
}

// shown returns the asset as pages show it. The members of a content that have a rule have the type that is read here;
// description has none.
func (a Asset) shown(root string) (out ShownAsset, err error) {
	var in struct {
		Content struct {
			Content      string `json:"content"`
			AttributedTo struct {
				Username    string `json:"username"`
				DisplayName string `json:"displayName"`
				URL         link   `json:"url"`
				Icon        struct {
					URL link `json:"url"`
				} `json:"icon"`
			} `json:"attributedTo"`
		} `json:"content"`
	}
	if err := json.Unmarshal(a.Body, &in); err != nil {
		return out, fmt.Errorf("stored asset: %w", err)
	}
	c, by := in.Content, in.Content.AttributedTo
	out = ShownAsset{ID: a.ID, CreatedAt: string(appendTime(nil, a.CreatedAt)), HTML: sanitize(c.Content),
		Text: strings.Join(strings.Fields(newRules.strip(c.Content).text), " ")}
	if out.Author.Name = by.DisplayName; out.Author.Name == "" {
		out.Author.Name = by.Username
	}
	out.Author.URL, out.Author.Icon = by.URL.Href, by.Icon.URL.Href
	if out.Attachments, err = a.Attachments(); err != nil || !a.hasFile {
		return out, err
	}
	for i := range out.Attachments {
		at := &out.Attachments[i]
		if at.URL = root + at.URL; at.Thumbnail != "" {
			at.Thumbnail = root + at.Thumbnail
		}
	}
	return out, nil
}

// Attachments returns the attachments of the content. An asset that Upload has made has one: its URL is the address of
// the file, and Thumbnail that of a picture in its smallest width. Both are paths of the server, below the base path
// that Service.Below was given, and may stand in the config of an app: pages get them with the host. File is nil for an
// asset that adapters/client has read. The error is that of a Body which no service has written.
func (a Asset) Attachments() ([]ShownAttachment, error) {
	var in struct {
		Content struct {
			Attachment []struct {
				attachment
				Thumbnail link  `json:"thumbnail_url"`
				Width     int64 `json:"width"`
				Height    int64 `json:"height"`

				File jsontext.Value `json:"file"`
			} `json:"attachment"`
		} `json:"content"`
	}
	if err := json.Unmarshal(a.Body, &in); err != nil {
		return nil, fmt.Errorf("stored asset: %w", err)
	}
	all := []ShownAttachment{}
	for _, one := range in.Content.Attachment {
		at := ShownAttachment{Type: one.Type, Title: one.Title, URL: one.URL.Href, Thumbnail: one.Thumbnail.Href,
			Width: one.Width, Height: one.Height}
		at.Description, _ = one.Description.(string)
		if a.hasFile { // else the member file means nothing
			if err := json.Unmarshal(one.File, &at.File); err != nil {
				return nil, fmt.Errorf("stored asset: %w", err)
			}
		}
		all = append(all, at)
	}
	return all, nil
}

// shownElements are the elements that sanitize keeps, by those of the HTML.
var shownElements = map[atom.Atom]string{atom.P: "p", atom.Br: "br", atom.A: "a", atom.Em: "em", atom.I: "em",
	atom.Strong: "strong", atom.B: "strong", atom.Ul: "ul", atom.Ol: "ol", atom.Li: "li", atom.Blockquote: "blockquote"}

// mostShownDepth is how deep sanitize goes into elements. What is below is left out.
const mostShownDepth = 64

// sanitize reduces HTML to what ShownAsset.HTML has. The text is parsed as by a browser, and no markup is copied: the
// result has escaped text and tags that are written here.
func sanitize(text string) string {
	nodes, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, Data: "div",
		DataAtom: atom.Div})
	if err != nil { // none is possible on a string but that of elements that are nested too deep
		return html.EscapeString(strings.Join(strings.Fields(newRules.strip(text).text), " "))
	}
	var b strings.Builder
	for _, n := range nodes {
		appendShown(&b, n, 0)
	}
	return b.String()
}

func appendShown(b *strings.Builder, n *html.Node, depth int) {
	switch {
	case n.Type == html.TextNode:
		b.WriteString(html.EscapeString(n.Data))
		return
	case n.Type != html.ElementNode || depth == mostShownDepth || n.Namespace != "":
		return
	}
	switch n.DataAtom { // their text is not shown
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Title, atom.Textarea, atom.Select, atom.Iframe,
		atom.Noembed, atom.Noframes, atom.Xmp, atom.Plaintext, atom.Object, atom.Math, atom.Svg:
		return
	}
	name := shownElements[n.DataAtom]
	if name == "a" {
		href := ""
		for _, attribute := range n.Attr {
			if attribute.Key == "href" && attribute.Namespace == "" && checkURL(attribute.Val) == nil {
				href = attribute.Val
			}
		}
		if name = ""; href != "" {
			name = "a"
			b.WriteString(`<a href="` + html.EscapeString(href) + `" rel="nofollow noopener">`)
		}
	} else if name != "" {
		b.WriteString("<" + name + ">")
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		appendShown(b, child, depth+1)
	}
	switch {
	case name != "" && name != "br":
		b.WriteString("</" + name + ">")
	case name == "" && !isInline(n.DataAtom):
		b.WriteString(" ")
	}
}
