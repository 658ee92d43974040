package daemon

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestServerThatCannotEnd checks that Start returns the error of a server that has failed but does not end, as while
// one of its threads waits for another FUSE server that is stopped. The server is this test in another process.
func TestServerThatCannotEnd(t *testing.T) {
	if IsServer() {
		pipe, err := OpenPipe(false)
		if err != nil {
			t.Fatal(err)
		}
		pipe.Fail("wkwfs: already mounted\n")
		time.Sleep(30 * endTime)
		return
	}
	var stderr strings.Builder
	start := time.Now()
	_, err := Start([]string{"wkwfs", "-test.run=^TestServerThatCannotEnd$"}, false, nil, &stderr)
	if want := "wkwfs: already mounted\n"; !errors.Is(err, ErrPrinted) || stderr.String() != want {
		t.Errorf("got %v and %q on stderr, want %q", err, stderr.String(), want)
	}
	if took := time.Since(start); took > 20*endTime {
		t.Errorf("it took %v", took)
	}
}

// TestWaitPanics: after a panic while a command waits for its server, it knows that the server has ended. The server is
// this test in another process.
func TestWaitPanics(t *testing.T) {
	if IsServer() {
		pipe, err := OpenPipe(false)
		if err != nil {
			t.Fatal(err)
		}
		if err := pipe.Ready("/mnt", ""); err != nil {
			t.Fatal(err)
		}
		return
	}
	defer guard.Inject(func(place string) {
		if place == "daemon.wait" {
			panic("injected")
		}
	})()
	s, err := Start([]string{"wkwfs", "-test.run=^TestWaitPanics$"}, false, func(string) error { return nil },
		io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	<-s.Ended()
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "panic in daemon.wait: injected") {
		t.Errorf("got %v", err)
	}
}

func TestExplainExit(t *testing.T) {
	var stderr strings.Builder
	ended := &Server{printed: new(bytes.Buffer)}
	err := ended.explainExit(&stderr)
	if want := "the server ended before the mount was ready: exit status 0"; err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
	ended = &Server{printed: bytes.NewBufferString("panic: x\n\ngoroutine 1\n"), err: errors.New("signal: killed")}
	err = ended.explainExit(&stderr)
	want := "the server ended before the mount was ready: signal: killed: panic: x\n\ngoroutine 1"
	if err.Error() != want || stderr.Len() != 0 {
		t.Errorf("got %q and %q on stderr, want %q", err, stderr.String(), want)
	}
}
