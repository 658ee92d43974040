package batch

import (
	"fmt"
	"strings"
)

// MissingText returns "3, 5-7 are missing" for the numbers of parts, in rising order.
func MissingText(parts []int) string {
	var words []string
	for i := 0; i < len(parts); {
		end := i
		for end+1 < len(parts) && parts[end+1] == parts[end]+1 {
			end++
		}
		word := fmt.Sprint(parts[i])
		if end > i {
			word += fmt.Sprintf("-%d", parts[end])
		}
		words, i = append(words, word), end+1
	}
	if len(parts) == 1 {
		return words[0] + " is missing"
	}
	return strings.Join(words, ", ") + " are missing"
}
