package assets

import "strings"

// AttributeFilter asks for assets that have an attribute.
type AttributeFilter struct {
	Key   string  // without a colon, which separates it from the value over HTTP
	Value *string // nil = any
}

// Text returns the filter as it is over HTTP: key:value, or the key alone. It returns ErrInvalid if
// the key has a colon, since the text would be read as another key and value.
func (a AttributeFilter) Text() (string, error) {
	switch {
	case strings.Contains(a.Key, ":"):
		return "", invalid("attribute", "the key %q has a colon, which stands between key and value here", a.Key)
	case a.Value == nil:
		return a.Key, nil
	}
	return a.Key + ":" + *a.Value, nil
}

// check returns ErrInvalid if the key is empty, malformed or has a colon, or if the value is
// malformed.
func (a AttributeFilter) check(lim Limits) error {
	if a.Key == "" {
		return invalid("attribute", "has an empty key: want key:value, or key alone for any value")
	}
	if _, err := a.Text(); err != nil {
		return err
	}
	if err := checkName("attribute", a.Key, lim.Name); err != nil || a.Value == nil {
		return err
	}
	return checkText("attribute", *a.Value, lim.Text)
}
