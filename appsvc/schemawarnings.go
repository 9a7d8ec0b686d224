package appsvc

import "github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"

// SchemaWarning names something in a configSchema that has no effect, so that the schema accepts more than its author may think.
// CheckComponent warns of these:
//
//   - keywords that the schema's draft ignores, such as const under draft-04, or all neighbours of a $ref before 2019-09;
//   - keywords without another one that they need, such as then without if;
//   - names that look like misspelt keywords;
//   - formats that JSON Schema does not define, except color, for which the console has a control, and those of SchemaOptions.Formats;
//   - defaults that break the schema that they stand in, so that App.WithDefaults does not add them.
//
// Annotations such as title are not reported, and neither are names that resemble no keyword.
type SchemaWarning struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the schema
	Message string `json:"message"` // what has no effect, why, and where it is known what would
}

// schemaWarnings returns the warnings of a schema, in the order of their pointers, at most 100. formats are those that the program
// has defined. It returns an error for a schema that CreateComponent rejects.
func schemaWarnings(schema []byte, formats ...string) ([]SchemaWarning, error) {
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
