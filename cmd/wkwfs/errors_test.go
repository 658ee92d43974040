package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
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
		{hinted("mend it", "it broke: %w", syscall.EIO), 1, "wkwfs: it broke: input/output error\nhint: mend it\n"},
		{usageError("", "what?"), 2, "wkwfs: what?\n"},
		{usageError("say this", "what?"), 2, "wkwfs: what?\nhint: say this\n"},
		{fmt.Errorf("around: %w", usageError("say this", "what?")), 2, "wkwfs: around: what?\nhint: say this\n"},
		{errReported, 1, ""},
	}
	for _, test := range tests {
		var stderr strings.Builder
		if code := report(&stderr, test.err); code != test.code || stderr.String() != test.text {
			t.Errorf("%v: got %d and %q, want %d and %q", test.err, code, stderr.String(), test.code, test.text)
		}
	}
	if !errors.Is(hinted("", "%w", syscall.EIO), syscall.EIO) {
		t.Error("a failure hides its cause")
	}
}

func TestWhyItEnded(t *testing.T) {
	var stderr strings.Builder
	err := whyItEnded(nil, "", &stderr)
	if want := "the server ended before the mount was ready: exit status 0"; err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
	err = whyItEnded(errors.New("signal: killed"), "panic: x\n\ngoroutine 1\n", &stderr)
	want := "the server ended before the mount was ready: signal: killed: panic: x\n\ngoroutine 1"
	if err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
}
