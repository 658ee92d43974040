package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peer is a way to the voxels of a mag as one flat file.
type peer struct {
	name   string
	absent string   // why it cannot be had here; empty if it can
	stored []string // the files that it computes the voxels from
	budget int      // of the cache in MiB, of the wkwfs that is measured
	file   string   // the flat file, below the mount if there is one
	mount  func(context.Context) (*mounted, error)
}

// How peers are called in the table.
const (
	beforeName     = "wkwfs before"
	memoryName     = "FUSE from memory"
	squashfuseName = "squashfuse_ll"
	squashfsKind   = "squashfs-lz4 128 KiB"
	erofsKind      = "EROFS-lz4 64 KiB"
	byTheKernel    = ", kernel"
	squashfsName   = squashfsKind + byTheKernel
	erofsName      = erofsKind + byTheKernel
)

// wkwfs returns a mount of a mag with the given file and memory for blocks in MiB.
func (b *bench) wkwfs(m mag, file string, cache int) peer {
	p := b.mountedBy(b.program, m, file, cache)
	p.budget = cache
	return p
}

// mountedBy returns the same mount by the given program.
func (b *bench) mountedBy(program string, m mag, file string, cache int) peer {
	return peer{name: "wkwfs", stored: m.files(), file: file, mount: func(ctx context.Context) (*mounted, error) {
		return serve(ctx, true, func(dir string) []string { return b.mountCommand(program, m, dir, cache, "--foreground") })
	}}
}

// pair returns the wkwfs that is measured, and the one of -before.
func (b *bench) pair(m mag, file string) []peer {
	before := b.mountedBy(b.before, m, file, b.cache)
	before.name = beforeName
	if b.before == "" {
		before.absent = "no -before"
	}
	return []peer{b.wkwfs(m, file, b.cache), before}
}

// inMemory is a copy of the flat file in the memory of a server that does nothing else.
func inMemory(flat string) peer {
	return peer{name: memoryName, file: filepath.Base(flat), stored: []string{flat}, mount: func(ctx context.Context) (*mounted, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return serve(ctx, true, func(dir string) []string { return []string{self, serveMemory, flat, dir} })
	}}
}

// plain is the flat file itself.
func plain(flat string) peer { return peer{name: "plain file", file: flat, stored: []string{flat}} }

// others is the other file systems that decompress the same file.
func others(ctx context.Context, flat string) ([]peer, error) {
	squashfs, err := archive(ctx, flat, squashfsKind, "mksquashfs", squashfsImage)
	if err != nil {
		return nil, err
	}
	erofs, err := archive(ctx, flat, erofsKind, "mkfs.erofs", erofsImage)
	if err != nil {
		return nil, err
	}
	all := []peer{erofs.byKernel("erofs"), squashfs.byKernel("squashfs"), squashfs.bySquashfuse()}
	for i := range all {
		all[i].probe(ctx)
	}
	return all, ctx.Err()
}

// archive is a file system with the flat file in it, not mounted yet.
func archive(ctx context.Context, flat, name, program string, create func(context.Context, string) (string, error)) (peer, error) {
	p := peer{name: name, file: filepath.Base(flat), absent: lacking(program)}
	if p.absent != "" {
		return p, nil
	}
	image, err := create(ctx, flat)
	p.stored = []string{image}
	return p, err
}

// byKernel is the archive p, mounted by the kernel.
func (p peer) byKernel(kind string) peer {
	p.name += byTheKernel
	if p.absent == "" && os.Geteuid() != 0 {
		p.absent = "needs root"
	}
	p.mount = func(context.Context) (*mounted, error) { return kernelMount(kind, p.stored[0]) }
	return p
}

// bySquashfuse is the archive p, mounted by squashfuse_ll.
func (p peer) bySquashfuse() peer {
	p.name = squashfuseName
	if p.absent == "" {
		p.absent = lacking("squashfuse_ll")
	}
	p.mount = func(ctx context.Context) (*mounted, error) {
		return serve(ctx, false, func(dir string) []string { return []string{"squashfuse_ll", "-f", p.stored[0], dir} })
	}
	return p
}

// probe finds out whether the peer can be mounted here.
func (p *peer) probe(ctx context.Context) {
	if p.absent != "" {
		return
	}
	m, err := p.mount(ctx)
	if err == nil {
		err = m.close()
	}
	if err != nil {
		p.absent = strings.Join(strings.Fields(err.Error()), " ")
	}
}

// lacking says that a program is not there, if so.
func lacking(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return "no " + program
	}
	return ""
}

// open mounts the peer and returns the path of the flat file.
func (p peer) open(ctx context.Context) (*mounted, string, error) {
	if p.mount == nil {
		return nil, p.file, nil
	}
	m, err := p.mount(ctx)
	if err != nil {
		return nil, "", err
	}
	return m, filepath.Join(m.dir, p.file), nil
}
