package reviews

import _ "embed"

//go:embed schema.json
var recordSchema string

// RecordSchema returns a JSON Schema (draft 2020-12) of the record of a line, for a check with other tools. Every record that
// Check accepts is valid by it. Its $comment names the rules that no schema can state, and Rule.Schema says it of each rule.
func RecordSchema() []byte { return []byte(recordSchema) }
