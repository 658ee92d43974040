package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrSequential is the error of an input that cannot be read from the middle, and so not in parts.
var ErrSequential = errors.New(
	"the voxels are one compressed stream, which can be read from its start only: it cannot be imported in parts")

// MissingPartsError is the error of an import with parts that are not complete.
type MissingPartsError struct {
	N     int   // of the parts
	Parts []int // that are not complete
}

func (e *MissingPartsError) Error() string {
	return fmt.Sprintf("of %d parts, %s", e.N, batch.MissingText(e.Parts))
}

// setParts divides the layer into n parts with about equal stored bytes of the input. Cubes of the coarsest mag are in
// one part as a whole, and so are all finer cubes inside of them: no part needs a voxel of another. There may be fewer
// of these cubes than parts; then some parts are empty.
func (l *layer) setParts(n int) {
	if n == len(l.parts) {
		return
	}
	cell := volume.Cube(l.Cube).Mul(volume.Vec(l.factors[len(l.factors)-1]))
	axes := []int{2, 1, 0}
	var stored []int64      // without compression, planes have equal bytes
	if l.in.WholePlanes() { // other parts would decode the same planes
		axes, stored = axes[:1], l.in.StoredBytes()
	}
	l.parts = newCutter(l.box, cell, axes, stored).cut(n)
	l.cut = fingerprint(l.parts)
	l.Part.N = n
}

// partState is the content of the file of a part, after the line of the journal.
type partState struct {
	Z       int    // all cubes of the part with voxels below this plane of mag 1 are complete
	Largest uint64 // id below Z
	Done    bool   // all cubes of the part are complete
}

// partFile is the format of the name of the file of a part.
const partFile = ".import-%d-of-%d.json"

// partPath returns the path of the file of a part.
func (l *layer) partPath(part batch.Part) string {
	return filepath.Join(l.dir, fmt.Sprintf(partFile, part.I, part.N))
}

// readPart returns the state of a part. If it has not written any, or it is of another import, the state is zero.
func (l *layer) readPart(part batch.Part) (s partState, err error) {
	b, err := os.ReadFile(l.partPath(part))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	state, ok := bytes.CutPrefix(b, l.journal())
	if !ok || json.Unmarshal(state, &s) != nil {
		return partState{}, nil
	}
	return s, nil
}

// writePart writes the state of the part, unless another process has done all of it.
func (l *layer) writePart(s partState) error {
	now, err := l.readPart(l.Part)
	if err != nil || now.Done {
		return err
	}
	if err := l.checkJournal(); err != nil {
		return err
	}
	s.Largest = l.largest.Load()
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(l.partPath(l.Part), append(l.journal(), append(b, '\n')...))
}

// importPart writes the cubes of a part. Other parts may write theirs at the same time.
func (l *layer) importPart(ctx context.Context) error {
	done, err := l.resumePart()
	if err != nil || done {
		return err
	}
	if err := l.write(ctx); err != nil {
		return fmt.Errorf("layer %s: part %v is not complete: %w", l.Layer, l.Part, err)
	}
	if err := l.in.Unchanged(); err != nil {
		return err
	}
	return l.writePart(partState{Z: l.part.Max[2], Done: true})
}

// resumePart sets the plane from which an interrupted part continues. It reports whether all of the part is done.
func (l *layer) resumePart() (done bool, err error) {
	state, err := l.readPart(l.Part)
	if err != nil || state.Done {
		return state.Done, err
	}
	l.largest.Store(state.Largest)
	if state.Z > l.part.Min[2] && state.Z < l.part.Max[2] && state.Z%l.Cube == 0 {
		l.from = state.Z
	}
	return false, nil
}

// Finish adds the layer to the metadata of the dataset in dir, when Import has written all parts. The options are those
// of the parts; it finds out how many parts there are. If parts are not complete, the error is a *MissingPartsError.
func Finish(ctx context.Context, in *arrayfile.Array, dir string, o Options) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	meta, err := readMetadata(dir)
	if err != nil {
		return err
	}
	l, err := plan(ctx, in, dir, meta, o)
	if err != nil {
		return err
	}
	lock, unlocked := l.lock(ctx, lockfile.Options{}, l.dir) // if parts are missing, that says more than this error
	if unlocked == nil {
		defer lock.Release()
	}
	if meta, err = readMetadata(dir); err != nil {
		return err
	}
	l.listed = meta.has(l.Layer)
	err = l.startedParts()
	complete := errors.Is(err, ErrExists) && l.findPartsLeft()
	if err != nil && !complete {
		return err
	}
	if o.Planned != nil {
		o.Planned(l.plan())
	}
	if complete {
		if unlocked == nil {
			unlocked = l.removeParts()
		}
		return unlocked
	}
	missing := &MissingPartsError{N: l.Part.N}
	for i := range l.Part.N {
		state, err := l.readPart(batch.Part{I: i + 1, N: l.Part.N})
		switch {
		case err != nil:
			return err
		case !state.Done:
			missing.Parts = append(missing.Parts, i+1)
		}
		l.largest.Store(max(l.largest.Load(), state.Largest))
	}
	if len(missing.Parts) > 0 {
		return fmt.Errorf("layer %s: %w", l.Layer, missing)
	}
	if unlocked != nil {
		return unlocked
	}
	if err := errors.Join(removeLeftovers(l.dir), l.publish(ctx)); err != nil {
		return err
	}
	return l.removeJournals()
}

// startedParts sets the number of parts of the import that was started. It fails if that differs from what l would
// import.
func (l *layer) startedParts() error {
	found, err := os.ReadFile(l.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		if l.listed {
			return fmt.Errorf("%s: %w", l.dir, ErrExists)
		}
		return fmt.Errorf("%s: %w", l.dir, ErrNoParts)
	}
	if err != nil {
		return err
	}
	var started struct{ Parts int }
	if json.Unmarshal(found, &started) != nil || started.Parts < 1 || started.Parts > batch.MaxParts {
		return fmt.Errorf("%s: %w", l.dir, ErrUnfinished) // an import that is not in parts has more lines
	}
	l.setParts(started.Parts)
	if !bytes.Equal(found, l.journal()) {
		return fmt.Errorf("%s: %w", l.dir, ErrUnfinished)
	}
	return nil
}

// ErrNoParts is the error of finishing an import of which no part was started.
var ErrNoParts = errors.New("no part of the import was started")

// removeJournals removes the journal and then the files of all parts. After a kill in between, the import is complete.
// In the other order, its parts would be missing.
func (l *layer) removeJournals() error {
	if err := os.Remove(l.journalPath()); err != nil {
		return err
	}
	return l.removeParts()
}

// removeParts removes the files of all parts.
func (l *layer) removeParts() error {
	for i := range l.Part.N {
		if err := os.Remove(l.partPath(batch.Part{I: i + 1, N: l.Part.N})); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// findPartsLeft reports whether Finish was killed after it had removed the journal, and before it had removed the files
// of all parts. If so, it sets the number of parts.
func (l *layer) findPartsLeft() bool {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		var part batch.Part
		if n, _ := fmt.Sscanf(e.Name(), partFile, &part.I, &part.N); n < 2 || part.N < 1 || part.N > batch.MaxParts {
			continue
		}
		l.setParts(part.N)
		if state, err := l.readPart(part); err == nil && state.Done {
			return true
		}
	}
	return false
}
