package knossos

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// The number of folders of each level below one that a sample looks into, and where each takes a request.
const (
	sampled       = 6
	sampledRemote = 2
)

// sample is what some of the folders of cubes have.
type sample struct {
	suffixes []string // of cubes
	example  string   // the path of a cube; "" if there is none
	stranger string   // a file with another name; "" if there is none
}

// look adds what the folders of a mag have. It looks into some on each level, which are spread evenly. What cannot be
// listed is an error when it is read.
func (s *sample) look(fsys fs.FS, dir string, t tree, at []int) {
	if len(at) == 3 {
		s.lookInto(fsys, dir, t, at)
		return
	}
	var found []int
	for entries := range vfs.ListDir(fsys, dir) {
		for _, e := range entries {
			if n, ok := t.Index(len(at), e.Name()); ok {
				found = append(found, n)
			}
		}
	}
	slices.Sort(found)
	most := sampled
	if vfs.SpeedOf(fsys).Remote {
		most = sampledRemote
	}
	step := max(1, (len(found)+most-1)/most)
	for i := 0; i < len(found); i += step {
		s.look(fsys, path.Join(dir, t.Dir(len(at), found[i])), t, append(at[:len(at):len(at)], found[i]))
	}
}

// lookInto adds what the folder of a cube has.
func (s *sample) lookInto(fsys fs.FS, dir string, t tree, at []int) {
	stem := t.stem(at)
	for entries := range vfs.ListDir(fsys, dir) {
		for _, e := range entries {
			suffix, ok := strings.CutPrefix(e.Name(), stem)
			switch {
			case !ok && s.stranger == "" && !strings.HasPrefix(e.Name(), "."):
				s.stranger = path.Join(dir, e.Name())
			case ok && strings.HasPrefix(suffix, ".") && !slices.Contains(s.suffixes, suffix) && len(s.suffixes) < 100:
				s.suffixes = append(s.suffixes, suffix)
				s.example = path.Join(dir, e.Name())
			}
		}
	}
}

// choose returns the kinds of the layers that a configuration describes: at most one of each category. It fails if
// cubes are stored as the configuration does not say, or as nothing here can decode: these must not read as absent.
func (s *sample) choose(c config) (chosen []kind, err error) {
	allowed := kinds
	if c.suffixes != nil {
		allowed = nil
		for _, suffix := range c.suffixes {
			if k, ok := kindOf(suffix); ok {
				allowed = append(allowed, k)
			}
		}
	}
	for _, category := range []string{image, segmentation} {
		if k, ok := s.chooseOf(category, allowed, c.suffixes != nil); ok {
			chosen = append(chosen, k)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case len(s.suffixes) > 0:
		return nil, s.unsupported(suffixesOf(allowed))
	case c.suffixes != nil && len(allowed) == 0:
		return nil, &volume.UnsupportedError{
			File: c.file, Part: "suffix of cubes", Offset: -1,
			Expected: suffixesOf(kinds), Found: strings.Join(c.suffixes, ", "),
		}
	case s.stranger != "":
		return nil, &volume.FormatError{
			File: s.stranger, Part: "name of a cube", Offset: -1,
			Expected: fmt.Sprintf("one that starts with %q", c.base+"_mag"), Found: "another",
		}
	}
	return kinds[:1], nil
}

// chooseOf returns the first kind of a category that cubes have. If there is none, it returns the first one that the
// configuration names: there may be cubes that are not in the sample, such as few of a segmentation. It returns false
// if cubes have another kind of the category.
func (s *sample) chooseOf(category string, allowed []kind, named bool) (k kind, ok bool) {
	isOf := func(k kind) bool { return k.category == category }
	isFound := func(k kind) bool { return isOf(k) && slices.Contains(s.suffixes, k.suffix) }
	if at := slices.IndexFunc(allowed, isFound); at >= 0 {
		return allowed[at], true
	}
	at := slices.IndexFunc(allowed, isOf)
	if at < 0 || !named || slices.ContainsFunc(kinds, isFound) || len(s.suffixes) == 0 && s.stranger != "" {
		return k, false
	}
	if category == image && slices.ContainsFunc(s.suffixes, isJPEG2000) {
		return k, false
	}
	return allowed[at], true
}

// left returns why the images of a dataset are not shown, or nil if they are, or if there are none.
func (s *sample) left(chosen []kind) error {
	isImage := func(k kind) bool { return k.category == image }
	if slices.ContainsFunc(s.suffixes, isJPEG2000) && !slices.ContainsFunc(chosen, isImage) {
		return s.unsupported(suffixesOf(kinds))
	}
	return nil
}

// isJPEG2000 reports whether a suffix is one of KNOSSOS for JPEG 2000, such as .6.jp2.
func isJPEG2000(suffix string) bool {
	return strings.HasSuffix(suffix, ".jp2") || strings.HasSuffix(suffix, ".j2k")
}

func (s *sample) unsupported(expected string) error {
	return &volume.UnsupportedError{
		File: s.example, Part: "cube", Offset: -1,
		Expected: expected, Found: strings.Join(s.suffixes, ", "),
	}
}
