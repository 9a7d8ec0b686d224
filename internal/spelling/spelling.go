// Package spelling computes the edit distance of two words.
package spelling

// Distance returns the minimum number of bytes to insert, remove, replace or swap with their neighbour to turn a into
// b.
func Distance(a, b string) int {
	before, last, row := []int(nil), []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			if a[i-1] == b[j-1] {
				row[j] = last[j-1]
			} else if row[j] = 1 + min(last[j-1], last[j], row[j-1]); i > 1 && j > 1 && a[i-1] == b[j-2] &&
				a[i-2] == b[j-1] {
				row[j] = min(row[j], 1+before[j-2])
			}
		}
	}
	return row[len(b)]
}
