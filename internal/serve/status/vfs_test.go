package status

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

func TestFileSystem(t *testing.T) {
	dir := t.TempDir()
	vfstest.WriteShapes(t, dir)
	vfstest.Test(t, newTestMeter().Around(os.DirFS(dir)), vfstest.Expect{
		Files: vfstest.Shapes(), Live: []string{StatusFile, MetricsFile},
		Has:     "tree.Stat tree.ReadDir tree.List file.Seek",
		Replace: func(name string, content []byte) { vfstest.Write(t, filepath.Join(dir, name), content) },
	})
}

func TestForwards(t *testing.T) {
	const view = "a view, which is inside, does not have it"
	i := vfstest.NewInside([]byte("content"))
	vfstest.Forwards(t, i, newTestMeter().Around(i), vfstest.Name, vfstest.Reasons{
		"tree.Speed": view,
		"tree.Lstat": view, "tree.ChecksKind": view, "tree.Describe": view,
	})
}
