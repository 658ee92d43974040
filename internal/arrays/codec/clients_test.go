//go:build clients

package codec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestClientsEncode decodes what numcodecs (c-blosc, liblz4, libzstd) and the libraries of Python (zlib, libbz2,
// liblzma) encoded, whole and truncated.
func TestClientsEncode(t *testing.T) {
	codecs := map[string]Codec{
		"blosc": Blosc{}, "lz4": LZ4{}, "zstd": Zstd{}, "gzip": Gzip{}, "zlib": Zlib{}, "crc32": CRC32{},
		"adler32": Adler32{},
		"bzip2":   Bzip2{}, "xz": XZ{}, "lzma": LZMA{},
	}
	// numcodecs is a package of Debian: no other python3 has it.
	cmd := exec.Command("/usr/bin/python3", "testdata/encode.py")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for r := bufio.NewReader(out); ; {
		name, err := field(r)
		if err == io.EOF {
			break
		}
		decoded, err1 := field(r)
		stored, err2 := field(r)
		if err := errors.Join(err, err1, err2); err != nil {
			t.Fatal(err)
		}
		id, _, _ := strings.Cut(string(name), " ")
		counts[id]++
		s := sample{name: string(name), codec: codecs[id], decoded: decoded, stored: stored}
		s.expect(t, make([]byte, len(decoded)), len(decoded))
		if len(stored) > s.codec.Bound(len(decoded)) {
			t.Errorf("%s: %d stored bytes for %d, more than the bound", name, len(stored), len(decoded))
		}
		if b, err := decode(t, s.codec, make([]byte, len(decoded)), stored[:len(stored)-1], len(decoded)); err == nil {
			t.Errorf("%s: without its last byte, it decodes to %d bytes", name, len(b))
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("encode.py: %v\n%s", err, stderr.String())
	}
	for id := range codecs {
		if counts[id] < 12 || id == "blosc" && counts[id] < 10_000 {
			t.Errorf("%s: %d samples", id, counts[id])
		}
	}
	t.Log(counts)
}

// field reads bytes after their length.
func field(r io.Reader) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint32(n[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}
