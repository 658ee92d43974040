package annotation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// SkeletonsDir has the trees of an annotation, each as a file NAME.swc.
const SkeletonsDir = "skeletons"

// skeletons is the directory of the trees of an NML file. They are as they were when the file was read: if it changes,
// everything fails with [vfs.ErrChanged].
type skeletons struct {
	of      only
	read    vfs.Version // of the NML file
	trees   []nml.Tree
	spacing [3]float64 // of mag 1, in nm

	named sync.Once
	names []string       // of the files, in the order of the trees; set by named
	index map[string]int // set by named
	sizes []atomic.Int64 // of the files; 0 if unknown; set by named
}

// maxStem is the longest name of a tree in the name of a file, in bytes.
const maxStem = 150

// stemOf returns the name of a tree as it can be in the name of a file, on any system.
func stemOf(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsGraphic(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	for len(name) > maxStem {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return strings.Trim(name, " .")
}

// name gives each tree a name that is no other's, whether or not case counts.
func (s *skeletons) name() {
	s.named.Do(func() {
		s.names, s.index, s.sizes = make([]string, len(s.trees)), make(map[string]int, len(s.trees)),
			make([]atomic.Int64, len(s.trees))
		taken, next := make(map[string]bool, len(s.trees)), map[string]int{}
		for i, t := range s.trees {
			stem := stemOf(t.Name)
			if stem == "" {
				stem = strings.TrimSuffix("tree_"+stemOf(t.ID), "_")
			}
			name, base := stem, strings.ToLower(stem)
			for taken[strings.ToLower(name)] {
				next[base]++
				name = fmt.Sprintf("%s_%d", stem, next[base]+1)
			}
			taken[strings.ToLower(name)] = true
			s.names[i] = name + ".swc"
			s.index[s.names[i]] = i
		}
	})
}

// stat describes the NML file. It must be as it was read.
func (s *skeletons) stat() (fs.FileInfo, error) {
	info, err := s.of.Stat(s.of.file)
	if err == nil && vfs.VersionOf(info) != s.read {
		err = vfs.ErrChanged
	}
	return info, err
}

// find returns the number of the tree of a file, and describes the NML file.
func (s *skeletons) find(file string) (int, fs.FileInfo, error) {
	s.name()
	i, ok := s.index[file]
	if !ok {
		return 0, nil, fs.ErrNotExist
	}
	info, err := s.stat()
	return i, info, err
}

// content returns the file of a tree.
func (s *skeletons) content(i int) ([]byte, error) {
	b, err := s.trees[i].SWC(s.spacing)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.of.file, err)
	}
	s.sizes[i].Store(int64(len(b)))
	return b, nil
}

// describe describes the file of a tree. Its size is known once it has been made.
func (s *skeletons) describe(file string) (fs.FileInfo, error) {
	i, info, err := s.find(file)
	if err != nil {
		return nil, err
	}
	if s.sizes[i].Load() == 0 {
		if _, err := s.content(i); err != nil {
			return nil, err
		}
	}
	return s.infoOf(i, info), nil
}

func (s *skeletons) infoOf(i int, info fs.FileInfo) fs.FileInfo {
	v := vfs.VersionOf(info)
	sum := sha256.Sum256(fmt.Append(v[:], "swc", i, s.spacing))
	return swcInfo{info, s.names[i], s.sizes[i].Load(), vfs.Version(sum[:16])}
}

// open opens the file of a tree.
func (s *skeletons) open(file string) (fs.File, error) {
	i, info, err := s.find(file)
	if err != nil {
		return nil, err
	}
	b, err := s.content(i)
	if err != nil {
		return nil, err
	}
	return &swcFile{bytes.NewReader(b), s.infoOf(i, info)}, nil
}

// list lists the files.
func (s *skeletons) list() ([]fs.DirEntry, error) {
	s.name()
	if _, err := s.stat(); err != nil {
		return nil, err
	}
	all := make([]fs.DirEntry, 0, len(s.names))
	for _, name := range s.names {
		all = append(all, swcEntry{s, name})
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// swcFile is an open file of a tree.
type swcFile struct {
	*bytes.Reader
	info fs.FileInfo
}

// Stat implements [fs.File].
func (f *swcFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (f *swcFile) Close() error { return nil }

// swcInfo describes a file of a tree. Its owner, permissions and times are those of the NML file.
type swcInfo struct {
	fs.FileInfo
	name    string
	size    int64
	version vfs.Version
}

func (i swcInfo) Name() string { return i.name }
func (i swcInfo) Size() int64  { return i.size }

// Details says that nothing is stored for the file: it is in the NML file.
func (i swcInfo) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return i.version }, Stored: nothingStored, Source: i.FileInfo}
}

func nothingStored() int64 { return 0 }

// swcEntry is an entry of the directory of trees.
type swcEntry struct {
	of   *skeletons
	name string
}

func (e swcEntry) Name() string               { return e.name }
func (e swcEntry) IsDir() bool                { return false }
func (e swcEntry) Type() fs.FileMode          { return 0 }
func (e swcEntry) Info() (fs.FileInfo, error) { return e.of.describe(e.name) }

// dirInfo describes the directory of trees. Who may read the NML file may list it.
type dirInfo struct{ fs.FileInfo }

func (i dirInfo) Name() string       { return SkeletonsDir }
func (i dirInfo) IsDir() bool        { return true }
func (i dirInfo) Size() int64        { return 0 }
func (i dirInfo) ModTime() time.Time { return i.FileInfo.ModTime() }

func (i dirInfo) Details() vfs.Details { return vfs.Details{Stored: nothingStored} }

func (i dirInfo) Mode() fs.FileMode {
	perm := i.FileInfo.Mode().Perm() & 0o444
	return fs.ModeDir | perm | perm>>2
}

// files is the NML file, and the trees in it.
type files struct {
	only
	skeletons *skeletons // nil if there are no trees
	leftovers func() []error
}

// CheckMetadata implements [volume.MetadataChecker]: it returns why trees have no file, and what killed writers have
// left.
func (f files) CheckMetadata() (all []error) {
	if f.leftovers != nil {
		all = f.leftovers()
	}
	if f.skeletons == nil {
		return all
	}
	f.skeletons.name()
	for i := range f.skeletons.trees {
		if _, err := f.skeletons.content(i); err != nil {
			all = append(all, err)
		}
	}
	return all
}

// inSkeletons returns the name of a file below the directory of trees.
func (f files) inSkeletons(name string) (string, bool) {
	if f.skeletons == nil {
		return "", false
	}
	return strings.CutPrefix(name, SkeletonsDir+"/")
}

// Open implements [fs.FS].
func (f files) Open(name string) (fs.File, error) {
	if tree, ok := f.inSkeletons(name); ok {
		opened, err := f.skeletons.open(tree)
		return opened, inPath("open", name, err)
	}
	return f.only.Open(name)
}

// Stat implements [fs.StatFS].
func (f files) Stat(name string) (fs.FileInfo, error) {
	if f.skeletons == nil {
		return f.only.Stat(name)
	}
	if tree, ok := f.inSkeletons(name); ok {
		info, err := f.skeletons.describe(tree)
		return info, inPath("stat", name, err)
	}
	if name != SkeletonsDir {
		return f.only.Stat(name)
	}
	info, err := f.skeletons.stat()
	if err != nil {
		return nil, inPath("stat", name, err)
	}
	return dirInfo{info}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.skeletons != nil && name == SkeletonsDir {
		all, err := f.skeletons.list()
		return all, inPath("readdir", name, err)
	}
	all, err := f.only.ReadDir(name)
	if err != nil || f.skeletons == nil {
		return all, err
	}
	info, err := f.Stat(SkeletonsDir)
	if err != nil {
		return all, nil // the NML file has changed: it is still shown
	}
	all = append(all, fs.FileInfoToDirEntry(info))
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// inPath adds a path to an error.
func inPath(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// newSkeletons returns the trees of an NML file in a directory.
func newSkeletons(of only, a *nml.Annotation, read vfs.Version) *skeletons {
	if len(a.Trees) == 0 {
		return nil
	}
	return &skeletons{of: of, read: read, trees: a.Trees, spacing: a.Spacing}
}
