package header

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

var update = flag.Bool("update", false, "write the golden files")

// gray is the array that the golden files describe.
var gray = Array{
	Grid: volume.Grid{
		Size: volume.Vec{5, 3, 4}, Block: volume.Cube(32), Type: volume.Uint16, Channels: 1,
		Origin: volume.Vec{100, 200, -30}, Spacing: [3]float64{11.24, 11.24, 25},
	},
	Data: "volume.raw", Name: "color/2-2-1", Category: "color",
}

// with returns a changed copy of gray.
func with(change func(*Array)) Array {
	a := gray
	change(&a)
	return a
}

var rgb = with(func(a *Array) { a.Grid.Type, a.Grid.Channels = volume.Uint8, 3 })
var labels = with(func(a *Array) {
	a.Grid.Type, a.Category, a.Name = volume.Uint32, "segmentation", "<segmentation> & \"co\"/1"
})
var pair = with(func(a *Array) { a.Grid.Type, a.Grid.Channels = volume.Float32, 2 })
var unplaced = with(func(a *Array) { a.Grid.Spacing, a.Name = [3]float64{11.24, 0, 25}, "" })
var long = with(func(a *Array) { a.Grid.Size = volume.Vec{40000, 1, 1} })

// large has more than 4 GiB and planes of more than one strip.
var large = with(func(a *Array) { a.Grid.Size = volume.Vec{40000, 30000, 3} })

// movie has times.
var movie = with(func(a *Array) { a.Times = 3 })

var arrays = map[string]Array{
	"movie": movie,
	"gray":  gray, "rgb": rgb, "labels": labels, "pair": pair, "unplaced": unplaced, "long": long, "large": large,
}

func TestGolden(t *testing.T) {
	tests := map[string]string{ // formats that depend on what is special about the array
		"gray":     ".npy .nrrd .nhdr .mhd .nii .xmf .tif .json",
		"movie":    ".npy .nii .tif .json",
		"rgb":      ".npy .nhdr .mhd .nii .xmf .tif",
		"labels":   ".nhdr .mhd .nii .xmf",
		"pair":     ".nhdr .xmf .tif .json",
		"unplaced": ".nrrd .mhd .nii .xmf .tif .json",
		"long":     ".nii",
		"large":    ".tif",
	}
	for name, suffixes := range tests {
		for _, f := range Formats() {
			if !slices.Contains(strings.Fields(suffixes), f.Suffix) {
				continue
			}
			l, err := f.Layout(arrays[name])
			if err != nil {
				t.Fatal(err)
			}
			tail := make([]byte, l.TailSize)
			if len(tail) > 0 {
				if _, err := l.Tail.ReadAt(tail, 0); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name+f.Suffix, f.Detached, append(bytes.Clone(l.Head), tail...))
		}
		if strings.Contains(suffixes, ".json") {
			j, err := VolumeJSON(arrays[name], Storage{volume.Factor{2, 2, 1}, volume.Cube(1024), "lz4"})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", true, j)
		}
	}
}

// golden compares with testdata/name. Files that are not text are compared as a hex dump without repeated lines.
func golden(t *testing.T, name string, text bool, got []byte) {
	t.Helper()
	if !text {
		name, got = name+".hex", dump(got)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}

// TestTimes: the number of times decides on the version of a format, and is limited by what the format has.
func TestTimes(t *testing.T) {
	shape := func(times int) Array {
		return with(func(a *Array) { a.Grid.Size, a.Times = volume.Vec{2, 2, 1 << 20}, times })
	}
	for times, want := range map[int]byte{32767: '1', 32768: '2'} {
		n, err := NIfTI(with(func(a *Array) { a.Grid.Size, a.Times = volume.Vec{2, 2, 2}, times }))
		version := byte('1')
		if err == nil && n[0] != 348%256 {
			version = '2'
		}
		if err != nil || version != want {
			t.Errorf("%d times: got NIfTI-%c, %v, expected %c", times, version, err, want)
		}
	}
	var cannot *Unrepresentable
	if _, err := TIFF(shape(2048)); !errors.As(err, &cannot) {
		t.Errorf("got %v for 2^31 pages", err)
	}
	if _, err := NPY(shape(math.MaxInt)); !errors.Is(err, volume.ErrTooLarge) {
		t.Errorf("got %v for more than 2^63 bytes", err)
	}
	big := with(func(a *Array) { a.Grid.Size, a.Times = volume.Vec{40000, 30000, 1}, 4 })
	if l, err := TIFF(big); err != nil || !bytes.Contains(l.Head, []byte(`SizeT="4"`)) {
		t.Errorf("got %v, or a BigTIFF without the times in OME-XML", err)
	}
}

func dump(b []byte) []byte {
	var out strings.Builder
	last := ""
	for line := range strings.Lines(hex.Dump(b)) {
		content := line[8:]
		switch {
		case content != last:
			out.WriteString(line)
		case !strings.HasSuffix(out.String(), "*\n"):
			out.WriteString("*\n")
		}
		last = content
	}
	return []byte(out.String())
}

func TestHeadsAreAligned(t *testing.T) {
	for name, a := range arrays {
		for length := range 200 { // names of many lengths, around the next multiple of Align
			a.Name = strings.Repeat("n", length*40)
			for _, f := range Formats() {
				l, err := f.Layout(a)
				if err != nil || f.Detached {
					continue
				}
				if len(l.Head)%Align != 0 || len(l.Head) == 0 {
					t.Fatalf("%s%s: head of %d bytes", name, f.Suffix, len(l.Head))
				}
			}
		}
	}
}

func TestNRRDPadding(t *testing.T) {
	for n := range 3 * Align { // names of each length need each padding
		a := with(func(a *Array) { a.Name = strings.Repeat("n", n+1) })
		h, err := NRRD(a)
		if err != nil || len(h)%Align != 0 || !bytes.HasSuffix(h, []byte("\n\n")) {
			t.Fatalf("name of %d: %d bytes, %v", n, len(h), err)
		}
		if i := bytes.Index(h, []byte("\n\n")); i != len(h)-2 {
			t.Fatalf("name of %d: header ends at %d", n, i)
		}
	}
}

func TestUnrepresentable(t *testing.T) {
	grid := func(change func(*volume.Grid)) Array { return with(func(a *Array) { change(&a.Grid) }) }
	tests := map[string]struct {
		array Array
		lacks string // suffixes of the formats that cannot describe it
	}{
		"one channel":       {gray, ""},
		"rgb":               {rgb, ""},
		"two channels":      {pair, ".nii"},
		"16-bit rgb":        {grid(func(g *volume.Grid) { g.Channels = 3 }), ".nii"},
		"int64":             {grid(func(g *volume.Grid) { g.Type = volume.Int64 }), ""},
		"uint64":            {grid(func(g *volume.Grid) { g.Type = volume.Uint64 }), ".xmf"},
		"unknown spacing":   {unplaced, ""},
		"65536 channels":    {grid(func(g *volume.Grid) { g.Channels = 1 << 16 }), ".nii .tif"},
		"wide":              {grid(func(g *volume.Grid) { g.Size[0] = 1 << 31 }), ".tif"},
		"huge spacing":      {grid(func(g *volume.Grid) { g.Spacing[0] = 1e60 }), ".nii .tif"},
		"tiny spacing":      {grid(func(g *volume.Grid) { g.Spacing[0] = 1e-60 }), ".nii .tif"},
		"too many strips":   {grid(func(g *volume.Grid) { g.Size = volume.Vec{1 << 30, 1 << 30, 1} }), ".tif"},
		"no room for pages": {grid(func(g *volume.Grid) { g.Size = volume.Vec{1<<31 - 1, 1<<30 + 65, 1} }), ".tif"},
		"data LIST":         {with(func(a *Array) { a.Data = "LIST" }), ".nhdr .mhd"},
		"data with %":       {with(func(a *Array) { a.Data = "a%d.raw" }), ".nhdr"},
	}
	for name, test := range tests {
		var lacks []string
		for _, f := range Formats() {
			l, err := f.Layout(test.array)
			var u *Unrepresentable
			switch {
			case errors.As(err, &u):
				lacks = append(lacks, f.Suffix)
				if u.Format != f.Name || l.Head != nil {
					t.Errorf("%s%s: %v with %d bytes", name, f.Suffix, err, len(l.Head))
				}
			case err != nil:
				t.Errorf("%s%s: %v", name, f.Suffix, err)
			}
		}
		if got := strings.Join(lacks, " "); got != test.lacks {
			t.Errorf("%s: not in %q, want %q", name, got, test.lacks)
		}
	}
}

func TestRefuses(t *testing.T) {
	bad := map[string]Array{
		"spacing on axis 2":  with(func(a *Array) { a.Grid.Spacing[2] = -1 }),
		"spacing on axis 1":  with(func(a *Array) { a.Grid.Spacing[1] = math.NaN() }),
		"spacing on axis 0":  with(func(a *Array) { a.Grid.Spacing[0] = math.Inf(1) }),
		"empty on y":         with(func(a *Array) { a.Grid.Size[1] = 0 }),
		"0 × uint16":         with(func(a *Array) { a.Grid.Channels = 0 }),
		"1 × Type(0)":        with(func(a *Array) { a.Grid.Type = 0 }),
		"more than 2^63 − 1": with(func(a *Array) { a.Grid.Size = volume.Cube(1 << 30) }),
	}
	for want, a := range bad {
		for _, f := range Formats() {
			l, err := f.Layout(a)
			if err == nil || !strings.Contains(err.Error(), want) || l.Head != nil {
				t.Errorf("%s: error %v, want %q", f.Suffix, err, want)
			}
		}
		if _, err := VolumeJSON(a, Storage{}); err == nil {
			t.Errorf("volume.json of %q", want)
		}
	}
	for _, data := range []string{"", ".", "..", "a/b", "/a", "a\nb"} {
		a := with(func(a *Array) { a.Data = data })
		for _, f := range Formats() {
			if _, err := f.Layout(a); f.Detached && err == nil {
				t.Errorf("%s: no error for data file %q", f.Suffix, data)
			}
		}
	}
}

func TestLongNamesAreCut(t *testing.T) {
	a := with(func(a *Array) { a.Name = strings.Repeat("µ", 300) }) // two bytes each
	mhd, err := MHD(a)
	if err != nil || !bytes.Contains(mhd, []byte("\nComment = "+strings.Repeat("µ", 127)+"\n")) {
		t.Errorf("%v, %s", err, mhd)
	}
	nii, err := NIfTI(a)
	if err != nil || !bytes.Equal(nii[148:228], []byte(strings.Repeat("µ", 39)+"\x00\x00")) {
		t.Errorf("%v, %q", err, nii[148:228])
	}
}

// FuzzFormats: geometry comes from untrusted metadata. For any geometry, a format returns a head or an error quickly.
func FuzzFormats(f *testing.F) {
	f.Add(5, 3, 4, uint8(2), 1, 100, 11.24, "color/1", "volume.raw")
	f.Add(1<<30, 1<<30, 1, uint8(1), 3, -1, 1e-300, "a\nb", "LIST")
	f.Add(1, 1, 1<<31-1, uint8(10), 1<<16-1, 1<<62, 0.0, "\xff", "{FILE}")
	f.Fuzz(func(t *testing.T, x, y, z int, kind uint8, channels, origin int, spacing float64, name, data string) {
		a := Array{
			Grid: volume.Grid{
				Size: volume.Vec{x, y, z}, Type: volume.Type(kind), Channels: channels,
				Origin: volume.Cube(origin), Spacing: [3]float64{spacing, spacing, spacing},
			},
			Data: data, Name: name,
		}
		for _, format := range Formats() {
			l, err := format.Layout(a)
			switch {
			case err != nil && l.Head != nil:
				t.Errorf("%s: both a head and %v", format.Suffix, err)
			case err == nil && (len(l.Head) == 0 || !format.Detached && len(l.Head)%Align != 0):
				t.Errorf("%s: head of %d bytes", format.Suffix, len(l.Head))
			case err == nil && l.TailSize > 0:
				p := make([]byte, min(l.TailSize, 5000))
				if n, err := l.Tail.ReadAt(p, l.TailSize-int64(len(p))); n != len(p) || err != nil {
					t.Errorf("%s: tail read %d of %d: %v", format.Suffix, n, len(p), err)
				}
			}
		}
		if j, err := VolumeJSON(a, Storage{}); err == nil && !json.Valid(j) {
			t.Errorf("volume.json: %s", j)
		}
	})
}

func TestRational(t *testing.T) {
	tests := []struct {
		v        float64
		num, den uint32
	}{
		{1, 1, 1}, {1 / 11.24, 25, 281}, {1 / 25.0, 1, 25}, {1 / 0.5, 2, 1}, {1 / 4.0, 1, 4},
		{1 / 3.3, 10, 33}, {1.0 / math.MaxInt32, 1, math.MaxInt32}, {math.MaxInt32, math.MaxInt32, 1},
	}
	for _, test := range tests {
		num, den, ok := rational(test.v)
		if !ok || num != test.num || den != test.den {
			t.Errorf("rational(%v) = %d/%d, %v; want %d/%d", test.v, num, den, ok, test.num, test.den)
		}
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-10, 3e9} {
		if num, den, ok := rational(v); ok {
			t.Errorf("rational(%v) = %d/%d", v, num, den)
		}
	}
}

func FuzzRational(f *testing.F) {
	f.Add(0.0889)
	f.Add(math.Pi)
	f.Fuzz(func(t *testing.T, v float64) {
		num, den, ok := rational(v)
		if !ok {
			return
		}
		// One of the neighbouring fractions with terms below 2^31 is this near.
		limit := max(v*v, 1) / math.MaxInt32
		if got := float64(num) / float64(den); math.Abs(got-v) > limit {
			t.Errorf("rational(%v) = %d/%d = %v", v, num, den, got)
		}
	})
}
