package hint

// DidYouMean is a hint for an unknown word: the candidate that is nearest to it. If none is
// near, the hint is otherwise.
func DidYouMean(word string, candidates []string, otherwise string) string {
	if near := Nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// Nearest returns the candidate that word was probably meant to be, or "". About a third of
// the letters may be wrong, but not all: 2 is not near to 9.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", max(1, (len(word)+1)/3)+1
	for _, c := range candidates {
		if d := distance(word, c); d < bestDistance && d < max(len(word), len(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b: the number of bytes to insert, delete or
// replace to turn one into the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to every b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
