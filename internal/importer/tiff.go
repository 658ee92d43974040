package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// openTIFF reads the directories of a file: each page is a plane.
func (in *Input) openTIFF(f *inputFile) error {
	r, at, err := newTIFFReader(f)
	if err != nil {
		return err
	}
	var pages []*tiffPage
	seen := map[int64]bool{}
	for at != 0 {
		if seen[at] {
			return r.bad("directory", at, "each page once", "a page that was there before")
		}
		seen[at] = true
		d, next, err := r.directory(at)
		if err != nil {
			return err
		}
		page, err := d.page()
		if err != nil {
			return err
		}
		if pages = append(pages, page); len(pages) == 1 {
			in.describeImageJ(d)
		}
		at = next
	}
	if len(pages) == 0 {
		return r.bad("first directory", 4, "a page", "none")
	}
	return in.setPages(pages)
}

// openFolder reads the TIFF files of a folder: each is a plane.
func openFolder(in *Input, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		suffix := strings.ToLower(filepath.Ext(e.Name()))
		return suffix != ".tif" && suffix != ".tiff" || strings.HasPrefix(e.Name(), ".")
	})
	if len(entries) == 0 {
		return fmt.Errorf("%s: no .tif files in the folder", dir)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return compareNumbered(a.Name(), b.Name()) })
	var pages []*tiffPage
	for i, e := range entries {
		f, err := in.open(filepath.Join(dir, e.Name()))
		if errors.Is(err, syscall.EMFILE) {
			return fmt.Errorf("%w: all %d files are open at once: raise the limit with ulimit -n", err, len(entries))
		}
		if err != nil {
			return err
		}
		page, err := in.onlyPage(f, i == 0)
		if err != nil {
			return err
		}
		pages = append(pages, page)
	}
	return in.setPages(pages)
}

// onlyPage reads the page of a file that has one.
func (in *Input) onlyPage(f *inputFile, first bool) (*tiffPage, error) {
	r, at, err := newTIFFReader(f)
	if err != nil {
		return nil, err
	}
	d, next, err := r.directory(at)
	if err != nil {
		return nil, err
	}
	if next != 0 {
		return nil, r.bad("directory", at, "one page in each file of a folder", "another page")
	}
	if first {
		in.describeImageJ(d)
	}
	return d.page()
}

// describeImageJ takes spacing and place from the description that ImageJ writes. TIFF's own
// resolution is for printing, and rarely true.
func (in *Input) describeImageJ(d *tiffDirectory) {
	text := strings.TrimRight(d.text(tagImageDescription), "\x00")
	if !strings.HasPrefix(text, "ImageJ=") {
		return
	}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(values[name], 64)
		return v
	}
	unit := nanometres[values["unit"]]
	if x, y := d.rational(tagXResolution), d.rational(tagYResolution); x > 0 && y > 0 {
		in.Grid.Spacing = [3]float64{usable(unit / x), usable(unit / y), usable(unit * number("spacing"))}
	}
	if values["xorigin"] != "" || values["yorigin"] != "" || values["zorigin"] != "" {
		// The pixel at which the calibrated coordinates are 0.
		in.place(d.f.Name(), [3]float64{-number("xorigin"), -number("yorigin"), -number("zorigin")}, [3]float64{1, 1, 1})
	}
}

// compareNumbered orders names as people count: z9 before z10.
func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i == 0 || j == 0 {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		m, n := strings.TrimLeft(a[:i], "0"), strings.TrimLeft(b[:j], "0")
		if len(m) != len(n) {
			return len(m) - len(n)
		}
		if m != n {
			return strings.Compare(m, n)
		}
		a, b = a[i:], b[j:]
	}
	return len(a) - len(b)
}

// digits returns how many digits s begins with.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
