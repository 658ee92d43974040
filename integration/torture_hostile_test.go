package integration

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileFile is a file of a source. It has JSON, text or bytes, and then is edited.
type hostileFile struct {
	Path  string        `json:"path"`
	JSON  any           `json:"json,omitempty"`
	Text  string        `json:"text,omitempty"`
	Bytes []byte        `json:"bytes,omitempty"`
	Edits []hostileEdit `json:"edits,omitempty"`
	Cut   int           `json:"cut,omitempty"` // bytes at the end that are missing
}

// hostileEdit puts bytes in the place of others, past the end, too.
type hostileEdit struct {
	At  int    `json:"at"`
	Put []byte `json:"put"`
}

// outsideWord stands in a case for the directory beside the source.
const outsideWord = "OUTSIDE"

// content returns the bytes of the file.
func (f hostileFile) content(t testing.TB, outside string) []byte {
	t.Helper()
	b := []byte(f.Text)
	switch {
	case f.JSON != nil:
		b = marshal(t, f.JSON)
	case f.Bytes != nil:
		b = append([]byte{}, f.Bytes...)
	}
	b = []byte(strings.ReplaceAll(string(b), outsideWord, outside))
	for _, e := range f.Edits {
		if e.At < 0 || e.At > 1<<20 {
			t.Skip("an edit too far off")
		}
	}
	return f.edited(b)
}

// edited returns bytes of the file with its edits, and without its end.
func (f hostileFile) edited(b []byte) []byte {
	for _, e := range f.Edits {
		if end := e.At + len(e.Put); end > len(b) {
			b = append(b, make([]byte, end-len(b))...)
		}
		copy(b[e.At:], e.Put)
	}
	return b[:max(len(b)-f.Cut, 0)]
}

// writeHostile writes files below a directory.
func writeHostile(t testing.TB, dir, outside string, files []hostileFile) {
	t.Helper()
	for _, f := range files {
		if !filepath.IsLocal(f.Path) {
			t.Skip("a path that leads out")
		}
		name := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(name, f.content(t, outside), 0o644); err != nil {
			t.Skip(err)
		}
	}
}

// hostileNumbers are at the limits of types, and where products overflow.
var hostileNumbers = []float64{
	0, -1, 1, 2, 3, 7, 0.5, 1e-300, 1e300, -1e300, 255, 256, 32767, 65536, 1 << 20, 1 << 30, 1 << 31, 1<<31 - 1,
	1 << 32, 1 << 40, 1<<40 + 1,
	1<<53 - 1, 1 << 62, 1 << 63, 1 << 64, -(1 << 31), -(1 << 40), -(1 << 63), math.MaxFloat64,
}

// hostileStrings are names, paths and texts that should lead nowhere.
var hostileStrings = []string{
	"", ".", "..", "/", "../outside", "../../outside/1", outsideWord, outsideWord + "/1",
	"file://" + outsideWord + "/1", "a/../../outside", "layer0/1/../../../outside/1", "\x00", "a\x00b",
	"\n", "%s%n", strings.Repeat("x", 300), strings.Repeat("../", 40), strings.Repeat("a/", 200), "\u202e", "\xff\xfe",
	"volume.raw", ".wkwfs", "precomputed", "con", "-", "*", "layer0", "layer1", "1", "2-2-1",
	"nul\u0000", "null", "true", "1e309", "0x10", "٣",
}

// hostileValue returns a JSON value that is in the wrong place anywhere.
func hostileValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(12); {
	case n < 5:
		return randomOf(r, hostileNumbers)
	case n < 8:
		return randomOf(r, hostileStrings)
	case n == 8:
		return nil
	case n == 9:
		return r.IntN(2) == 0
	case n == 10 && depth < 4:
		all := make([]any, r.IntN(5))
		for i := range all {
			all[i] = hostileValue(r, depth+1)
		}
		return all
	case depth < 4:
		return map[string]any{randomOf(r, hostileStrings): hostileValue(r, depth+1)}
	}
	return deepList(r.IntN(2000))
}

// deepList is a list of a list of a list …
func deepList(depth int) any {
	var v any = 1.0
	for range depth {
		v = []any{v}
	}
	return v
}

// spoil returns JSON of which some values are others, are missing or are there twice. Each value has the chance 1 /
// oneIn.
func spoil(r *rand.Rand, v any, oneIn int) any {
	if r.IntN(oneIn) == 0 {
		return hostileValue(r, 0)
	}
	switch v := v.(type) {
	case map[string]any:
		spoiled := map[string]any{}
		for _, k := range sortedNames(v) {
			if r.IntN(oneIn) > 0 {
				spoiled[k] = spoil(r, v[k], oneIn)
			}
		}
		return spoiled
	case []any:
		var spoiled []any
		for _, e := range v {
			if r.IntN(oneIn) == 0 {
				continue
			}
			spoiled = append(spoiled, spoil(r, e, oneIn))
			if r.IntN(oneIn) == 0 {
				spoiled = append(spoiled, spoil(r, e, oneIn))
			}
		}
		return spoiled
	}
	return v
}

// hostileEdits are a few edits of a file of size bytes, most of them in its header.
func hostileEdits(r *rand.Rand, size int) (all []hostileEdit) {
	for range r.IntN(4) {
		e := hostileEdit{At: r.IntN(max(1, min(size, randomOf(r, []int{16, 64, 400, 1 << 20}))))}
		for range randomOf(r, []int{1, 1, 2, 4, 8}) {
			e.Put = append(e.Put, randomOf(r, []byte{0, 0, 0xff, 0xff, 0x7f, 0x80, 1, byte(r.IntN(256))}))
		}
		all = append(all, e)
	}
	return all
}

// hostileCut is 0 mostly, and otherwise a random part of size bytes.
func hostileCut(r *rand.Rand, size int) int {
	if r.IntN(6) > 0 {
		return 0
	}
	return r.IntN(size + 1)
}
