//go:build proof

package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Never is the return time of an operation that may take effect at any later time.
const Never = math.MaxInt64

// Check returns an error unless the history has an order that explains every answer, in which each operation is between
// its call and its return, in nanoseconds of one clock. The inputs of the operations are of type Op and the outputs of
// type Outcome. The apps begin with the given versions, and without tags.
func Check(begin [Apps]*Version, history []porcupine.Operation) error {
	const patience = 10 * time.Minute
	m := model(begin)
	result := porcupine.CheckOperationsTimeout(m, history, patience)
	if result == porcupine.Ok {
		return nil
	}
	if result == porcupine.Unknown {
		return fmt.Errorf("could not be decided in %s:\n%s", patience, describe(m, history))
	}
	return fmt.Errorf("is not linearizable: no order of what was before and beside it explains this answer:\n%s"+
		"The whole history, with call and return in microseconds:\n%s", describe(m, unexplained(m, history)),
		describe(m, history))
}

// unexplained returns the operation that returned first of those that the longest order found does not reach.
func unexplained(m porcupine.Model, history []porcupine.Operation) []porcupine.Operation {
	_, info := porcupine.CheckOperationsVerbose(m, history, time.Minute)
	var longest []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	var left []porcupine.Operation
	for i := range history {
		if !slices.Contains(longest, i) {
			left = append(left, history[i])
		}
	}
	slices.SortFunc(left, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	return left[:min(1, len(left))]
}

// describe writes operations, one a line, in the order of their calls.
func describe(m porcupine.Model, history []porcupine.Operation) string {
	var text strings.Builder
	for _, o := range slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int {
		return cmp.Compare(a.Call, b.Call)
	}) {
		back := "never"
		if o.Return != Never {
			back = fmt.Sprint(o.Return / 1000)
		}
		fmt.Fprintf(&text, "%9d %9s  client %d  %s\n", o.Call/1000, back, o.ClientId,
			m.DescribeOperation(o.Input, o.Output))
	}
	return text.String()
}
