package reviews

import _ "embed"

//go:embed schema.json
var recordSchema string

// RecordSchema returns a JSON Schema (draft 2020-12) of the record of a line, for a check with other tools. Every
// record that Check accepts is valid by it, but a record that is valid by it may break a rule that no schema can state.
// Its $comment names these rules, and Rule.Schema says of each rule whether the schema states it. The caller may change
// the bytes.
func RecordSchema() []byte { return []byte(recordSchema) }
