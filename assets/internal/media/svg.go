package media

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// isSVG reports whether a file begins with the element svg, after a byte order mark, an XML declaration, comments and a
// document type, if it has any.
func isSVG(head []byte) bool {
	_, _, err := svgRoot(bytes.NewReader(head))
	return err == nil
}

// svgRoot reads up to the start tag of the root element, which must be svg, and returns it, and whether it is an empty
// element, which ends there.
func svgRoot(r io.Reader) (root xml.StartElement, empty bool, err error) {
	decoder := xml.NewDecoder(r)
	decoder.Strict = false // for entities of the document type
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return root, false, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "svg" {
				return root, false, errNotTaken
			}
			next, _ := decoder.RawToken() // also the end tag of one that is written without content
			_, empty = next.(xml.EndElement)
			return token, empty, nil
		case xml.CharData:
			if len(bytes.Trim(token, "\ufeff \t\r\n")) > 0 {
				return root, false, errNotTaken
			}
		case xml.EndElement:
			return root, false, errNotTaken
		}
	}
}

// svgEnd matches the end tag of an element svg, and what stands behind it.
var svgEnd = regexp.MustCompile(`</([\w.-]+:)?svg\s*>[^<]*(<!--(?s:.*)|<\?(?s:.*))?$`)

// copySVG copies an SVG, and measures it. One whose last 64 KiB do not end its root element ends early.
func copySVG(c *copier) {
	c.info.Alpha = true
	root, empty, err := svgRoot(bytes.NewReader(c.head(HeadSize)))
	if err == nil {
		c.info.Width, c.info.Height = svgSize(root.Attr)
	}
	var last []byte
	for c.err == nil && len(c.head(1)) > 0 {
		n := c.r.Buffered()
		last = append(last, c.head(n)...)
		last = last[max(len(last)-maxTake, 0):]
		c.copy(int64(n))
	}
	if c.err == nil && !empty && !svgEnd.Match(last) {
		c.fail(io.EOF)
	}
}

// svgSize returns width and height in pixels of CSS. What is missing, or relative to what is around the picture,
// follows from the viewBox.
func svgSize(attributes []xml.Attr) (int, int) {
	var width, height, boxWidth, boxHeight float64
	for _, a := range attributes {
		switch {
		case a.Name.Space != "":
		case a.Name.Local == "width":
			width = svgLength(a.Value)
		case a.Name.Local == "height":
			height = svgLength(a.Value)
		case a.Name.Local == "viewBox":
			if numbers := strings.FieldsFunc(a.Value, isListSpace); len(numbers) == 4 {
				boxWidth, boxHeight = svgLength(numbers[2]), svgLength(numbers[3])
			}
		}
	}
	if boxWidth > 0 && boxHeight > 0 {
		switch {
		case width == 0 && height == 0:
			width, height = boxWidth, boxHeight
		case width == 0:
			width = height * boxWidth / boxHeight
		case height == 0:
			height = width * boxHeight / boxWidth
		}
	}
	pixels := func(length float64) int { return int(math.Round(min(max(length, 1), math.MaxInt32))) }
	if width == 0 || height == 0 {
		return 0, 0
	}
	return pixels(width), pixels(height)
}

func isListSpace(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) }

// svgLength returns a length in pixels of CSS, and zero for none and for one with a relative unit.
func svgLength(text string) float64 {
	text = strings.TrimSpace(text)
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz%")
	factor := map[string]float64{"": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96. / 72, "pc": 16}
	length, err := strconv.ParseFloat(number, 64)
	length *= factor[text[len(number):]]
	if err != nil || !(length > 0) || math.IsInf(length, 0) {
		return 0
	}
	return length
}
