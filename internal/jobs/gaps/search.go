package gaps

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// search looks through the directories of a mag.
type search struct {
	volume.CubeFiles
	names int // of a directory that are looked at; 0: all

	cubes   bool // there is a cube file
	partial bool // there may be names that were not seen
	unread  UnreadError
	copies  UnreadError // files that are not read if there are cube files
	others  UnreadError // files that nothing reads
}

// The number of directories of a level that a search looks into. They are kept in memory.
const (
	fewDirs   = 4 // of a limited search
	fewRemote = 1 // of a limited search in an object store, where each is a request
	maxDirs   = 1 << 17
)

// maxLevels limits the levels below the directory of a mag, for stores that answer with another directory for ever. A
// chunk of 16 axes lies below 17.
const maxLevels = 17

// run looks through the directories level by level.
func (s *search) run() {
	limit := maxDirs
	switch {
	case s.names > 0 && vfs.SpeedOf(s.FS).Remote:
		limit = fewRemote
	case s.names > 0:
		limit = fewDirs
	}
	level := []string{"."}
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxLevels {
			s.partial = true
			break
		}
		var next []string
		for _, l := range parallel.EachOf(slices.Values(level),
			func(dir string) listing { return s.list(dir, limit) }) {
			n := min(len(l.dirs), limit-len(next))
			next, s.partial = append(next, l.dirs[:n]...), s.partial || n < len(l.dirs)
			s.cubes = s.cubes || l.cubes
			s.partial = s.partial || l.partial
			s.unread.add(l.unread)
			s.copies.add(l.copies)
			s.others.add(l.others)
		}
		level = next
	}
	if !s.cubes {
		s.unread.add(s.copies)
	}
	s.unread.More, s.unread.Expected = s.partial, path.Join(s.Dir, s.Example)
	s.unread.File = path.Join(s.Dir, s.unread.File)
	s.others.More, s.others.File = s.partial, path.Join(s.Dir, s.others.File)
}

// isEmpty reports whether there is certainly no cube file.
func (s *search) isEmpty() bool { return !s.cubes && !s.partial }

// add adds files.
func (e *UnreadError) add(o UnreadError) {
	if e.Files == 0 {
		e.File = o.File
	}
	e.Files += o.Files
}

// listing is what a directory has.
type listing struct {
	dirs    []string // to be looked into, below the directory of the mag
	cubes   bool
	unread  UnreadError // with the first file, below the directory of the mag
	copies  UnreadError
	others  UnreadError
	partial bool
}

// list looks at the names in a directory of the mag. A directory that does not lead to cube files, and has metadata, is
// not a part of the mag. It returns some more than limit directories if there are that many.
func (s *search) list(dir string, limit int) (l listing) {
	foreign, n := dir != "." && s.Kind(dir) == volume.OtherName, 0
	for entries, err := range vfs.ListDir(s.FS, path.Join(s.Dir, dir)) {
		for _, e := range entries {
			if n++; s.names > 0 && n > s.names {
				l.partial = true
				return l
			}
			if foreign && slices.Contains(metadataFiles, e.Name()) {
				return listing{partial: l.partial}
			}
			if !isBeside(entries, e.Name()) {
				l.add(path.Join(dir, e.Name()), e, s.Kind(path.Join(dir, e.Name())))
			}
		}
		l.dirs = l.dirs[:min(len(l.dirs), limit+1)]
		if err != nil && !vfs.NothingListed(err) {
			l.partial = true
		}
	}
	return l
}

// isBeside reports whether a name is that of another entry with a suffix, such as x0.wkw.bak beside x0.wkw: then no
// voxels are missing. The entries are sorted.
func isBeside(entries []fs.DirEntry, name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || !suffix.MatchString(name[dot:]) {
		return false
	}
	_, found := slices.BinarySearchFunc(entries, name[:dot],
		func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	return found
}

// add adds an entry of a directory.
func (l *listing) add(name string, e fs.DirEntry, kind volume.CubeName) {
	switch {
	case kind == volume.FileName: // of any kind: reads of what is no file are errors
		l.cubes = true
	case kind == volume.BesideName:
	case kind == volume.CopyName:
		l.copies.add(UnreadError{File: name, Files: 1})
	case kind == volume.DirName, e.IsDir() && dirOfCubes.MatchString(e.Name()):
		l.dirs = append(l.dirs, name)
	case !e.IsDir() && likeCube(e.Name()):
		l.unread.add(UnreadError{File: name, Files: 1})
	case !e.IsDir() && !isKnown(e.Name()):
		l.others.add(UnreadError{File: name, Files: 1})
	}
}

// metadataFiles are files that only the directory of an array, a group, a mag or a volume has.
var metadataFiles = []string{".zarray", ".zgroup", "attributes.json", "datasource-properties.json", "header.wkw",
	"info", "zarr.json"}

// isKnown reports whether a file is hidden, or has the name of metadata of any format.
func isKnown(name string) bool {
	return name[0] == '.' || slices.Contains(metadataFiles, name) ||
		slices.Contains([]string{".conf", ".toml"}, path.Ext(name))
}

var (
	// dirOfCubes matches the names of directories in which a format has cube files.
	dirOfCubes = regexp.MustCompile(`(?i)^(c|[xyz]?-?[0-9]+)$`)

	suffix = regexp.MustCompile(`^\.[A-Za-z]`)

	// cubeLike match the names of cube files of all formats, and of the same files under names that programs give them
	// while they are written or when they compress them.
	cubeLike = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^x?-?[0-9]+\.wkw(\..*)?$`),
		regexp.MustCompile(`^(c\.)?[0-9]+([._][0-9]+)*(\.(gz|zst|zstd|br|xz|bz2|lzma|lz4|part|partial|tmp))?$`),
		regexp.MustCompile(`^-?[0-9]+--?[0-9]+_-?[0-9]+--?[0-9]+_-?[0-9]+--?[0-9]+(\..*)?$`),
		regexp.MustCompile(`(?i)^[0-9a-f]+\.(shard|index|data)(\..*)?$`),
		regexp.MustCompile(`_mag[0-9]+_x[0-9]+_y[0-9]+_z[0-9]+\.`),
	}
)

// likeCube reports whether a file has a name like a cube file of any format.
func likeCube(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.ContainsFunc(cubeLike,
		func(r *regexp.Regexp) bool { return r.MatchString(name) })
}
