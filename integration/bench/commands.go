package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// mountAndList returns a contender that mounts a mag of very many cubes and lists their directories with ls. The
// figures are the time until the command returns, in ms, and the time of both in seconds.
func (b *bench) mountAndList(name string, s source, d *dataset) contender {
	return contender{Name: name, do: func(ctx context.Context, _ reading) (t turn, err error) {
		o, err := s.open(ctx)
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, o.close()) }()
		dir, err := tempDir()
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, unmount(dir), os.Remove(dir)) }()
		start := time.Now()
		if err := call(context.Background(), b.mountCommand(o, dir)...); err != nil {
			return t, err
		}
		mounted := time.Since(start)
		rows, err := filepath.Glob(filepath.Join(dir, "z0", "y*"))
		if err != nil {
			return t, err
		}
		output, err := command(ctx, append([]string{"ls"}, rows...)...).Output()
		cubes := d.grid.Size[0] * d.grid.Size[1] / (4 * blockSide * blockSide)
		if n := bytes.Count(output, []byte{'\n'}); err == nil && n < 2*cubes { // a file and a directory each
			err = fmt.Errorf("ls printed %d lines, expected %d", n, 2*cubes)
		}
		t.Values = []float64{mounted.Seconds() * 1000, time.Since(start).Seconds()}
		return t, err
	}}
}

// overNFS returns nfs-cat of libnfs, which reads the cube from wkwfs nfs with one READ in flight, and dd of a mount.
func overNFS(b *bench, d *dataset) []contender {
	var address string
	c := contender{Name: "wkwfs nfs, nfs-cat", Absent: missing("nfs-cat"), stored: d.stored, budget: b.cache}
	c.mount = func(ctx context.Context) (m *mounted, err error) {
		if address, err = freeAddress(); err != nil {
			return nil, err
		}
		m, err = serve(ctx, true, func(string) []string {
			return []string{b.program, "nfs", "--cache-size", fmt.Sprintf("%dMiB", b.cache), "--listen", address, d.mag}
		})
		if err == nil {
			m.signal = true
		}
		return m, err
	}
	c.do = func(ctx context.Context, r reading) (turn, error) {
		_, port, _ := net.SplitHostPort(address)
		url := fmt.Sprintf("nfs://127.0.0.1/%s?nfsport=%s&mountport=%[2]s", cubeFile, port)
		return timeCommand(ctx, r.grid.Bytes(), "sh", "-c", `nfs-cat "$1" >/dev/null`, "sh", url)
	}
	return []contender{c, b.wkwfs(d.source(), cubeFile).by(ddName, dd)}
}

// The names of contenders that write files.
const (
	importName     = "wkwfs import"
	mksquashfsName = "mksquashfs -comp lz4"
)

// importCommand returns the command of an import of the plain file. The voxels have the size of electron microscopy:
// the first coarser mag is 2-2-1.
func (b *bench) importCommand(d *dataset, flags ...string) func(output string) []string {
	return func(output string) []string {
		args := []string{b.program, "import", d.flat, output, "--layer", "data", "--quiet",
			"--voxel-size", "11.24,11.24,25", "--shape", d.grid.Size.String(), "--dtype", d.grid.Type.String()}
		return slices.Concat(args, flags)
	}
}

// writes returns a contender that runs a program which writes the plain file in another form, on the same disk. The
// figure is the time in seconds. The output is removed.
func (b *bench) writes(d *dataset, name string, program func(output string) []string) contender {
	return contender{Name: name, stored: []string{d.flat}, do: func(ctx context.Context, r reading) (t turn,
		err error) {
		output := filepath.Join(b.dir, "output")
		if err := os.RemoveAll(output); err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(output)) }()
		start := time.Now()
		t, err = timeCommand(ctx, r.grid.Bytes(), program(output)...)
		t.Values = []float64{time.Since(start).Seconds()}
		return t, err
	}}
}

// importLZ4 returns an import with LZ4. mksquashfs compresses the same bytes in the same way. It does not sync what it
// writes.
func importLZ4(b *bench, d *dataset) []contender {
	squashfs := b.writes(d, mksquashfsName, func(output string) []string {
		return []string{"mksquashfs", d.flat, output, "-comp", "lz4", "-noappend", "-no-progress", "-quiet"}
	})
	squashfs.Absent = missing("mksquashfs")
	return []contender{b.writes(d, importName, b.importCommand(d)), squashfs}
}

// importMags returns an import with three coarser mags, and one without.
func importMags(b *bench, d *dataset) []contender {
	return []contender{
		b.writes(d, importName+" --mags 3", b.importCommand(d, "--mags", "3")),
		b.writes(d, importName, b.importCommand(d)),
	}
}
