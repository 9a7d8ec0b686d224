package appsvc

import "github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"

// SchemaWarning names something in a schema that has no effect.
type SchemaWarning struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the schema
	Message string `json:"message"` // what has no effect, why, and where it is known what would
}

// SchemaWarnings returns what has no effect in a configSchema, so that the schema accepts more than
// its author may think:
//
//   - keywords that the schema's draft ignores, such as const under draft-04, or all neighbours of a $ref before 2019-09;
//   - keywords without another one that they need, such as then without if;
//   - names that look like misspelt keywords;
//   - formats that JSON Schema does not define, except those that the parameter formats names: the program has defined these;
//   - defaults that break the schema that they stand in, so that WithDefaults does not add them.
//
// The warnings come in the order of their pointers, at most 100. There is no warning of another annotation, such as title, nor of
// a name that is like no keyword. SchemaWarnings returns an error for a schema that CreateComponent rejects.
func SchemaWarnings(schema []byte, formats ...string) ([]SchemaWarning, error) {
	warnings, err := schemaguard.Warnings(schema, formats)
	if err != nil {
		return nil, err
	}
	out := make([]SchemaWarning, len(warnings))
	for i, w := range warnings {
		out[i] = SchemaWarning(w)
	}
	return out, nil
}
