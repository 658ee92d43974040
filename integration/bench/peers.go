package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// peer is a way to read the voxels of a mag as one flat file.
type peer struct {
	name   string
	absent string   // why it is not available; empty: it is available
	older  bool     // it may lack the file, or the whole source
	stored []string // the files with the stored voxels
	budget int      // of the cache in MiB; only of the measured wkwfs
	file   string   // the flat file; below the mount, if there is a mount
	mount  func(context.Context) (*mounted, error)
}

// The names of peers in the table.
const (
	beforeName     = "wkwfs before"
	memoryName     = "FUSE from memory"
	plainName      = "plain file"
	squashfuseName = "squashfuse_ll"
	squashfsKind   = "squashfs-lz4 128 KiB"
	erofsKind      = "EROFS-lz4 64 KiB"
	byTheKernel    = ", kernel"
	squashfsName   = squashfsKind + byTheKernel
	erofsName      = erofsKind + byTheKernel
)

// wkwfs returns the measured wkwfs with a mag, the file to read in its mount, and its memory for blocks in MiB.
func (b *bench) wkwfs(m mag, file string, cache int) peer {
	p := b.mountedBy(b.program, m, file, cache)
	p.budget = cache
	return p
}

// mountedBy returns the same peer with another program.
func (b *bench) mountedBy(program string, m mag, file string, cache int) peer {
	return peer{name: "wkwfs", stored: m.files(), file: file, mount: func(ctx context.Context) (*mounted, error) {
		return serve(ctx, true, func(dir string) []string { return b.mountCommand(program, m, dir, cache, "--foreground") })
	}}
}

// pair returns the measured wkwfs and the wkwfs of -before.
func (b *bench) pair(m mag, file string) []peer {
	before := b.mountedBy(b.before, m, file, b.cache)
	before.name, before.older = beforeName, true
	if b.before == "" {
		before.absent = "no -before"
	}
	return []peer{b.wkwfs(m, file, b.cache), before}
}

// inMemory returns a FUSE server that has the flat file in memory.
func inMemory(flat string) peer {
	return peer{name: memoryName, file: filepath.Base(flat), stored: []string{flat}, mount: func(ctx context.Context) (*mounted, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return serve(ctx, true, func(dir string) []string { return []string{self, serveMemory, flat, dir} })
	}}
}

// plain returns the flat file itself.
func plain(flat string) peer { return peer{name: plainName, file: flat, stored: []string{flat}} }

// otherFileSystems returns other file systems that decompress the same file.
func otherFileSystems(ctx context.Context, flat string) ([]peer, error) {
	squashfs, err := archive(ctx, flat, squashfsKind, "mksquashfs", squashfsImage)
	if err != nil {
		return nil, err
	}
	erofs, err := archive(ctx, flat, erofsKind, "mkfs.erofs", erofsImage)
	if err != nil {
		return nil, err
	}
	peers := []peer{erofs.byKernel("erofs"), squashfs.byKernel("squashfs"), squashfs.bySquashfuse()}
	for i := range peers {
		peers[i].probe(ctx)
	}
	return peers, ctx.Err()
}

// archive returns a file system image that contains the flat file. It is not mounted yet.
func archive(ctx context.Context, flat, name, program string, create func(context.Context, string) (string, error)) (peer, error) {
	p := peer{name: name, file: filepath.Base(flat), absent: missing(program)}
	if p.absent != "" {
		return p, nil
	}
	image, err := create(ctx, flat)
	p.stored = []string{image}
	return p, err
}

// byKernel returns the archive as the kernel mounts it.
func (p peer) byKernel(kind string) peer {
	p.name += byTheKernel
	if p.absent == "" && os.Geteuid() != 0 {
		p.absent = "needs root"
	}
	p.mount = func(context.Context) (*mounted, error) { return kernelMount(kind, p.stored[0]) }
	return p
}

// bySquashfuse returns the archive as squashfuse_ll mounts it.
func (p peer) bySquashfuse() peer {
	p.name = squashfuseName
	if p.absent == "" {
		p.absent = missing("squashfuse_ll")
	}
	p.mount = func(ctx context.Context) (*mounted, error) {
		return serve(ctx, false, func(dir string) []string { return []string{"squashfuse_ll", "-f", p.stored[0], dir} })
	}
	return p
}

// probe mounts the peer once, and sets absent if that fails.
func (p *peer) probe(ctx context.Context) {
	if p.absent != "" {
		return
	}
	m, err := p.mount(ctx)
	if err == nil {
		err = m.close()
	}
	if err != nil {
		p.absent = oneLine(err)
	}
}

// missing returns why a program cannot run, or "".
func missing(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return "no " + program
	}
	return ""
}

// open mounts the peer, if it has a mount, and returns the path of the flat file.
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
