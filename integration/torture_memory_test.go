package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// memoryTrial reads volumes of all formats and codecs with large chunks, honest and hostile ones, by several readers
// and in all ways in. The program stays within its budget and 128 MiB, and what it shows of honest volumes is right.
var memoryTrial = torture.New("memory", newMemoryCase, runMemory)

const (
	memoryReads = 24              // of a reader at random
	memoryTime  = 3 * time.Second // after which readers end
)

func runMemory(t testing.TB, c memoryCase) {
	t.Helper()
	if !c.valid() || os.Getenv(raceVariable) == "1" { // the race detector has memory of its own
		t.Skip("not a case")
	}
	source := tempDir(t)
	c.write(t, source)
	planes := min(c.Depth, c.Planes)
	if c.family() == "wkw" { // it has whole blocks
		planes = c.Depth
	}
	wants := memoryBox{c, c.voxels(planes)}
	budget := strconv.Itoa(c.Cache << 20)
	switch c.Way {
	case "mount":
		s := mountServer(t, source, "--cache-size", budget, "--log-file", os.DevNull)
		c.readAll(t, func(name string) (memoryFile, int64, error) {
			name = filepath.Join(s.dir, name)
			info, err := os.Stat(name)
			if err != nil {
				return nil, 0, err
			}
			f, err := os.Open(name)
			if err != nil {
				return nil, 0, err
			}
			return f, info.Size(), nil
		}, wants)
		checkPeak(t, s, c.Cache<<20)
		s.stop(t)
	case "serve":
		url, pid, end := serveForMemory(t, "serve", "--cache-size", budget, source)
		defer end()
		c.readAll(t, func(name string) (memoryFile, int64, error) {
			r, err := http.Head(url + name)
			if err != nil {
				return nil, 0, err
			}
			r.Body.Close()
			if r.StatusCode != http.StatusOK {
				return nil, 0, fs.ErrNotExist
			}
			return ranges(url + name), r.ContentLength, nil
		}, wants)
		checkPeak(t, &server{pid: pid}, c.Cache<<20)
	case "nfs":
		address, pid, end := serveForMemory(t, "nfs", "--cache-size", budget, source)
		defer end()
		c.readAll(t, func(name string) (memoryFile, int64, error) { return openNFS(address, "/"+name) }, wants)
		checkPeak(t, &server{pid: pid}, c.Cache<<20)
	case "cp":
		peak, _ := runForMemory(t, "cp", "--quiet", "--cache-size", budget, source, ".",
			filepath.Join(tempDir(t), "copy"))
		if peak > c.Cache<<20+memoryAllowed {
			t.Errorf("cp used %d MiB, want at most %d + %d", peak>>20, c.Cache, memoryAllowed>>20)
		}
	case "check":
		c.checkAlone(t, memoryOfCheck, "check", source)
	case "info":
		c.checkAlone(t, memoryOfInfo, "info", "--preview", source)
	}
}

// Bytes of blocks that commands without a cache decode at a time. A larger block is decoded alone.
const memoryOfCheck, memoryOfInfo = 256 << 20, 128 << 20

// checkAlone runs a command that decodes blocks without a cache. One block with what decoding it takes may be larger
// than its limit.
func (c memoryCase) checkAlone(t testing.TB, limit int, args ...string) {
	t.Helper()
	block := 0
	if len(c.Codecs) == 1 { // each codec of a chain has a step of its own
		block = 2*c.chunkBytes() + c.chunkBytes()/4
	}
	peak, err := runForMemory(t, args...)
	if err != nil && c.isRight() {
		t.Errorf("%s: %v", args[0], err)
	}
	if limit = max(limit, block); peak > limit+memoryAllowed && len(c.Codecs) == 1 {
		t.Errorf("%s used %d MiB, want at most %d + %d", args[0], peak>>20, limit>>20, memoryAllowed>>20)
	} else {
		t.Logf("%s used %d MiB", args[0], peak>>20)
	}
}

// memoryFile is an open file, in any way.
type memoryFile interface {
	io.ReaderAt
	io.Closer
}

// memoryBox is what the chunks of a case hold.
type memoryBox struct {
	memoryCase
	chunk []byte
}

// check compares bytes of the volume from an offset on. All chunks are equal.
func (m memoryBox) check(t testing.TB, p []byte, offset int64) bool {
	if !m.isRight() || m.Turned {
		return true
	}
	for len(p) > 0 {
		want := m.chunk[offset%int64(m.chunkBytes()):]
		n := min(len(p), len(want))
		if n == 0 {
			t.Errorf("byte %d is after the end of the volume", offset)
			return false
		}
		if !bytes.Equal(p[:n], want[:n]) {
			at := 0
			for p[at] == want[at] {
				at++
			}
			t.Errorf("byte %d of the volume is %d, want %d", offset+int64(at), p[at], want[at])
			return false
		}
		p, offset = p[n:], offset+int64(n)
	}
	return true
}

// readAll lets the readers of the case read the volume and a slice: the first one from start to end, the others at
// random. Errors are right for what is hostile, and for chunks that are too large for the cache: then there is no
// volume.
func (c memoryCase) readAll(t testing.TB, open func(name string) (memoryFile, int64, error), wants memoryBox) {
	t.Helper()
	dir := ""
	if c.family() == "precomputed" {
		dir = "1/"
	}
	f, size, err := open(dir + "volume.raw")
	if err != nil {
		// The decoder of compresso may take 17 bytes for each voxel.
		if c.isRight() && c.chunkBytes() <= c.Cache<<20/8 && len(c.Codecs) < 3 && c.Codecs[0] != "compresso" {
			t.Errorf("a chunk of %d MiB is not shown: %v", c.chunkBytes()>>20, err)
		}
		return
	}
	if want := int64(c.valueBytes() * c.Plane[0] * c.Plane[1] * c.Planes); size != want && c.family() != "wkw" {
		t.Errorf("the volume has %d bytes, want %d", size, want)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), memoryTime)
	defer cancel()
	var group sync.WaitGroup
	for i := range c.Readers {
		group.Go(func() {
			r, p, reads := rand.New(rand.NewPCG(5, uint64(i))), make([]byte, 64<<10), int64(memoryReads)
			if i == 0 {
				p, reads = make([]byte, 1<<20), (size+1<<20-1)>>20
			}
			for n := int64(0); n < reads && ctx.Err() == nil; n++ {
				off := n << 20
				if i > 0 {
					off = r.Int64N(size)
				}
				n, err := f.ReadAt(p, off)
				if err != nil && !errors.Is(err, io.EOF) {
					if c.isRight() {
						t.Errorf("offset %d: %v", off, err)
					}
					return
				}
				if !wants.check(t, p[:n], off) {
					return
				}
			}
		})
	}
	group.Wait()
	if slice, _, err := open(dir + "slices/z0000000.tif"); err == nil {
		_, _ = slice.ReadAt(make([]byte, 1000), 0) // hostile volumes have an error
		slice.Close()
	}
}

// ranges reads a URL by ranges.
type ranges string

func (url ranges) ReadAt(p []byte, off int64) (int, error) {
	r, err := http.NewRequest(http.MethodGet, string(url), nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Range", "bytes="+strconv.FormatInt(off, 10)+"-"+strconv.FormatInt(off+int64(len(p))-1, 10))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusPartialContent {
		return 0, errors.New(answer.Status)
	}
	n, err := io.ReadFull(answer.Body, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Close does nothing.
func (ranges) Close() error { return nil }

// nfsFile reads a file over NFS. Each read has a connection of its own.
type nfsFile struct {
	server string // host and port
	handle []byte
}

// openNFS opens a file of a server whose address wkwfs nfs prints.
func openNFS(address, name string) (f nfsFile, size int64, err error) {
	at, err := url.Parse(address)
	if err != nil {
		return f, 0, err
	}
	f.server = net.JoinHostPort("127.0.0.1", at.Query().Get("nfsport"))
	client, err := dialNFS(f.server)
	if err != nil {
		return f, 0, err
	}
	defer client.conn.Close()
	if f.handle, err = client.find(name); err == nil {
		size, err = client.size(f.handle)
	}
	return f, size, err
}

func (f nfsFile) ReadAt(p []byte, off int64) (int, error) {
	client, err := dialNFS(f.server)
	if err != nil {
		return 0, err
	}
	defer client.conn.Close()
	got, err := client.readFrom(f.handle, uint64(off), len(p))
	if n := copy(p, got); err != nil || n == len(p) {
		return n, err
	}
	return len(got), io.EOF
}

// Close does nothing.
func (nfsFile) Close() error { return nil }

// serveForMemory runs wkwfs serve or nfs, and returns its URL, its process and a function that ends it.
func serveForMemory(t testing.TB, command string, args ...string) (url string, pid int, end func()) {
	t.Helper()
	cmd := exec.Command(program, append([]string{command, "--listen", "127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		end()
		t.Fatalf("the server printed no address: %v", err)
	}
	if url = strings.TrimSpace(string(line[:n])); command == "serve" {
		url, _, _ = strings.Cut(url, "?")
	}
	return url, cmd.Process.Pid, end
}

// runForMemory runs a command, and returns the most memory that it was seen to have and its error. What it reads may be
// hostile.
func runForMemory(t testing.TB, args ...string) (peak int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*memoryTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			return peak, err
		case <-time.After(5 * time.Millisecond):
			if n, ok := memoryOf(cmd.Process.Pid); ok {
				peak = max(peak, n)
			}
		}
	}
}
