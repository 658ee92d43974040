package zipfs

import (
	"archive/zip"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

// shapes returns an archive with files of all shapes.
func shapes(t *testing.T) []byte {
	var all []entry
	for name, content := range vfstest.Shapes() {
		all = append(all, entry{name, string(content), zip.Store})
	}
	return zipped(t, all...)
}

func TestFileSystem(t *testing.T) {
	a, err := open(t, shapes(t))
	if err != nil {
		t.Fatal(err)
	}
	vfstest.Test(t, a, vfstest.Expect{
		Files: vfstest.Shapes(),
		Has: "tree.Speed tree.Stat tree.ReadDir" +
			" file.Speed file.ReadAtContext file.ReadRanges file.WillNeed file.Seek info.Version info.Stored",
	})
}

func TestArchiveForwards(t *testing.T) {
	i := vfstest.NewInside(shapes(t))
	a, err := Open(i, vfstest.Name)
	if err != nil {
		t.Fatal(err)
	}
	const index, ranges, inside = "the archive is one file: its index is in memory",
		"ReadRanges of the archive uses it", "files of stores do not have it"
	vfstest.Forwards(t, i, a, "a", vfstest.Reasons{
		"tree.ChecksKind": index, "tree.Lstat": index, "tree.ReadDir": index, "tree.List": index,
		"tree.Describe": index,
		"tree.Stat":     "describes an entry, not the archive", "info.Stored": "an entry takes its own length",
		"file.ReadParts": ranges, "file.ReadCached": ranges,
		"file.Seek":     "the position in an entry is not that in the archive",
		"file.SeekData": inside, "file.SeekHole": inside, "file.ReadOnce": inside, "file.Push": inside,
		"info.Source": inside, "info.Attributes": inside, "info.Live": inside,
		"file.WriteAtContext": inside, "file.Sync": inside, "info.Writable": inside,
	})
}
