package copier

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// Request is a copy as users of wkwfs cp write it.
type Request struct {
	Source   string // real path
	Path     string // in the tree of the source
	Contents bool   // copy the entries of the directory at Path, without its name
	Dest     string // a file or directory, as cp(1) reads it
}

// Target is where a copy goes, for [Copy].
type Target struct {
	Root   *os.Root // nothing is written outside of it; nil if a dry run has found no directory
	Name   string   // in Root; "." for a directory
	record string   // path of the record; empty if there is none
}

// Close closes Root.
func (t *Target) Close() {
	if t.Root != nil {
		t.Root.Close()
	}
}

// Complete records that the copy is complete.
func (t *Target) Complete() error {
	if t.record == "" {
		return nil
	}
	if err := os.Remove(t.record); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // another process has made the same copy
}

// Target returns where the copy of a file or of a directory goes, and creates that directory. It
// fails if the target lies in the source.
//
// A directory that a copy creates exists when the copy is resumed, and cp would then copy into
// it. So until the copy is complete, a record beside it, DEST.part.json, names the source and
// the path.
func (r Request) Target(directory bool) (*Target, error) {
	at, record, err := r.target(directory)
	if err != nil {
		return nil, err
	}
	if directory {
		return r.makeDirectory(at, record)
	}
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return nil, err
	}
	return &Target{Root: root, Name: filepath.Base(at)}, nil
}

// DryTarget is Target for a dry run. It creates nothing. If the directory does not exist, the Target has no Root. If
// the user may not create files there, DryTarget fails.
func (r Request) DryTarget(directory bool) (*Target, error) {
	at, _, err := r.target(directory)
	if err != nil {
		return nil, err
	}
	dir, name := at, "."
	if !directory {
		dir, name = filepath.Split(at)
	}
	if err := paths.CheckCreate(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		root, err = nil, nil
	}
	return &Target{Root: root, Name: name}, err
}

// target returns the path of the target, and that of the record, if there is to be one.
func (r Request) target(directory bool) (at, record string, err error) {
	there, err := os.Stat(r.Dest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	exists := err == nil
	at = r.Dest
	switch {
	case exists && !there.IsDir() && directory:
		return "", "", fmt.Errorf("%s is a directory, %s a file", r.Path, r.Dest)
	case directory && r.Contents:
	case directory && (!exists || r.isRecorded()):
		record = r.recordName()
	case exists && there.IsDir():
		at = filepath.Join(r.Dest, path.Base(r.Path))
	case !exists && strings.HasSuffix(r.Dest, "/"):
		return "", "", hint.Errorf("mkdir -p "+hint.Quote(r.Dest), "%s does not exist", r.Dest)
	}
	at, err = realTarget(at)
	if err != nil {
		return "", "", err
	}
	if err := checkOutside(r.Source, at, directory); err != nil {
		return "", "", err
	}
	return at, record, nil
}

func (r Request) makeDirectory(at, record string) (*Target, error) {
	if record != "" {
		if err := os.WriteFile(record, r.recordText(), 0o666); err != nil {
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
	return &Target{Root: root, Name: ".", record: record}, nil
}

func (r Request) recordName() string { return filepath.Clean(r.Dest) + ".part.json" }

func (r Request) recordText() []byte {
	b, err := json.Marshal(map[string]string{"source": r.Source, "path": r.Path})
	if err != nil {
		panic(err) // strings
	}
	return append(b, '\n')
}

// isRecorded reports whether the record is there and is of the same copy.
func (r Request) isRecorded() bool {
	b, err := os.ReadFile(r.recordName())
	return err == nil && string(b) == string(r.recordText())
}

// realTarget returns the path with its directory free of links. The directory must exist, the
// path need not.
func realTarget(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", hint.Errorf("mkdir -p "+hint.Quote(filepath.Dir(name)), "%s does not exist", filepath.Dir(name))
	}
	return filepath.Join(dir, filepath.Base(name)), err
}

// checkOutside returns an error if a target lies in the source, or if a directory that contains
// the source would be the target of a directory.
func checkOutside(source, at string, directory bool) error {
	inside, err := paths.Contains(source, filepath.Dir(at))
	real, absent := filepath.EvalSymlinks(at)
	if absent == nil && err == nil && !inside {
		inside, err = paths.Contains(source, real)
	}
	if absent == nil && err == nil && !inside && directory {
		inside, err = paths.Contains(real, source)
	}
	if err == nil && inside {
		err = hint.Errorf("choose another place", "%s would be written into the source %s", at, source)
	}
	return err
}
