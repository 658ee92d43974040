package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

func TestReport(t *testing.T) {
	tests := []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{errors.New("it broke"), 1, "wkwfs: it broke\n"},
		{errors.New("it broke\nbadly\r\n"), 1, "wkwfs: it broke; badly\n"},
		{hint.Errorf("mend it", "it broke: %w", syscall.EIO), 1,
			"wkwfs: it broke: input/output error\nhint: mend it\n"},
		{hint.Usagef("", "what?"), 2, "wkwfs: what?\n"},
		{hint.Usagef("say this", "what?"), 2, "wkwfs: what?\nhint: say this\n"},
		{fmt.Errorf("around: %w", hint.Usagef("say this", "what?")), 2, "wkwfs: around: what?\nhint: say this\n"},
		{errPrinted, 1, ""},
	}
	for _, test := range tests {
		var stderr strings.Builder
		if code := report(&stderr, test.err); code != test.code || stderr.String() != test.text {
			t.Errorf("%v: got %d and %q, want %d and %q", test.err, code, stderr.String(), test.code, test.text)
		}
	}
	if !errors.Is(hint.Errorf("", "%w", syscall.EIO), syscall.EIO) {
		t.Error("a failure hides its cause")
	}
}
