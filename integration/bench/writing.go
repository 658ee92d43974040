package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// writing is the task to write an input in another form. The output is on the same disk.
type writing struct {
	b     *bench
	input string
	flags []string // of an import
	bytes int64    // of the voxels
	mag   mag      // has the voxels of the input
	flat  string   // the plain file with the voxels of the mag
}

// run runs a program. The result has its time in seconds. Before that, an older output is removed. After that, check is
// called with the output, unless it is nil, and the output is removed.
func (w writing) run(ctx context.Context, program func(output string) []string, check func(output string) error) (t turn, err error) {
	output := filepath.Join(w.b.dir, "output")
	if err := os.RemoveAll(output); err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(output)) }()
	t, err = runProgram(ctx, program(output))
	t.bytes = w.bytes
	if err == nil && check != nil {
		err = check(output)
	}
	return t, err
}

// by returns a contender that runs a program, with the input in the page cache.
func (w writing) by(name string, program func(output string) []string) contender {
	return contender{name: name, turn: func(ctx context.Context) (turn, error) {
		if err := errors.Join(needSpace(w.b.dir, 2*w.bytes), cacheFiles(ctx, []string{w.input})); err != nil {
			return turn{}, err
		}
		return w.run(ctx, program, nil)
	}}
}

// importCommand returns the command of an import. The voxels have the size of electron microscopy: the first coarser mag is
// 2-2-1.
func (w writing) importCommand(program string, extra ...string) func(output string) []string {
	return func(output string) []string {
		args := []string{program, "import", w.input, output, "--layer", "data", "--voxel-size", "11.24,11.24,25", "--quiet"}
		return slices.Concat(args, w.flags, extra)
	}
}

// imports returns the import by the measured wkwfs, with extra flags.
func (w writing) imports(name string, extra ...string) contender {
	return w.by(name, w.importCommand(w.b.program, extra...))
}

// importsBefore returns the import by the wkwfs of -before.
func (w writing) importsBefore(extra ...string) contender {
	c := w.by(beforeName, w.importCommand(w.b.before, extra...))
	c.older = true
	if w.b.before == "" {
		c.absent = "no -before"
	}
	return c
}

// verify imports once, and compares all voxels of the layer with the plain file.
func (w writing) verify(ctx context.Context, extra ...string) error {
	w.b.progress("comparing the voxels of an import with those of %s", w.mag.name)
	_, err := w.run(ctx, w.importCommand(w.b.program, extra...), func(output string) error {
		f, err := os.Open(w.flat)
		if err != nil {
			return err
		}
		defer f.Close()
		imported := w.mag
		imported.dir = filepath.Join(output, "data", "1")
		return imported.compare(ctx, f)
	})
	if err != nil {
		return fmt.Errorf("import of %s: %w", w.input, err)
	}
	return nil
}

// rawFlags returns the flags that describe a plain file of voxels.
func rawFlags(size volume.Vec, t volume.Type) []string {
	return []string{"--shape", fmt.Sprintf("%d,%d,%d", size[0], size[1], size[2]), "--dtype", t.String()}
}

func memoryFlag(mib int) string { return fmt.Sprintf("--memory=%dMiB", mib) }
