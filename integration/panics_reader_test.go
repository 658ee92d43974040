package integration

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// witness is the content of files, as a server without panics shows it.
type witness struct {
	t         *testing.T
	dir, want string
	volume    []byte   // of side³ voxels
	known     sync.Map // path → content of slices
}

// side is the length of the volume on each axis.
const side = 256

func newWitness(t *testing.T, dir, want string) *witness {
	t.Helper()
	volume, err := os.ReadFile(filepath.Join(want, "color/1/volume.raw"))
	if err != nil || len(volume) != side*side*side {
		t.Fatal(len(volume), err)
	}
	return &witness{t: t, dir: dir, want: want, volume: volume}
}

// box returns the voxels of a box: its corner and its lengths.
func (e *witness) box(at, n [3]int) []byte {
	b := make([]byte, 0, n[0]*n[1]*n[2])
	for z := range n[2] {
		for y := range n[1] {
			start := at[0] + side*(at[1]+y+side*(at[2]+z))
			b = append(b, e.volume[start:start+n[0]]...)
		}
	}
	return b
}

// failed returns EIO. Any other error fails the test.
func (e *witness) failed(err error) error {
	if err != nil && !errors.Is(err, syscall.EIO) {
		e.t.Error(err)
	}
	return err
}

// slice returns what a slice must contain.
func (e *witness) slice(name string) []byte {
	if b, ok := e.known.Load(name); ok {
		return b.([]byte)
	}
	b, err := os.ReadFile(filepath.Join(e.want, name))
	if err != nil {
		e.t.Error(err)
	}
	e.known.Store(name, b)
	return b
}

// read reads a file with reads of n bytes, and compares what it gets.
func (e *witness) read(name string, want []byte, n int) error {
	return e.readFrom(name, 0, want, n)
}

// readFrom is read from an offset on. The kernel asks the server for all bytes, because it has lost them from its page
// cache.
func (e *witness) readFrom(name string, start int, want []byte, n int) error {
	f, err := os.Open(filepath.Join(e.dir, name))
	if err != nil {
		return e.failed(err)
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		e.t.Error(err)
	}
	piece := make([]byte, n)
	for off := 0; off < len(want); off += n {
		got, err := f.ReadAt(piece[:min(n, len(want)-off)], int64(start+off))
		if err != nil && err != io.EOF {
			return e.failed(err)
		}
		if !bytes.Equal(piece[:got], want[off:min(off+n, len(want))]) {
			e.t.Errorf("%s: wrong bytes from %d on", name, start+off)
		}
	}
	return nil
}

// list lists a directory with the attributes of its entries, and compares the names and sizes.
func (e *witness) list(name string) error {
	show := func(dir string) (all []string, err error) {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		for _, entry := range entries {
			info, infoErr := entry.Info()
			if infoErr != nil {
				return nil, infoErr
			}
			all = append(all, fmt.Sprint(entry.Name(), entry.IsDir(), info.Size()))
		}
		return all, err
	}
	got, err := show(e.dir)
	if err != nil {
		return e.failed(err)
	}
	want, err := show(e.want)
	if err != nil || !slices.Equal(got, want) {
		e.t.Errorf("%s has %v, expected %v, %v", name, got, want, err)
	}
	return nil
}

// panicModel is the cubes of the volume that is read: 256 × 256 × 256 voxels.
var panicModel = model{blockLog: 5, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}

// writePanicVolume writes the volume as layer color of a dataset.
func writePanicVolume(t *testing.T) string {
	t.Helper()
	dir := tempDir(t)
	for i := range 64 {
		m := panicModel
		m.seed = uint32(i)
		m.write(t, filepath.Join(dir, "color/1"), i&3, i>>2&3, i>>4)
	}
	return dir
}

// randomBox returns the path of a box somewhere in the volume, and its voxels.
func (e *witness) randomBox(r *rand.Rand, n ...int) (string, []byte) {
	var at [3]int
	for axis := range at {
		at[axis] = r.IntN(side - n[axis] + 1)
	}
	return fmt.Sprintf("color/1/box/%d-%d_%d-%d_%d-%d.raw", at[0], at[0]+n[0], at[1], at[1]+n[1], at[2], at[2]+n[2]),
		e.box(at, [3]int(n))
}

// uses returns what readers do in a mount.
func (e *witness) uses() []func(r *rand.Rand) error {
	box := func(r *rand.Rand, piece int, n ...int) error {
		name, want := e.randomBox(r, n...)
		return e.read(name, want, piece)
	}
	return []func(r *rand.Rand) error{
		func(r *rand.Rand) error { return box(r, 1<<20, 10+r.IntN(30), 10+r.IntN(30), 1+r.IntN(30)) },
		func(r *rand.Rand) error {
			start := r.IntN(len(e.volume) - 5000)
			return e.readFrom("color/1/volume.raw", start, e.volume[start:start+5000], 1000)
		},
		func(r *rand.Rand) error { return box(r, 1<<20, 250, 250, 32) },
		func(r *rand.Rand) error {
			const n = 5 << 20
			start := r.IntN(len(e.volume)/n) * n
			return e.readFrom("color/1/volume.raw", start, e.volume[start:start+n], 1<<20)
		},
		func(r *rand.Rand) error {
			for z, first := 0, 30*r.IntN(5); z < 5; z++ {
				name := fmt.Sprintf("color/1/slices/z%07d.tif", first+z)
				if err := e.read(name, e.slice(name), 1<<20); err != nil {
					return err
				}
			}
			return nil
		},
		func(r *rand.Rand) error {
			return e.list([]string{".", "color/1", "color/1/z1", "color/1/z1/y0/x1.blocks/z1"}[r.IntN(4)])
		},
		func(r *rand.Rand) error {
			for y := range 4 {
				if err := e.list(fmt.Sprintf("color/1/z%d/y%d", r.IntN(4), y)); err != nil {
					return err
				}
			}
			return nil
		},
		func(*rand.Rand) error {
			_, err := os.ReadFile(filepath.Join(e.dir, status.Dir, "metrics"))
			return e.failed(err)
		},
	}
}

// webUses returns what readers do over HTTP.
func (e *witness) webUses(base string) []func(r *rand.Rand) error {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path, ranges string) (int, []byte, error) {
		q, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			return 0, nil, err
		}
		if ranges != "" {
			q.Header.Set("Range", ranges)
		}
		reply, err := client.Do(q)
		if err != nil {
			return 0, nil, err
		}
		defer reply.Body.Close()
		b, err := io.ReadAll(reply.Body)
		return reply.StatusCode, b, err
	}
	// compare returns an error if the request fails as one does whose server has panicked.
	compare := func(path, ranges string, want []byte) error {
		switch code, got, err := get(path, ranges); {
		case err != nil:
			return err // the reply was cut
		case code == http.StatusInternalServerError:
			return syscall.EIO
		case code >= 400 || want != nil && !bytes.Equal(got, want):
			e.t.Errorf("%s: status %d, %d bytes, expected %d", path, code, len(got), len(want))
		}
		return nil
	}
	return []func(r *rand.Rand) error{
		func(r *rand.Rand) error {
			name, want := e.randomBox(r, 10+r.IntN(60), 10+r.IntN(60), 1+r.IntN(30))
			return compare(name, "", want)
		},
		func(r *rand.Rand) error {
			start := r.IntN(len(e.volume) - 1000)
			return compare("color/1/volume.raw", fmt.Sprintf("bytes=%d-%d", start, start+999),
				e.volume[start:start+1000])
		},
		func(r *rand.Rand) error {
			start := r.IntN(len(e.volume) - 1000)
			return compare("color/1/volume.raw", fmt.Sprintf("bytes=%d-%d,0-5", start, start+999), nil)
		},
		func(*rand.Rand) error { return compare(".wkwfs/viewer/", "", nil) },
		func(*rand.Rand) error { return compare("color/1/", "", nil) },
	}
}

// nfsUses returns what readers do over NFS.
func (e *witness) nfsUses(address string) []func(r *rand.Rand) error {
	at, err := url.Parse(address)
	if err != nil {
		e.t.Fatal(err)
	}
	use := func(f func(c *nfsClient) error) error {
		c, err := dialNFS(net.JoinHostPort("127.0.0.1", at.Query().Get("nfsport")))
		if err != nil {
			return err
		}
		defer c.conn.Close()
		return f(c)
	}
	return []func(r *rand.Rand) error{
		func(r *rand.Rand) error {
			name, want := e.randomBox(r, 10+r.IntN(60), 10+r.IntN(60), 1+r.IntN(30))
			return use(func(c *nfsClient) error {
				got, err := c.read("/"+name, len(want))
				if err == nil && !bytes.Equal(got, want) {
					e.t.Errorf("%s: wrong bytes", name)
				}
				return err
			})
		},
		func(*rand.Rand) error {
			return use(func(c *nfsClient) error {
				names, err := c.list("/color/1/z1")
				if want := []string{".", "..", "y0", "y1", "y2", "y3"}; err == nil && !slices.Equal(names, want) {
					e.t.Errorf("the entries are %q, expected %q", names, want)
				}
				return err
			})
		},
	}
}

// nfsClient is a client of NFS version 3 and MOUNT (RFC 1813), with one call in flight.
type nfsClient struct {
	conn net.Conn
	in   *bufio.Reader
	xid  uint32
}

func dialNFS(address string) (*nfsClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &nfsClient{conn: conn, in: bufio.NewReader(conn)}, conn.SetDeadline(time.Now().Add(deadline))
}

// call returns the results of a call. The error is EIO if the status is NFS3ERR_IO.
func (c *nfsClient) call(program, procedure uint32, args func(*xdr.Encoder)) (*xdr.Decoder, error) {
	c.xid++
	e := xdr.NewEncoder(make([]byte, 4))
	e.Uint32(c.xid, 0, 2, program, 3, procedure, 0, 0, 0, 0) // a call of version 3, without credentials
	args(e)
	message := e.Bytes()
	binary.BigEndian.PutUint32(message, 1<<31|uint32(len(message)-4))
	if _, err := c.conn.Write(message); err != nil {
		return nil, err
	}
	var mark [4]byte
	if _, err := io.ReadFull(c.in, mark[:]); err != nil {
		return nil, err
	}
	reply := make([]byte, binary.BigEndian.Uint32(mark[:])&^(1<<31))
	if _, err := io.ReadFull(c.in, reply); err != nil {
		return nil, err
	}
	d := xdr.NewDecoder(reply)
	for range 6 { // the transaction, that this is a reply, that it is accepted, the verifier, that it succeeded
		d.Uint32()
	}
	switch status := d.Uint32(); {
	case d.Err() != nil:
		return nil, d.Err()
	case status == 5:
		return nil, syscall.EIO
	case status != 0:
		return nil, fmt.Errorf("status %d of procedure %d", status, procedure)
	}
	return d, nil
}

// find returns the handle of a path.
func (c *nfsClient) find(name string) ([]byte, error) {
	d, err := c.call(100005, 1, func(e *xdr.Encoder) { e.String(path.Dir(name)) })
	if err != nil {
		return nil, err
	}
	dir := d.Opaque(64)
	d, err = c.call(100003, 3, func(e *xdr.Encoder) { e.Opaque(dir); e.String(path.Base(name)) })
	if err != nil {
		return nil, err
	}
	return d.Opaque(64), d.Err()
}

// attributes is the size of the attributes of a file.
const attributes = 84

// read reads the first n bytes of a file, up to 1 MiB.
func (c *nfsClient) read(name string, n int) ([]byte, error) {
	handle, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return c.readFrom(handle, 0, n)
}

// readFrom reads n bytes of a file from an offset on, up to 1 MiB, or fewer at its end.
func (c *nfsClient) readFrom(handle []byte, off uint64, n int) ([]byte, error) {
	d, err := c.call(100003, 6, func(e *xdr.Encoder) { e.Opaque(handle); e.Uint64(off); e.Uint32(uint32(n)) })
	if err != nil {
		return nil, err
	}
	for range 1 + attributes/4 + 2 { // the attributes, the count, whether this is the end
		d.Uint32()
	}
	return d.Opaque(1 << 20), d.Err()
}

// size returns the size of a file, by GETATTR.
func (c *nfsClient) size(handle []byte) (int64, error) {
	d, err := c.call(100003, 1, func(e *xdr.Encoder) { e.Opaque(handle) })
	if err != nil {
		return 0, err
	}
	for range 5 { // type, mode, links, owner, group
		d.Uint32()
	}
	return int64(d.Uint64()), d.Err()
}

// list returns the names in a small directory, by READDIRPLUS.
func (c *nfsClient) list(name string) (names []string, err error) {
	handle, err := c.find(name)
	if err != nil {
		return nil, err
	}
	d, err := c.call(100003, 17,
		func(e *xdr.Encoder) { e.Opaque(handle); e.Uint64(0); e.Uint64(0); e.Uint32(8192, 8192) })
	if err != nil {
		return nil, err
	}
	for range 1 + attributes/4 + 2 { // the attributes, the verifier
		d.Uint32()
	}
	for d.Uint32() != 0 {
		d.Uint64() // the number of the file
		names = append(names, string(d.Opaque(255)))
		d.Uint64() // the cookie
		if d.Uint32() != 0 {
			for range attributes / 4 {
				d.Uint32()
			}
		}
		if d.Uint32() != 0 {
			d.Opaque(64)
		}
	}
	return names, d.Err()
}
