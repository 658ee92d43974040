package copier

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
	"time"
)

// TestFinishOtherPart: a process does not give the name of the target to a part that another process is writing. That
// happens after a third one has completed the copy and removed the parts.
func TestFinishOtherPart(t *testing.T) {
	for _, complete := range []bool{true, false} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		source := fstest.MapFS{"x": {Data: []byte("all bytes"), ModTime: time.Unix(1e9, 0)}}
		in, err := source.Open("x")
		if err != nil {
			t.Fatal(err)
		}
		info, err := in.Stat()
		if err != nil {
			t.Fatal(err)
		}
		out, err := root.Create("x.part")
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(root.Remove("x.part"), root.WriteFile("x.part", []byte("some"), 0o600))
		if complete {
			err = errors.Join(err, root.WriteFile("x", []byte("all bytes"), 0o600),
				root.Chtimes("x", info.ModTime(), info.ModTime()))
		}
		if err != nil {
			t.Fatal(err)
		}
		f := &file{item: item{target: "x"}, dst: root, info: info, in: in, out: out, part: "x.part", staged: true,
			ranges: 1}
		if err := f.finish(); (err == nil) != complete || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("complete %v: %v", complete, err)
		}
		b, err := root.ReadFile("x")
		if complete && string(b) != "all bytes" || !complete && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("complete %v: the target has %q, %v", complete, b, err)
		}
	}
}
