package daemon

import (
	"errors"
	"strings"
	"testing"
)

func TestExplainExit(t *testing.T) {
	var stderr strings.Builder
	err := explainExit(nil, "", &stderr)
	if want := "the server ended before the mount was ready: exit status 0"; err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
	err = explainExit(errors.New("signal: killed"), "panic: x\n\ngoroutine 1\n", &stderr)
	want := "the server ended before the mount was ready: signal: killed: panic: x\n\ngoroutine 1"
	if err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
}
