package schemaguard

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// oneOf is the keyword oneOf whose alternatives have formats that are annotations. With annotations only, alternatives
// that differ in their formats alone all fit, and no config would be valid. So formats decide there: a config is valid
// if one alternative alone fits, or if one alone fits with its formats asserted.
type oneOf struct {
	meter        *meter
	alternatives []*jsonschema.Schema
}

// Validate implements jsonschema.SchemaExt. Asserting formats comes second, since it is seldom needed; but it comes
// first if members can be unevaluated, because those of every alternative that fits count as evaluated.
func (o *oneOf) Validate(ctx *jsonschema.ValidatorContext, v any) {
	found, faults := o.fitting(ctx, v, o.meter.deciding || o.meter.unevaluated)
	switch {
	case o.meter.deciding: // for an outer oneOf
	case !o.meter.unevaluated && len(found) == 2:
		found, faults = o.fitting(ctx, v, true)
	case o.meter.unevaluated && len(found) == 0:
		if without, others := o.fitting(ctx, v, false); len(without) < 2 {
			found, faults = without, others
		}
	}
	switch len(found) {
	case 0:
		ctx.AddErrors(faults, &kind.OneOf{})
	case 2:
		ctx.AddError(&kind.OneOf{Subschemas: found})
	}
}

// fitting returns the indices of the first two alternatives that a value fits, and what is wrong with it for others.
func (o *oneOf) fitting(ctx *jsonschema.ValidatorContext, v any, deciding bool) (
	found []int, faults []*jsonschema.ValidationError) {
	before := o.meter.deciding
	o.meter.deciding = deciding
	defer func() { o.meter.deciding = before }()
	o.meter.charge(applySteps * len(o.alternatives))
	for i, alternative := range o.alternatives {
		if err, wrong := ctx.Validate(alternative, v, nil).(*jsonschema.ValidationError); wrong {
			faults = append(faults, err)
		} else if found = append(found, i); len(found) == 2 {
			break
		}
	}
	return found, faults
}

// leadToFormats returns the pointers of subschemas, and of their keywords, that lead to a format that is checked and is
// no assertion everywhere.
func leadToFormats(places map[string]*jsonschema.Schema, names map[string]string, formats Formats) map[string]bool {
	leads := map[string]bool{}
	holders := map[string][]string{} // the subschemas that refer to one
	var next []string
	for pointer, s := range places {
		name := names[pointer]
		switch {
		case formats.check(name) != nil && !formats.asserts(name), s.RecursiveRef != nil, s.DynamicRef != nil:
			next = append(next, pointer)
		case s.Ref != nil:
			target := pointerOf(s.Ref.Location)
			holders[target] = append(holders[target], pointer)
		}
	}
	for len(next) > 0 {
		pointer := next[len(next)-1]
		next = next[:len(next)-1]
		for !leads[pointer] { // a subschema leads to what is in it
			leads[pointer] = true
			next = append(next, holders[pointer]...)
			pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
		}
	}
	return leads
}
