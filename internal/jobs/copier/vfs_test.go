package copier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

func TestFileSystem(t *testing.T) {
	dir := t.TempDir()
	vfstest.WriteShapes(t, dir)
	vfstest.Test(t, Stable(os.DirFS(dir), 4), vfstest.Expect{
		Files:   vfstest.Shapes(),
		Has:     "tree.Stat tree.List file.ReadAtContext file.SeekData file.SeekHole file.ReadOnce file.Push info.Version info.Source",
		Replace: func(name string, content []byte) { vfstest.Write(t, filepath.Join(dir, name), content) },
	})
}

func TestStableForwards(t *testing.T) {
	const view, copier = "a view, which is inside, does not have it", "the copier does not ask for it"
	i := vfstest.NewInside([]byte("content"))
	vfstest.Forwards(t, i, Stable(i, 4), vfstest.Name, vfstest.Reasons{
		"tree.Speed":      view,
		"tree.ChecksKind": view, "tree.Lstat": view, "tree.Describe": view, "tree.ReadDir": "List takes less memory",
		"file.Speed":      view,
		"file.ReadRanges": view, "file.ReadParts": view, "file.ReadCached": view, "file.WillNeed": view,
		"file.Seek": copier, "file.WriteAtContext": copier, "file.Sync": copier, "info.Writable": copier,
		"info.Version":    "versions of the view differ between machines",
		"info.Stored":     "it differs between machines: storedBytes uses Source",
		"info.Attributes": copier, "info.Live": "the status files are around the view, not in it",
	})
}
