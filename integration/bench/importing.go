package main

import (
	"context"
	"slices"
)

// The names of contenders that write files.
const (
	importName     = "wkwfs import"
	mksquashfsName = "mksquashfs -comp lz4"
	copyName       = "cp"
	copySyncName   = "cp, then sync"
	gunzipName     = "gunzip -c"
)

// importJob returns a job that measures how long imports of an input take. open returns the input, contenders returns the
// contenders. extra are flags of the import that is compared with the cube.
func importJob(name string, b bound, open func(context.Context) (writing, error), contenders func(writing) []contender, extra ...string) job {
	return job{
		name:    "import of " + name,
		figures: []figure{{"s", []bound{b}}},
		setup: func(ctx context.Context) ([]contender, error) {
			w, err := open(ctx)
			if err != nil {
				return nil, err
			}
			return contenders(w), w.verify(ctx, extra...)
		},
	}
}

// importLZ4 imports a cube with LZ4. mksquashfs compresses the same bytes in the same way.
func (b *bench) importLZ4(data string, most float64) job {
	return importJob(data+", LZ4", atMost(most, mksquashfsName), b.flatInput(data), func(w writing) []contender {
		squashfs := w.by(mksquashfsName, func(output string) []string {
			return []string{"mksquashfs", w.input, output, "-comp", "lz4", "-noappend", "-no-progress", "-quiet"}
		})
		squashfs.absent = missing("mksquashfs")
		return []contender{w.imports(importName), w.importsBefore(), squashfs}
	})
}

// importRaw imports a cube without compression. cp copies it, without a reflink, which takes no time. An import syncs its
// files, so another copy does, too.
func (b *bench) importRaw(data string, most float64) job {
	raw := []string{"--compression", "raw"}
	return importJob(data+", raw", atMost(most, copyName), b.flatInput(data), func(w writing) []contender {
		plain := w.by(copyName, func(output string) []string { return []string{"cp", "--reflink=never", w.input, output} })
		synced := w.by(copySyncName, func(output string) []string {
			return []string{"sh", "-c", `cp --reflink=never "$0" "$1" && sync "$1"`, w.input, output}
		})
		return []contender{w.imports(importName, raw...), w.importsBefore(raw...), plain, synced}
	}, raw...)
}

// importMags imports a cube with three coarser mags, and without.
func (b *bench) importMags(data string, most float64) job {
	mags := []string{"--mags", "3"}
	return importJob(data+", LZ4, three coarser mags", atMost(most, importName), b.flatInput(data), func(w writing) []contender {
		return []contender{w.imports(importName+" --mags 3", mags...), w.importsBefore(mags...), w.imports(importName)}
	}, mags...)
}

// importGzip imports a cube as a compressed NIfTI file. gunzip expands it and drops the voxels.
func (b *bench) importGzip(data string, most float64) job {
	return importJob(data+".nii.gz, LZ4", atMost(most, gunzipName), b.gzipInput(data), func(w writing) []contender {
		gunzip := w.by(gunzipName, func(string) []string { return []string{"gunzip", "-c", w.input} })
		return []contender{w.imports(importName), w.importsBefore(), gunzip}
	})
}

// importMemory imports large planes with a budget in MiB, and measures the memory beyond it.
func (b *bench) importMemory(budget int, flags ...string) job {
	return job{
		name:    "memory of an import of 8192 × 8192 × 64 uint32, " + memoryFlag(budget),
		figures: []figure{{"MiB beyond it", []bound{atMost(allowance, "")}}},
		setup: func(ctx context.Context) ([]contender, error) {
			w, err := b.wideInput(ctx)
			if err != nil {
				return nil, err
			}
			flags := append(slices.Clone(flags), memoryFlag(budget))
			return []contender{{name: importName, turn: func(ctx context.Context) (turn, error) {
				t, err := w.run(ctx, w.importCommand(b.program, flags...), nil)
				t.values = []float64{float64(t.peak)/(1<<20) - float64(budget)}
				return t, err
			}}}, nil
		},
	}
}
