package importer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// ErrBackup is the error of a directory that cannot take a backup, because something else is in it.
var ErrBackup = errors.New("the directory has something else than the backup of this update")

// backupFile is in the directory of a backup, and says of which update it is.
const backupFile = ".update.json"

// backupState is the content of backupFile.
type backupState struct {
	Input string // fingerprint
	Layer string
	Box   volume.Box
	Done  bool // all is in the backup, and cubes may be replaced
}

// keep keeps what the update replaces in the directory Backup, before the first cube is replaced. The directory becomes
// a dataset with the layer, and with those cubes of it that the update may replace. They are hard links where that is
// possible: a cube is replaced by rename, so the link keeps the old one. If the update is repeated, the backup stays as
// it is.
func (u *update) keep() error {
	if u.Backup == "" {
		return nil
	}
	want := backupState{Input: hex.EncodeToString(u.fingerprint), Layer: u.Layer, Box: u.box}
	done, err := findBackup(u.Backup, want)
	if err != nil || done {
		return err
	}
	if err := os.MkdirAll(u.Backup, 0o777); err != nil {
		return err
	}
	if err := writeBackupState(u.Backup, want); err != nil {
		return err
	}
	for _, m := range u.mags {
		if err := u.keepMag(m); err != nil {
			return err
		}
	}
	if err := u.keepMetadata(); err != nil {
		return err
	}
	want.Done = true
	return writeBackupState(u.Backup, want)
}

// findBackup reports whether a directory has a complete backup of the update. It fails if it has something else.
func findBackup(dir string, want backupState) (done bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b, err := os.ReadFile(filepath.Join(dir, backupFile))
	var found backupState
	if err == nil {
		err = json.Unmarshal(b, &found)
	}
	done, found.Done = found.Done, false
	if err != nil || found != want {
		return false, fmt.Errorf("%s: %w", dir, ErrBackup)
	}
	return done, nil
}

func writeBackupState(dir string, s backupState) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, backupFile), append(b, '\n'))
}

// keepMag keeps the header of a mag, and the cubes with a voxel that depends on the box.
func (u *update) keepMag(m pyramid.Mag) error {
	below, err := filepath.Rel(u.dataset(), m.Dir)
	if err != nil {
		return err
	}
	to := filepath.Join(u.Backup, below)
	if err := keepFile(filepath.Join(m.Dir, headerFile), filepath.Join(to, headerFile)); err != nil {
		return err
	}
	for c := range u.cubes(m) {
		name := fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0])
		if err := keepFile(filepath.Join(m.Dir, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// keepFile makes to a hard link to a file, or a copy. A file that does not exist is not kept.
func keepFile(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a backup that was interrupted
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Replace(to, fileMode(from), func(out *os.File) error {
		_, err := io.Copy(out, in)
		return errors.Join(err, out.Sync())
	})
}

// keepMetadata keeps the metadata of the layer.
func (u *update) keepMetadata() error {
	m, err := readMetadata(u.dataset())
	if err != nil || len(m.fields) == 0 {
		return err
	}
	m.layers = slices.DeleteFunc(m.layers, func(raw json.RawMessage) bool {
		var l webknossos.LayerProperties
		return json.Unmarshal(raw, &l) != nil || l.Name != u.Layer
	})
	m.setLayers()
	m.path = filepath.Join(u.Backup, webknossos.PropertiesFile)
	return m.replace()
}
