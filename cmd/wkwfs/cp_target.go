package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// target is where a copy goes.
type target struct {
	root *os.Root // nothing is written outside of it
	name string   // in root; "." for a folder
	note string   // path of the note that the folder is being made; empty: there is none
}

func (t *target) close() { t.root.Close() }

// complete takes the note away.
func (t *target) complete() error {
	if t.note == "" {
		return nil
	}
	return os.Remove(t.note)
}

// findTarget turns DEST into a place, as cp does, and makes the folder that is to be
// one. The source is a real path.
func (s *copySettings) findTarget(source string, folder bool) (*target, error) {
	there, err := os.Stat(s.dest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	exists := err == nil
	at, note := s.dest, ""
	switch {
	case exists && !there.IsDir() && folder:
		return nil, fmt.Errorf("%s is a folder, %s a file", s.path, s.dest)
	case folder && s.contents:
	case folder && (!exists || s.isNoted(source)):
		note = s.noteName()
	case exists && there.IsDir():
		at = filepath.Join(s.dest, path.Base(s.path))
	case !exists && strings.HasSuffix(s.dest, "/"):
		return nil, hinted("mkdir -p "+shellWord(s.dest), "%s does not exist", s.dest)
	}
	at, err = targetPath(at)
	if err != nil {
		return nil, err
	}
	if err := checkOutside(source, at, folder); err != nil {
		return nil, err
	}
	if folder {
		return s.makeFolder(source, at, note)
	}
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return nil, err
	}
	return &target{root: root, name: filepath.Base(at)}, nil
}

func (s *copySettings) makeFolder(source, at, note string) (*target, error) {
	if note != "" {
		if err := os.WriteFile(note, s.noteText(source), 0o666); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	return &target{root: root, name: ".", note: note}, nil
}

// A folder that a copy has made exists when the same command is given again, which
// would copy into it. A note beside it says that it is what DEST stands for, as long
// as the copy is not complete.

func (s *copySettings) noteName() string { return filepath.Clean(s.dest) + ".part.json" }

func (s *copySettings) noteText(source string) []byte {
	b, err := json.Marshal(map[string]string{"source": source, "path": s.path})
	if err != nil {
		panic(err) // strings
	}
	return append(b, '\n')
}

func (s *copySettings) isNoted(source string) bool {
	b, err := os.ReadFile(s.noteName())
	return err == nil && string(b) == string(s.noteText(source))
}

// realPath is the path without symbolic links.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// targetPath is the path of something that need not exist, in a real directory that
// does.
func targetPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", hinted("mkdir -p "+shellWord(filepath.Dir(name)), "%s does not exist", filepath.Dir(name))
	}
	return filepath.Join(dir, filepath.Base(name)), err
}

// checkOutside refuses to write into the source: to copy to a place in it, or a
// folder to one that it lies in.
func checkOutside(source, at string, folder bool) error {
	inside, err := contains(source, filepath.Dir(at))
	real, absent := filepath.EvalSymlinks(at)
	if absent == nil && err == nil && !inside {
		inside, err = contains(source, real)
	}
	if absent == nil && err == nil && !inside && folder {
		inside, err = contains(real, source)
	}
	if err == nil && inside {
		err = hinted("choose a place elsewhere", "%s would be written into the source %s", at, source)
	}
	return err
}
