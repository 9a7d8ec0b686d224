package appsvc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// reach returns which elements the operations look into, or nil when they may touch the array of
// elements itself, or more. What is not reached stays as it is and need not be looked at: most
// patches change one element of many.
func reach(ops []jsonpatch.Op, elements int) []bool {
	reached := make([]bool, elements)
	for _, op := range ops {
		for _, pointer := range op.Pointers() {
			token, _, inside := strings.Cut(strings.TrimPrefix(pointer, elementsPath+"/"), "/")
			switch i, err := strconv.Atoi(token); {
			case !strings.HasPrefix(pointer, elementsPath):
				if strings.HasPrefix(elementsPath, pointer) {
					return nil // around the elements
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

const elementsPath = "/apps/0/elements"

// document is the app as App answers it over HTTP, for a patch to be applied to. In the place of an
// element that is not reached stands 0.
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

const docBegin, docEnd = `{"apps":[`, `]}`
