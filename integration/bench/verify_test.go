package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestWrongBytes checks that different bytes are an error with their offset.
func TestWrongBytes(t *testing.T) {
	m, err := tiny.em().make(t.Context(), t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := m.flatFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(right)
	wrong[100_000]++
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"right", right, ""},
		{"one voxel", wrong, "bytes 0 to 131072 differ from those"},
		{"short", right[:200_000], "at byte 131072: unexpected EOF"},
		{"long", append(bytes.Clone(right), 0), "at byte 262144: expected the end, found 1 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := m.compare(t.Context(), bytes.NewReader(test.data))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
