package store

import (
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Files with some of the abilities that callers ask for by type.
type (
	seeking  struct{ patternFile }
	advising struct {
		patternFile
		advice *int
	}
	both struct {
		advising
		io.Seeker
	}
	streaming struct{ fs.File }
)

func (seeking) Seek(int64, int) (int64, error) { return 0, nil }

func (a advising) WillNeed(off, n int64) { *a.advice++ }

// only is a file system that opens one file, whatever the name.
type only struct{ fs.File }

func (o only) Open(string) (fs.File, error) { return o.File, nil }

// TestAbilities: an open file can do what the file below can do.
func TestAbilities(t *testing.T) {
	advice := 0
	plain := patternFile{size: 10}
	d, _ := tree(t)
	for _, c := range []struct {
		what                    string
		fsys                    fs.FS
		readAt, seeks, advises_ bool
	}{
		{"a stream", only{streaming{plain}}, false, false, false},
		{"a file", only{plain}, true, false, false},
		{"one that seeks", only{seeking{plain}}, true, true, false},
		{"one that takes advice", only{advising{plain, &advice}}, true, false, true},
		{"one that does both", only{both{advising{plain, &advice}, seeking{}}}, true, true, true},
		{"on disk", d, true, true, true},
		{"in memory", fstest.MapFS{"file": {}}, true, true, false},
	} {
		s, f := open(t, c.fsys, Options{})
		_, readerAt := f.(io.ReaderAt)
		_, contextReaderAt := f.(vfs.ContextReaderAt)
		_, rangeReader := f.(vfs.RangeReader)
		_, later := f.(vfs.Later)
		for _, got := range []bool{readerAt, contextReaderAt, rangeReader, later} {
			if got != c.readAt {
				t.Errorf("%s: reads at any offset: %v %v %v %v", c.what, readerAt, contextReaderAt, rangeReader, later)
				break
			}
		}
		if _, seeks := f.(io.Seeker); seeks != c.seeks {
			t.Errorf("%s: seeks: %v", c.what, seeks)
		}
		advisor, advises := f.(vfs.Advisor)
		if advises != c.advises_ {
			t.Errorf("%s: takes advice: %v", c.what, advises)
		}
		if advises && c.fsys != fs.FS(d) {
			before := advice
			advisor.WillNeed(0, 1)
			makeLate(s)
			advisor.WillNeed(0, 1)
			if advice != before+1 {
				t.Errorf("%s: took advice %d times, expected only while the source is prompt", c.what, advice-before)
			}
		}
		if c.fsys != fs.FS(d) {
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseDoesNotWait: a file is closed at once while a read of it hangs, and in truth when that ends.
func TestCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, closed := make(chan struct{}), make(chan struct{})
		server := &remote{FS: pattern(1 << 20), takes: func(q request) (time.Duration, error) {
			if q.op == "read" {
				<-held
			}
			return 0, nil
		}}
		s := Schedule(waitingFS{server, closed}, Options{})
		f, err := s.Open("file")
		if err != nil {
			t.Fatal(err)
		}
		go f.(io.ReaderAt).ReadAt(make([]byte, 10), 0)
		synctest.Wait()
		start := time.Now()
		if err := f.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		synctest.Wait()
		select {
		case <-closed:
		default:
			t.Error("nobody closes the file")
		}
		close(held)
		time.Sleep(2 * time.Hour)
	})
}

// waitingFS tells when a file is being closed.
type waitingFS struct {
	fs.FS
	closed chan struct{}
}

func (w waitingFS) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	return waitingFile{f.(*remoteFile), w.closed}, err
}

type waitingFile struct {
	*remoteFile
	closed chan struct{}
}

func (w waitingFile) Close() error {
	close(w.closed)
	time.Sleep(time.Hour) // as the operating system waits for reads
	return nil
}
