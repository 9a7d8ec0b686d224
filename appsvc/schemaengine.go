package appsvc

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaURL is the base of a schema without an id. It names nothing.
const schemaURL = "https://config-schema.invalid/"

// DefaultSchemaEngine validates with santhosh-tekuri/jsonschema.
func DefaultSchemaEngine() SchemaEngine { return santhosh{} }

type santhosh struct{}

type santhoshSchema struct{ schema *jsonschema.Schema }

// noLoader refuses every URL: nothing is ever fetched.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("nothing is fetched")
}

func (santhosh) Compile(schema []byte) (Schema, error) {
	doc, err := decodeJSON(schema)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	return santhoshSchema{compiled}, nil
}

func (s santhoshSchema) Validate(config []byte) ([]Violation, error) {
	v, err := decodeJSON(config)
	if err != nil {
		return nil, err
	}
	if err := s.schema.Validate(v); err != nil {
		return []Violation{{Reason: err.Error()}}, nil
	}
	return nil, nil
}
