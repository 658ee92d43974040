package arrayfile

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// openDirectory opens the pictures of a directory. Each is a plane.
func openDirectory(a *Array, _ string) error {
	names, err := pictures(a.dir)
	if err != nil {
		return err
	}
	var all []plane
	for i, name := range names {
		f, err := a.open(name)
		if err != nil {
			return err
		}
		p, err := openPlane(a, f, i == 0)
		f.drop() // read-only: nothing can be lost
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	warnOfGaps(a, names)
	return a.setPlanes(all)
}

// pictures returns the names of the pictures of a directory, in the order of the numbers in them. All have one format.
func pictures(dir directory) (names []string, err error) {
	entries, err := fs.ReadDir(dir.FS, dir.name)
	if err != nil {
		return nil, err
	}
	first := map[string]string{} // name of the first file of each format
	var refused error
	for _, e := range entries {
		name := e.Name()
		format := pictureFormat(name)
		if format == "" || strings.HasPrefix(name, ".") {
			if refused == nil {
				refused = RefuseName(name)
			}
			continue
		}
		if first[format] == "" {
			first[format] = name
		}
		names = append(names, name)
	}
	if len(names) == 0 && refused != nil {
		return nil, fmt.Errorf("%s: %w", dir.path("."), refused)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no .tif, .png or .jpg files in the directory", dir.path("."))
	}
	if len(first) > 1 {
		var found []string
		for _, name := range first {
			found = append(found, name)
		}
		slices.Sort(found)
		return nil, fmt.Errorf("%s: expected planes of one format, found %s", dir.path("."),
			strings.Join(found, " beside "))
	}
	slices.SortFunc(names, compareNatural)
	return names, nil
}

// openPlane opens a file of a directory. The first one describes the array.
func openPlane(a *Array, f *file, first bool) (plane, error) {
	start, err := f.start()
	if err != nil {
		return nil, err
	}
	if by, ok := formatOf(start); ok && by.plane != nil {
		return by.plane(a, f, first)
	}
	return nil, invalid(f.Name(), "magic", 0, "that of a TIFF, PNG or JPEG file",
		fmt.Sprintf("%q", start[:min(len(start), 4)]))
}

// pictureFormat returns the name of the format of pictures that the name of a file shows; "" if it shows none.
func pictureFormat(name string) string {
	suffix := strings.ToLower(filepath.Ext(name))
	for _, by := range formats {
		if slices.Contains(by.suffixes, suffix) {
			return by.name
		}
	}
	return ""
}

// compareNatural compares names with the numbers in them by value: z9 is before z10.
func compareNatural(a, b string) int {
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

// digits returns the number of digits at the start of s.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
