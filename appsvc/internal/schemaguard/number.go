package schemaguard

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// numberSize is the number of decimal digits that a JSON number has when it is written out: 1e5 has six, about.
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

// numberCost is the price of reading a JSON number exactly, as a fraction. It grows with the square of the digits.
func numberCost(text string) int64 {
	size := numberSize(text)
	if size > 1_000_000 {
		return configBudget // readers refuse it, and their refusal is not a verdict
	}
	return 450 + 8*size + size*size/700
}

// maxNumberCost returns the price of the most expensive number in v.
func maxNumberCost(v any) int64 {
	highest := int64(0)
	switch v := v.(type) {
	case json.Number:
		return numberCost(string(v))
	case []any:
		for _, element := range v {
			highest = max(highest, maxNumberCost(element))
		}
	case map[string]any:
		for _, member := range v {
			highest = max(highest, maxNumberCost(member))
		}
	}
	return highest
}
