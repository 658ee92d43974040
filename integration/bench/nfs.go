package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

const (
	mountName = "wkwfs mount, dd"
	catName   = "wkwfs nfs, nfs-cat"
)

// nfsInFlight is the number of READs that a client has in flight, such as a kernel that reads ahead.
const nfsInFlight = 8

// ddNFS reads a cube over NFS from start to end, compared with dd of a mount.
func (b *bench) ddNFS(data string, least float64) job {
	return job{
		name:    "NFS of " + data + ", decoded-cold",
		figures: []figure{{"GB/s", []bound{atLeast(least, mountName)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			mounted := b.wkwfs(c.mag, cubeFile, b.cache).reads(decodedCold, dd)
			mounted.name = mountName
			cat := contender{name: catName, absent: missing("nfs-cat"), turn: b.nfsTurn(c.mag, func(ctx context.Context, port string) (int64, error) {
				return c.bytes(), call(ctx, "sh", "-c", `nfs-cat "$1" >/dev/null`, "sh", fmt.Sprintf("nfs://127.0.0.1/%s?nfsport=%s&mountport=%[2]s", cubeFile, port))
			})}
			inFlight := contender{name: fmt.Sprintf("wkwfs nfs, %d READs in flight", nfsInFlight), turn: b.nfsTurn(c.mag, func(ctx context.Context, port string) (int64, error) {
				memory := make([]byte, nfsReadSize)
				return readNFS(ctx, port, cubeFile, func(_, n int64) []byte { return memory[:n] })
			})}
			return []contender{inFlight, mounted, cat}, b.verifyNFS(ctx, c.mag)
		},
	}
}

// verifyNFS compares what is read over NFS with the voxels of the mag.
func (b *bench) verifyNFS(ctx context.Context, m mag) error {
	_, err := b.nfsTurn(m, func(ctx context.Context, port string) (int64, error) {
		all := b.buffer(m.bytes())
		n, err := readNFS(ctx, port, cubeFile, func(off, n int64) []byte { return all[off : off+n] })
		if err == nil {
			err = m.compare(ctx, bytes.NewReader(all[:n]))
		}
		return n, err
	})(ctx)
	return err
}

// nfsTurn returns a turn that serves a mag over NFS, and measures GB/s of what do reads. do returns the number of bytes.
func (b *bench) nfsTurn(m mag, do func(ctx context.Context, port string) (int64, error)) func(context.Context) (turn, error) {
	return func(ctx context.Context) (t turn, err error) {
		if err := cacheFiles(ctx, m.files()); err != nil {
			return t, err
		}
		s, port, err := b.serveNFS(ctx, m)
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, s.server.Process.Signal(syscall.SIGTERM), s.close()) }()
		t, err = reading{pid: s.pid()}.measure(ctx, func(ctx context.Context, _ reading) (turn, error) {
			before, err := ownTime()
			if err != nil {
				return turn{}, err
			}
			start := time.Now()
			n, err := do(ctx, port)
			seconds := time.Since(start).Seconds()
			after, timeErr := ownTime()
			return turn{values: []float64{float64(n) / 1e9 / seconds}, bytes: n, cpu: after - before}, errors.Join(err, timeErr)
		})
		t.budget = int64(b.cache) << 20
		return t, err
	}
}

// serveNFS starts wkwfs nfs at a free port.
func (b *bench) serveNFS(ctx context.Context, m mag) (*mounted, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, "", err
	}
	s, err := serve(ctx, true, func(string) []string {
		return []string{b.program, "nfs", "--cache-size", fmt.Sprintf("%dMiB", b.cache), "--listen", address, m.dir}
	})
	_, port, _ := net.SplitHostPort(address)
	return s, port, err
}
