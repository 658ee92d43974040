package importer

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// journalFile is in the directory of a layer that is not complete.
const journalFile = webknossos.JournalFile

func (l *layer) journalPath() string { return filepath.Join(l.dir, journalFile) }

// journal returns the content of the journal: everything that determines the content of the cubes. Existing cubes are
// complete, so an import with the same journal keeps them.
func (l *layer) journal() []byte {
	b, err := json.Marshal(struct {
		Input       string // fingerprint
		Grid        volume.Grid
		Box         volume.Box
		Block, Cube int
		Format      pyramid.Format
		Compression string
		Category    string
		Downsample  string
		Factors     []volume.Factor
		Parts       int    `json:",omitempty"`
		Cut         string `json:",omitempty"` // fingerprint of all parts
	}{hex.EncodeToString(l.in.Fingerprint()), l.in.Grid, l.box, l.Block, l.Cube, l.Format, l.Compression.String(),
		l.Category, l.method.String(), l.factors, l.Part.N, l.cut})
	if err != nil {
		panic(err) // not for a struct of numbers and text
	}
	return append(b, '\n')
}

// progress is a line of the journal after the first: all cubes with voxels below plane Z are complete.
type progress struct {
	Z       int    // in voxels of mag 1
	Largest uint64 // id below Z
}

// checkpoint appends a line to the journal.
func (l *layer) checkpoint(z int) error {
	if !l.Part.Whole() {
		return l.writePart(partState{Z: z})
	}
	b, err := json.Marshal(progress{z, l.largest.Load()})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.journalPath(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// resume sets the plane from which an interrupted import continues. It removes a line that was not written completely,
// so that the next one can be read. lines is the journal after its first line.
func (l *layer) resume(lines []byte) error {
	whole := l.resumeFrom(lines)
	return os.Truncate(l.journalPath(), int64(len(l.journal())+whole))
}

// resumeFrom is resume without the removal. It returns the bytes of the lines that were written completely.
func (l *layer) resumeFrom(lines []byte) (whole int) {
	whole = bytes.LastIndexByte(lines, '\n') + 1
	for line := range bytes.Lines(lines[:whole]) {
		var p progress
		if json.Unmarshal(line, &p) == nil && p.Z > l.box.Min[2] && p.Z%l.Cube == 0 {
			l.from = p.Z
			l.largest.Store(p.Largest)
		}
	}
	return whole
}

// replaceFile replaces the content of the file at path with b. It syncs the file and its name.
func replaceFile(path string, b []byte) error { return writeFile(path, b, os.Rename) }

// newFile is replaceFile for a file that must not exist. Otherwise the error is fs.ErrExist.
func newFile(path string, b []byte) error { return writeFile(path, b, atomicfile.RenameNew) }

func writeFile(path string, b []byte, rename func(old, new string) error) error {
	mode := fileMode(path)
	f, err := atomicfile.Create(path, mode)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = f.Write(b)
	// Chmod is for the permissions whatever the umask is.
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(f.Name()))
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// fileMode returns the permissions of an existing file, else those of its directory without execution.
func fileMode(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		return info.Mode().Perm() & 0o666
	}
	return 0o644
}
