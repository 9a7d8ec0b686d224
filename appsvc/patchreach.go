package appsvc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// reachedElements marks the elements that the operations read or write: those with an operation at a pointer inside the element,
// such as /apps/0/elements/3/config. It returns nil, which stands for all elements, if a pointer names
//
//   - the list of elements, or an element as a whole: then the elements may get other indices;
//   - what contains the list, such as /apps/0;
//   - an element that is not there, or one by an index that is not canonical: then the operation fails, and its error is that
//     of the whole document.
//
// An element that is not marked cannot change. So the document has the number 0 in its place, and it is not compared
// afterwards. Most patches change one element of many: with ten elements this makes a patch take two thirds of the time.
func reachedElements(ops []jsonpatch.Op, elements int) []bool {
	reached := make([]bool, elements)
	for _, op := range ops {
		for _, pointer := range op.Pointers() {
			// token is the index of the element; inside says that the pointer leads on into the element.
			token, _, inside := strings.Cut(strings.TrimPrefix(pointer, elementsPath+"/"), "/")
			switch i, err := strconv.Atoi(token); {
			case !strings.HasPrefix(pointer, elementsPath):
				if strings.HasPrefix(elementsPath, pointer) {
					return nil // the pointer of what contains the elements
				}
			case inside && err == nil && strconv.Itoa(i) == token && 0 <= i && i < elements:
				reached[i] = true
			default:
				return nil
			}
		}
	}
	return reached
}

// elementsPath is the JSON pointer of the elements in the document.
const elementsPath = appPath + "/elements"

// document returns the document that a patch is applied to: {"apps":[app]}, as a read returns it over HTTP. body and elements are
// what Body.membersAndElements has returned. In place of an element that reached does not mark it has the number 0, so that the
// others keep their indices; nil marks all.
//
// The patch cannot tell the difference: reachedElements marks every element that an operation looks at.
func document(meta Meta, body rawjson.Object, elements [][]byte, reached []bool) []byte {
	short := fmt.Appendf(make([]byte, 0, 512), `{"title":%s,"owner":%s,"groups":%s,"elements":[`, body.Get("title"), body.Get("owner"), body.Get("groups"))
	for i, element := range elements {
		if i > 0 {
			short = append(short, ',')
		}
		if reached != nil && !reached[i] {
			element = []byte("0")
		}
		short = append(short, element...)
	}
	app := App{Meta: meta, Body: append(short, "]}"...)}
	return append(app.AppendJSON([]byte(docBegin)), docEnd...)
}

// docBegin and docEnd are what the document has before and after the app.
const docBegin, docEnd = `{"apps":[`, `]}`
