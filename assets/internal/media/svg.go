package media

import (
	"bytes"
	"encoding/xml"
	"io"
)

// isSVG reports whether a file begins with the element svg, behind what may stand before it: a byte order mark, an XML
// declaration, comments and a document type.
func isSVG(head []byte) bool {
	_, err := svgRoot(bytes.NewReader(head))
	return err == nil
}

// svgRoot reads up to the start tag of the root element, which must be svg, and returns it.
func svgRoot(r io.Reader) (xml.StartElement, error) {
	decoder := xml.NewDecoder(r)
	decoder.Strict = false // for entities of the document type
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return xml.StartElement{}, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "svg" {
				return token, errNotTaken
			}
			return token, nil
		case xml.CharData:
			if len(bytes.Trim(token, "\ufeff \t\r\n")) > 0 {
				return xml.StartElement{}, errNotTaken
			}
		case xml.EndElement:
			return xml.StartElement{}, errNotTaken
		}
	}
}
