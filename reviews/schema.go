package reviews

import _ "embed"

//go:embed schema.json
var recordSchema string

// RecordSchema returns a JSON Schema (draft 2020-12) of one line of a file, for those who check
// elsewhere. Every record that Check accepts is valid by it; its $comment
// says which rules no schema can state, and Rules says it of each.
func RecordSchema() []byte { return []byte(recordSchema) }
