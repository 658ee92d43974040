//go:build linux

package mounts

import (
	"strings"
	"testing"
)

func TestHasLine(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"", false}, {"user_allow_other", true}, {"# x\n  user_allow_other \nmount_max = 5\n", true},
		{"#user_allow_other\n", false}, {"user_allow_other_not\n", false},
	}
	for _, test := range tests {
		if got := hasLine(strings.NewReader(test.text), "user_allow_other"); got != test.want {
			t.Errorf("%q: got %v", test.text, got)
		}
	}
}
