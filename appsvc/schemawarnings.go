package appsvc

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// SchemaWarning names something in a configSchema that has no effect, or another one than its author may think.
// CreateComponent and CheckComponent warn of these:
//
//   - keywords that the schema's draft ignores, such as const under draft-04, or all neighbours of a $ref before
//     2019-09;
//   - keywords without another one that they need, such as then without if;
//   - names that look like misspelt keywords, and nullable, which is OpenAPI's;
//   - keywords of earlier drafts, such as definitions, in a schema without $schema, which is one of draft 2020-12;
//   - formats that JSON Schema does not define, except color, for which the console has a control, and those of
//     SchemaOptions.Formats;
//   - alternatives of a oneOf that differ in their formats alone;
//   - defaults that break the schema that they stand in, so that App.WithDefaults does not add them, and defaults of
//     required members.
//
// Annotations such as title are not reported, and neither are names that resemble no keyword.
type SchemaWarning struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the schema
	Message string `json:"message"` // what has no effect, why, and where it is known what would
}

// warnings returns the warnings of a schema. One with texts, whose strings stand in for them as defaults, has those of
// the base and of each language that it names.
func (s *Service) warnings(ctx context.Context, schema []byte) (all []SchemaWarning, err error) {
	var rule languages
	if mayHaveTexts(schema) {
		rule, err = s.store.languages(ctx)
	}
	if err != nil || len(rule.List) == 0 {
		return s.schemas.warnings(schema)
	}
	base := rule.reading("")
	schema = compact(schema)
	base.resolve(schema)
	named := base.languages()
	for i, lang := range rule.List {
		if i > 0 && !slices.Contains(named, lang) {
			continue
		}
		found, err := s.schemas.warnings(rule.reading(lang).resolve(schema))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b SchemaWarning) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	return all[:min(len(all), maxViolations)], nil
}

// warnings returns the warnings of a schema, in the order of their pointers, at most 100. It returns an error for a
// schema that CreateComponent rejects. The formats of an engine of another program are not known.
func (s *schemas) warnings(schema []byte) ([]SchemaWarning, error) {
	own, _ := s.engine.(defaultEngine)
	warnings, err := own.formats.Warnings(schema)
	if err != nil {
		return nil, err
	}
	out := make([]SchemaWarning, len(warnings))
	for i, w := range warnings {
		out[i] = SchemaWarning(w)
	}
	return out, nil
}
