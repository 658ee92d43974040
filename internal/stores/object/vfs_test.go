package object

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

// Abilities are those of an FS and its files.
const abilities = "tree.Speed tree.ChecksKind tree.Stat tree.ReadDir tree.List tree.Describe" +
	" file.ReadAtContext file.ReadParts file.ReadCached info.Version info.Stored"

func TestFileSystem(t *testing.T) {
	for _, names := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.names = names
			for name, content := range vfstest.Shapes() {
				m.objects[name] = string(content)
			}
			vfstest.Test(t, NewFS(m, Options{}), vfstest.Expect{
				Files: vfstest.Shapes(), Has: abilities,
				Replace: func(name string, content []byte) { m.objects[name] = string(content) },
				Forget:  func() { time.Sleep(2 * time.Minute) },
			})
		})
	}
}
