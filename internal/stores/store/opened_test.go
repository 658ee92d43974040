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

// Files with some of the optional abilities.
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

// TestAbilities: an open file has the optional abilities of the file of the source.
func TestAbilities(t *testing.T) {
	advice := 0
	plain := patternFile{size: 10}
	d, _ := tree(t)
	for _, c := range []struct {
		name                   string
		fsys                   fs.FS
		readAt, seeks, advised bool
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
		_, later := f.(vfs.SpeedReporter)
		for _, got := range []bool{readerAt, contextReaderAt, rangeReader, later} {
			if got != c.readAt {
				t.Errorf("%s: reads at any offset: %v %v %v %v", c.name, readerAt, contextReaderAt, rangeReader, later)
				break
			}
		}
		if _, seeks := f.(io.Seeker); seeks != c.seeks {
			t.Errorf("%s: seeks: %v", c.name, seeks)
		}
		advisor, advises := f.(vfs.Advisor)
		if advises != c.advised {
			t.Errorf("%s: takes advice: %v", c.name, advises)
		}
		if advises && c.fsys != fs.FS(d) {
			before := advice
			advisor.WillNeed(0, 1)
			makeLate(s)
			advisor.WillNeed(0, 1)
			if advice != before+1 {
				t.Errorf("%s: passed on advice %d times, expected once, while the source is prompt", c.name,
					advice-before)
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

// TestCloseDoesNotWait: Close returns at once while a read hangs. The file of the source is closed in the
// background.
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
			t.Error("the file is not closed")
		}
		close(held)
		time.Sleep(2 * time.Hour)
	})
}

// waitingFS closes a channel when Close of a file starts. Close then takes an hour.
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
	time.Sleep(time.Hour) // like the operating system, which waits for reads
	return nil
}
