package main

import (
	"strings"
	"testing"
)

// TestRunProgram checks that the memory of a program is its own, not that of this process, and that an error has its output.
func TestRunProgram(t *testing.T) {
	own := make([]byte, 512<<20)
	clear(own)
	done, err := runProgram(t.Context(), []string{"sh", "-c", "sleep 0.1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(done.values) != 1 || done.values[0] < 0.1 {
		t.Errorf("values %v, want at least 0.1 s", done.values)
	}
	if done.peak == 0 || done.peak >= int64(len(own)) {
		t.Errorf("a shell has %d bytes of memory", done.peak)
	}
	own[0] = 1

	if _, err := runProgram(t.Context(), []string{"sh", "-c", "echo no >&2; exit 3"}); err == nil || !strings.Contains(err.Error(), "exit status 3\nno") {
		t.Errorf("error %v, want exit status 3 and the output", err)
	}
}
