package arrayfile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var digitsPattern = regexp.MustCompile(`[0-9]+`)

// warnOfGaps warns if the names of the planes of a directory skip a number: a plane may be missing.
func warnOfGaps(a *Array, names []string) {
	numbers := planeNumbers(names)
	if len(numbers) < 3 {
		return
	}
	step := uint64(0) // the smallest
	for i, n := range numbers[1:] {
		if by := n - numbers[i]; by > 0 && (step == 0 || by < step) {
			step = by
		}
	}
	for i, n := range numbers[1:] {
		if n > numbers[i]+step {
			a.warn("the numbers of the planes have a gap: %s and %s are taken for neighbours", names[i], names[i+1])
			return
		}
	}
}

// planeNumbers returns the number in each name, if the names differ in one number and in nothing else but their suffix.
// Otherwise it returns nil. The names are in the order of their numbers.
func planeNumbers(names []string) (numbers []uint64) {
	stems := make([]string, len(names))
	for i, name := range names {
		stems[i] = strings.TrimSuffix(name, filepath.Ext(name))
	}
	first := digitsPattern.FindAllString(stems[0], -1)
	rest := digitsPattern.ReplaceAllString(stems[0], "0")
	column := -1
	for _, stem := range stems {
		all := digitsPattern.FindAllString(stem, -1)
		if digitsPattern.ReplaceAllString(stem, "0") != rest {
			return nil
		}
		for i := range all {
			if all[i] != first[i] {
				if column >= 0 && column != i {
					return nil
				}
				column = i
			}
		}
	}
	if column < 0 {
		return nil
	}
	for _, stem := range stems {
		n, err := strconv.ParseUint(digitsPattern.FindAllString(stem, -1)[column], 10, 63)
		if err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	if !slices.IsSorted(numbers) {
		return nil
	}
	return numbers
}
