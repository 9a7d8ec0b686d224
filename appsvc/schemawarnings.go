package appsvc

import (
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// SchemaWarning names something in a schema that has no effect.
type SchemaWarning struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the schema
	Message string `json:"message"` // what has no effect, why, and where it is known what would
}

// SchemaWarnings returns what has no effect in a configSchema, so that the schema accepts more than
// its author may think: keywords that the schema's draft ignores (const under draft-04, all
// neighbours of a $ref before 2019-09), names that look like misspelt keywords, and formats that
// JSON Schema does not define and that are not among formats, those of one's own. They come in the
// order of their pointers, at most 100.
//
// Annotations are never warned of, and a name that is like no keyword is its author's own. The
// error is that of creating a component with a schema that is too large, too deep, no strict JSON,
// or has no sound structure; a schema without that error may still be refused.
func SchemaWarnings(schema []byte, formats ...string) ([]SchemaWarning, error) {
	warnings, err := schemaguard.Warnings(schema, func(format string) bool { return slices.Contains(formats, format) })
	if err != nil {
		return nil, err
	}
	out := make([]SchemaWarning, len(warnings))
	for i, w := range warnings {
		out[i] = SchemaWarning(w)
	}
	return out, nil
}
