package integration

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestComposedChange: when the table of a user is replaced, a mount shows the new one, never a mixture.
func TestComposedChange(t *testing.T) {
	parallelHeavy(t)
	dataset := filepath.Join(refdata.Dir(t, "mappings"), "legacy")
	table := filepath.Join(t.TempDir(), "own.csv")
	write := func(text string) {
		if err := os.WriteFile(table+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(table+".new", table); err != nil {
			t.Fatal(err)
		}
	}
	write("1,70001\n2,70002\n")
	dir := mount(t, dataset, "--relabel=segmentation="+table)
	ids := func() []byte {
		b, err := os.ReadFile(filepath.Join(dir, "segmentation@own/1/volume.raw"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain, err := os.ReadFile(filepath.Join(dir, "segmentation/1/volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	// mapped returns the plain voxels with ids 1 and 2 replaced: ids have 32 bits, little-endian.
	mapped := func(one, two uint32) []byte {
		b := slices.Clone(plain)
		for i := 0; i < len(b); i += 4 {
			id := uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
			switch id {
			case 1:
				id = one
			case 2:
				id = two
			}
			b[i], b[i+1], b[i+2], b[i+3] = byte(id), byte(id>>8), byte(id>>16), byte(id>>24)
		}
		return b
	}
	if !bytes.Equal(ids(), mapped(70001, 70002)) || bytes.Equal(mapped(70001, 70002), plain) {
		t.Fatal("the mapped layer has other voxels")
	}
	write("1,80001\n2,80002\n")
	want := mapped(80001, 80002)
	eventually(t, "the new table is shown", func() bool {
		got := ids()
		if !bytes.Equal(got, want) && !bytes.Equal(got, mapped(70001, 70002)) {
			t.Fatal("a mixture of two tables")
		}
		return bytes.Equal(got, want)
	})
}

// TestComposedURL reads an annotation and its dataset from a web server.
func TestComposedURL(t *testing.T) {
	parallelHeavy(t)
	cases := composedCases(t, "annotations")
	c := cases[slices.IndexFunc(cases, func(c refdata.Composed) bool { return c.Name == "z3_over_wkw" })]
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(c.Mount))))
	defer server.Close()
	dir := mount(t, server.URL+"/z3.zip", "--over="+server.URL+"/base_wkw")
	for _, v := range c.Volumes {
		f, err := os.Open(filepath.Join(dir, v.Layer, v.Mag, "volume.raw"))
		if err != nil {
			t.Fatal(err)
		}
		if !fits(t, f, v) {
			t.Errorf("mag %s has other voxels", v.Mag)
		}
		f.Close()
	}
}
