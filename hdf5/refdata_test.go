package hdf5

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// refBox is a box of voxels: x, y, z.
type refBox struct{ At, Size [3]int }

// refDataset is a dataset of the manifest.
type refDataset struct {
	Path, Expect string
	Optional     bool
	Stored       string `json:"dtype_stored"`
	Shape, Chunk []uint64
	Filters      []any
	Sum          string          `json:"sha256_stored"`
	Rest         string          `json:"sha256_rest"`
	Bad          json.RawMessage `json:"bad_boxes"`
	May          []refBox        `json:"may_boxes"`
	MayAll       bool            `json:"may_all"`
	Refusable    bool
}

type refFile struct {
	File, Expect string
	Datasets     []refDataset
}

// refFiles returns the files of the manifest. Those that have damage are in the folder damaged.
func refFiles(t testing.TB) (dir string, files []refFile) {
	dir = refdata.Outside(t, "hdf5")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Files []refFile }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return dir, m.Files
}

func openFile(t testing.TB, path string) (*File, error) {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	info, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return Open(r, info.Size())
}

// plain returns values as h5py gives them, little-endian: integers without the bits that mean nothing.
func plain(d *Dataset, b []byte) []byte {
	t := &d.datatype
	for t.Class == ClassArray {
		t = t.Base
	}
	a := &Attribute{}
	for v := b; len(v) >= t.Size; v = v[t.Size:] {
		switch t.Class {
		case ClassInteger, ClassEnum, ClassBitField:
			if i, err := a.integer(t, v[:t.Size]); err == nil {
				put(v[:t.Size], uint64(i), false)
			}
		case ClassFloat:
			if t.BigEndian {
				slices.Reverse(v[:t.Size])
			}
		}
	}
	return b
}

// TestReference reads every sound file of the reference data.
func TestReference(t *testing.T) {
	dir, files := refFiles(t)
	read := 0
	for _, file := range files {
		if file.Expect == "refused" && !strings.HasPrefix(file.File, "agglomerate") || strings.HasPrefix(file.File,
			"damaged") {
			continue
		}
		t.Run(file.File, func(t *testing.T) {
			f, err := openFile(t, filepath.Join(dir, file.File))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range file.Datasets {
				if want.Sum == "" {
					continue
				}
				read++
				if err := checkDataset(f, want, t); err != nil && !want.Optional {
					t.Error(err)
				} else if err != nil {
					t.Log("refused:", err)
				}
			}
		})
	}
	if read < 350 {
		t.Errorf("%d datasets were read", read)
	}
}

func checkDataset(f *File, want refDataset, t *testing.T) error {
	o, err := f.Lookup(want.Path)
	if err != nil {
		return err
	}
	d, ok := o.(*Dataset)
	if !ok {
		t.Errorf("%s is %s", want.Path, kindOf(o))
		return nil
	}
	if !slices.Equal(d.Shape(), want.Shape) {
		t.Errorf("%s: shape %v, expected %v", want.Path, d.Shape(), want.Shape)
	}
	if want.Chunk != nil && !slices.Equal(d.ChunkShape(), want.Chunk) {
		t.Errorf("%s: chunks of %v, expected %v", want.Path, d.ChunkShape(), want.Chunk)
	}
	b, err := d.ReadAll(1 << 28)
	if err != nil {
		return err
	}
	if sum := hashOf(plain(d, b)); sum != want.Sum {
		t.Errorf("%v: other voxels than expected", d)
	}
	return nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
