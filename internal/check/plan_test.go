package check_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/batch"
	"github.com/wkwfs/wkwfs/internal/check"
	"github.com/wkwfs/wkwfs/internal/refdata"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// runPart checks a part of a source with the findings as sorted lines.
func runPart(t *testing.T, root volume.Root, part batch.Part) ([]string, *check.Stats) {
	t.Helper()
	var lines []string
	var stats check.Stats
	err := check.Run(t.Context(), root, check.Options{Jobs: 2, Part: part, Count: true, Stats: &stats, Report: func(f check.Finding) {
		lines = append(lines, fmt.Sprintf("%s %s %v %v: %v", f.Severity, f.Path, f.Cube, f.Block, f.Err))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if found := stats.Found.Load(); !stats.Counted.Load() || found != stats.Cubes.Load() {
		t.Errorf("part %v: %d cubes of %d", part, stats.Cubes.Load(), found)
	}
	slices.Sort(lines)
	return lines, &stats
}

// TestPartsOfCheck: the parts of a check find what a check of the whole source finds, each fault once, and each part makes the
// same plan.
func TestPartsOfCheck(t *testing.T) {
	for _, c := range []struct{ dir, name string }{
		{"../../testdata/damaged", "."},
		{"../../testdata/damaged/color", "."},
		{"../../testdata/damaged/color/1", "."},
		{"../../testdata/damaged/color/1/z0/y0", "x6.wkw"},
		{refdata.Dir(t, "wkw/sparse"), "."},
		{refdata.Dir(t, "forms/annotation"), "."},
	} {
		root, err := wkw.Recognise(os.DirFS(c.dir), c.name, wkw.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, whole := runPart(t, root, batch.Part{})
		if whole.Plan != "" {
			t.Errorf("%s: a check that is not divided has the plan %s", c.dir, whole.Plan)
		}
		for _, n := range []int{1, 2, 3, 40} {
			var got []string
			var cubes, blocks, bytes int64
			plans := map[string]bool{}
			for i := range n {
				lines, stats := runPart(t, root, batch.Part{I: i + 1, N: n})
				got = append(got, lines...)
				cubes += stats.Cubes.Load()
				blocks += stats.Blocks.Load()
				bytes += stats.Bytes.Load()
				plans[stats.Plan] = true
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s in %d parts: got\n%s\nexpected\n%s", c.dir, n, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if cubes != whole.Cubes.Load() || blocks != whole.Blocks.Load() || bytes != whole.Bytes.Load() {
				t.Errorf("%s in %d parts: %d cubes, %d blocks, %d bytes", c.dir, n, cubes, blocks, bytes)
			}
			if len(plans) != 1 || plans[""] {
				t.Errorf("%s in %d parts: plans %v", c.dir, n, plans)
			}
		}
	}
}

// TestPartsOfShards: all chunks of a shard are in one part, so parts do not read the same file.
func TestPartsOfShards(t *testing.T) {
	for name, shards := range map[string]int{"sh_cseg": 5, "sh_flat_grid": 3, "sh_asymmetric": 16, "sh_one": 1} {
		root, err := precomputed.Recognise(os.DirFS(refdata.Dir(t, "precomputed", name)), ".", precomputed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, whole := runPart(t, root, batch.Part{})
		const n = 60
		var chunks int64
		parts := 0 // that are not empty
		for i := range n {
			if _, stats := runPart(t, root, batch.Part{I: i + 1, N: n}); stats.Cubes.Load() > 0 {
				parts++
				chunks += stats.Cubes.Load()
			}
		}
		if want := whole.Cubes.Load(); parts > shards || chunks != want || want <= int64(shards) && shards > 1 {
			t.Errorf("%s: %d parts with %d of %d chunks, in %d shards", name, parts, chunks, want, shards)
		}
	}
}
