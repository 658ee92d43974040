package relabel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Limits of tables of pairs, which are in memory.
const (
	maxPairs     = 1 << 23
	maxFile      = 512 << 20 // bytes
	maxParents   = 100
	maxPairsText = "at most 8,388,608 ids in a mapping"
)

// newPairs returns a table of pairs.
func newPairs(version vfs.Version, pairs map[uint64]uint64) *state {
	s := &state{version: version, pairs: pairs}
	for _, to := range pairs {
		s.most = max(s.most, to)
	}
	return s
}

// OpenCSV opens a text file with an id and what it becomes in each line. Between them is a comma, a semicolon or
// white space. A first line without numbers, empty lines and those that start with # are ignored. It reads nothing.
func OpenCSV(name string, fsys fs.FS, file string) *Table {
	t := &Table{Name: name, files: statOf(fsys, file)}
	t.read = func(last *state) (*state, error) { return readCSV(fsys, file, last) }
	return t
}

func readCSV(fsys fs.FS, name string, last *state) (*state, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	version := vfs.VersionOf(info)
	switch {
	case last != nil && last.version == version:
		return last, nil
	case info.Size() > maxFile:
		return nil, broken(name, "size", fmt.Sprintf("at most %d bytes; an .npy file may have more", maxFile),
			fmt.Sprint(info.Size()))
	}
	pairs, err := parseCSV(name, f)
	if err == nil {
		err = vfs.Unchanged(f, info)
	}
	if err != nil {
		return nil, err
	}
	return newPairs(version, pairs), nil
}

func parseCSV(name string, r io.Reader) (map[uint64]uint64, error) {
	pairs := map[uint64]uint64{}
	lines := bufio.NewScanner(r)
	first := true
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",; \t", r) })
		var ids [2]uint64
		fault := len(fields) != 2
		for i := range min(2, len(fields)) {
			id, err := strconv.ParseUint(fields[i], 10, 64)
			ids[i], fault = id, fault || err != nil
		}
		if fault && !(first && !strings.ContainsAny(line[:1], "0123456789-")) {
			return nil, broken(name, fmt.Sprintf("line %d", number), "two ids", fmt.Sprintf("%.100q", line))
		}
		if first = false; fault {
			continue
		}
		if old, ok := pairs[ids[0]]; ok && old != ids[1] {
			return nil, broken(name, fmt.Sprintf("line %d", number), fmt.Sprintf("%d for id %d, as before", old,
				ids[0]), fmt.Sprint(ids[1]))
		}
		if pairs[ids[0]] = ids[1]; len(pairs) > maxPairs {
			return nil, broken(name, fmt.Sprintf("line %d", number), maxPairsText+"; an .npy file may have more",
				"more")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pairs, nil
}

// OpenJSON opens a JSON mapping of WEBKNOSSOS: NAME.json in directory dir. Each class becomes its smallest id. Its
// parents are in the same directory. It reads nothing.
func OpenJSON(name string, fsys fs.FS, dir string) *Table {
	t := &Table{Name: name, files: statOf(fsys, path.Join(dir, name+".json"))}
	t.read = func(last *state) (*state, error) { return readJSON(fsys, dir, name, last) }
	return t
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func readJSON(fsys fs.FS, dir, name string, last *state) (*state, error) {
	var chain []string
	var versions []byte
	pairs := map[uint64]uint64{}
	for name != "" {
		switch {
		case slices.Contains(chain, name):
			return nil, broken(path.Join(dir, chain[0]+".json"), "parent", "parents that end",
				fmt.Sprintf("%q again", name))
		case len(chain) == maxParents:
			return nil, broken(path.Join(dir, chain[0]+".json"), "parent",
				fmt.Sprintf("at most %d parents", maxParents), "more")
		case !plainName.MatchString(name):
			return nil, broken(path.Join(dir, chain[0]+".json"), "parent", "the name of a mapping",
				jsonlimit.Abbreviate(name))
		}
		chain = append(chain, name)
		file := path.Join(dir, name+".json")
		info, err := fs.Stat(fsys, file)
		if err != nil {
			if len(chain) > 1 && errors.Is(err, fs.ErrNotExist) {
				return nil, broken(path.Join(dir, chain[len(chain)-2]+".json"), "parent", "a mapping beside it",
					fmt.Sprintf("%q, which is not there", name))
			}
			return nil, err
		}
		v := vfs.VersionOf(info)
		versions = append(versions, v[:]...)
		if name, err = addJSON(fsys, file, pairs); err != nil {
			return nil, err
		}
	}
	return newPairs(hashOf(versions), pairs), nil
}

// addJSON adds the classes of a file, after those of its children. A class takes what its smallest id has become
// already. It returns the parent.
func addJSON(fsys fs.FS, file string, pairs map[uint64]uint64) (parent string, err error) {
	b, err := jsonlimit.ReadFile(fsys, file, maxFile)
	if err != nil {
		return "", err
	}
	var o jsonlimit.Object
	if err := json.Unmarshal(b, &o); err != nil {
		return "", broken(file, "JSON", "an object", err.Error())
	}
	if err := o.Get("parent", &parent); err != nil {
		return "", broken(file, "parent", "a name", err.Error())
	}
	if !o.Has("classes") {
		return "", broken(file, "classes", "a list of lists of ids", "none")
	}
	number := 0
	for class, err := range jsonlimit.Values[json.RawMessage](o["classes"], maxPairs, "classes") {
		var ids []uint64
		if err == nil {
			ids, err = jsonlimit.List[uint64](class, maxPairs, "ids")
		}
		if err != nil {
			return "", broken(file, fmt.Sprintf("class %d", number), "a list of ids", err.Error())
		}
		number++
		if len(ids) == 0 {
			continue
		}
		to := slices.Min(ids)
		if already, ok := pairs[to]; ok {
			to = already
		}
		for _, id := range ids {
			pairs[id] = to
		}
		if len(pairs) > maxPairs {
			return "", broken(file, fmt.Sprintf("class %d", number-1), maxPairsText, "more")
		}
	}
	return parent, nil
}
