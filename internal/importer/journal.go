package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// journalFile is in the directory of a layer as long as it is not complete.
const journalFile = ".import.json"

func (l *layer) journal() string { return filepath.Join(l.dir, journalFile) }

// describe returns the journal: all that decides what the cubes hold. Cubes that are
// there are complete; so two imports with the same journal can share them.
func (l *layer) describe() []byte {
	sum := sha256.New()
	for _, f := range l.in.files {
		sum.Write(f.version[:])
	}
	b, err := json.Marshal(struct {
		Input       string // all files of the input, by their versions
		Grid        volume.Grid
		BigEndian   bool
		Box         volume.Box
		Block, Cube int
		Compression string
		Category    string
		Factors     []volume.Factor
	}{hex.EncodeToString(sum.Sum(nil)), l.in.Grid, l.in.bigEndian, l.box, l.Block, l.Cube, l.Compression.String(), l.Category, l.factors})
	if err != nil {
		panic(err) // a struct of numbers and text
	}
	return append(b, '\n')
}

// removeLeftovers removes what an import that was killed was in the middle of.
func (l *layer) removeLeftovers() error {
	return filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(d.Name(), ".tmp") {
			return os.Remove(path)
		}
		return err
	})
}

// replaceFile writes a file that appears complete or not at all.
func replaceFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which fails once it has its name
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(fileMode(path))
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// fileMode returns the permissions of the file that is to be replaced, or those that
// the permissions of its directory suggest.
func fileMode(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		return info.Mode().Perm() & 0o666
	}
	return 0o644
}
