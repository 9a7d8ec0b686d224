package schemaguard

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// numberSize is the number of decimal digits that a JSON number has when it is written out.
func numberSize(text string) int64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	size := int64(len(mantissa))
	if exponent == "" {
		return size
	}
	e, err := strconv.ParseInt(exponent, 10, 64)
	if err != nil || e < -1_000_000 || e > 1_000_000 {
		return math.MaxInt32
	}
	return size + max(e, -e)
}

// numberCost is the price of reading a JSON number exactly.
func numberCost(text string) int64 {
	size := numberSize(text)
	if size > 1_000_000 {
		return configBudget // readers refuse it, and their refusal is not a verdict
	}
	return 450 + 8*size + size*size/700
}

// dearestNumber returns the price of the dearest number in v.
func dearestNumber(v any) int64 {
	dearest := int64(0)
	switch v := v.(type) {
	case json.Number:
		return numberCost(string(v))
	case []any:
		for _, element := range v {
			dearest = max(dearest, dearestNumber(element))
		}
	case map[string]any:
		for _, member := range v {
			dearest = max(dearest, dearestNumber(member))
		}
	}
	return dearest
}
