package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestCopyPartsOfShards: all chunks of a shard are in one part of a copy.
func TestCopyPartsOfShards(t *testing.T) {
	source := refdata.Dir(t, "precomputed/sh_cseg")
	shards, err := filepath.Glob(filepath.Join(source, "*/*.shard"))
	if err != nil || len(shards) < 2 {
		t.Fatal(shards, err)
	}
	const n = 20
	names := map[string]int{}
	parts := 0 // that have chunks
	for i := range n {
		out := filepath.Join(t.TempDir(), "out")
		var stderr strings.Builder
		if code := run([]string{"cp", "-q", fmt.Sprintf("--part=%d/%d", i+1, n), source, ".", out}, io.Discard,
			&stderr); code != exitDone {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		chunks, err := filepath.Glob(filepath.Join(out, "*/chunks/*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(chunks) > 0 {
			parts++
		}
		for _, c := range chunks {
			names[strings.TrimPrefix(c, out)]++
		}
	}
	whole := filepath.Join(t.TempDir(), "out")
	if code := run([]string{"cp", "-q", source, ".", whole}, io.Discard, os.Stderr); code != exitDone {
		t.Fatal(code)
	}
	all, err := filepath.Glob(filepath.Join(whole, "*/chunks/*"))
	if err != nil || len(all) != len(names) || len(all) <= len(shards) || parts > len(shards) {
		t.Errorf("%d parts have %d of %d chunks, of %d shards: %v", parts, len(names), len(all), len(shards), err)
	}
	for name, times := range names {
		if times != 1 {
			t.Errorf("%s is in %d parts", name, times)
		}
	}
}
