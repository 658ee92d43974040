package annotation

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/webknossos"
)

// LockFile is the lock of a directory of edits, in that directory. Who writes blocks there has it.
const LockFile = ".wkwfs-edit.lock"

// writing is how long a writer needs for a temporary file at most. One that is older was left.
const writing = time.Minute

// maxLeftovers limits the temporary files that are reported.
const maxLeftovers = 100

// CheckNML returns an error for a directory with the data of a volume, as an annotation names it, and without an NML
// file: it is the rest of an annotation, and nothing says which layer the data belong to.
func CheckNML(fsys fs.FS) error {
	for _, pattern := range []string{webknossos.PropertiesFile, "*.[nN][mM][lL]"} {
		if found, _ := fs.Glob(fsys, pattern); len(found) > 0 { // the pattern is valid
			return nil
		}
	}
	found, _ := fs.Glob(fsys, "data_*/*/header.wkw")
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("expected an NML file beside %s, found none: it says which layer the blocks belong to",
		path.Dir(path.Dir(found[0])))
}

// leftovers returns an error for each temporary file in the directories of the volumes. A process that wrote blocks to
// them was killed, and what it had not yet written is lost.
func (d *Dataset) leftovers() (all []error) {
	for _, l := range d.Volumes {
		if !l.Unpacked() {
			continue // an archive, to which nobody writes
		}
		err := fs.WalkDir(l.fsys, l.dir, func(name string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed since it was listed
			}
			if err != nil || e.IsDir() || !atomicfile.IsTemp(e.Name()) {
				return err
			}
			if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < writing {
				return nil // removed, or it is being written
			}
			all = append(all,
				fmt.Errorf("%s: expected no temporary file, found one: a process that wrote blocks was killed", name))
			if len(all) >= maxLeftovers {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
