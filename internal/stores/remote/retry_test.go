package remote

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

var letters = object.Object{Key: "x", Size: 26, Version: `"v1"`}

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// TestRetries: failures that pass are repeated with pauses, and others are not.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    func(w http.ResponseWriter, r *http.Request) // of the first answers
		faults   int
		attempts int           // with the last one, which succeeds
		least    time.Duration // that it takes
		err      error         // of the first answer, if it is not repeated
	}{
		{"503", status(503), 3, 4, 300 * time.Millisecond, nil},
		{"429 and Retry-After", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
		}, 2, 3, 14 * time.Second, nil},
		{"500", status(500), 1, 2, 0, nil},
		{"408", status(408), 1, 2, 0, nil},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(syscall.ECONNRESET) }, 5, 6, time.Second, nil},
		{"cut", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 3-6/26")
			w.WriteHeader(206)
			w.Write([]byte("de"))
		}, 2, 3, 0, nil},
		{"S3's slow request", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			w.Write([]byte("<Error><Code>RequestTimeout</Code></Error>"))
		}, 1, 2, 0, nil},
		{"400", status(400), 1, 1, 0, syscall.EIO},
		{"403", status(403), 1, 1, 0, fs.ErrPermission},
		{"501", status(501), 1, 1, 0, syscall.EIO},
		{"refused at first", func(http.ResponseWriter, *http.Request) { panic(syscall.ECONNREFUSED) }, 1, 1, 0,
			syscall.EIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts, start := 0, time.Now()
				b := open(t, "https://example.org/d", Options{}, func(w http.ResponseWriter, r *http.Request) {
					if attempts++; attempts <= c.faults {
						c.fault(w, r)
						return
					}
					w.Header().Set("Etag", `"v1"`)
					serve(w, r, alphabet)
				})
				got, err := read(b, letters, 3, 4)
				if attempts != c.attempts || !errors.Is(err, c.err) || c.err == nil && (err != nil || got != "defg") {
					t.Errorf("got %q, %v after %d attempts, expected %v after %d", got, err, attempts, c.err,
						c.attempts)
				}
				if sent, repeated := b.(*web).Requests(); sent != uint64(c.attempts) ||
					repeated != uint64(c.attempts-1) {
					t.Errorf("counted %d requests, %d of them repeated", sent, repeated)
				}
				if took := time.Since(start); took < c.least || took > c.least+time.Minute/2 {
					t.Errorf("took %v, expected %v or a little more", took, c.least)
				}
			})
		})
	}
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestGivesUp: when the time is over, the error names URL, status, request and number of attempts, and it is no
// interruption. It does not matter whether the end of the time cuts an attempt short.
func TestGivesUp(t *testing.T) {
	for _, slow := range []time.Duration{0, 4 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			b := open(t, "https://user:geheim@example.org/d?token=geheim", Options{Timeout: 20 * time.Second},
				func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(slow):
					case <-r.Context().Done():
						panic(r.Context().Err())
					}
					w.Header().Set("X-Request-Id", "R7")
					w.WriteHeader(503)
				})
			_, err := read(b, letters, 0, 4)
			if took := time.Since(start); !errors.Is(err, syscall.EIO) || errors.Is(err, context.DeadlineExceeded) ||
				took > 20*time.Second || took < 10*time.Second {
				t.Errorf("got %v after %v", err, took)
			}
			for _, want := range []string{"GET https://example.org/d/x: 503 Service Unavailable", "request R7",
				"attempt "} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("expected %q in %v", want, err)
				}
			}
			if strings.Contains(err.Error()+hintOf(err)+b.URL(), "geheim") {
				t.Errorf("%v has a secret", err)
			}
		})
	}
}

// TestHangs: an attempt without progress ends, and the next one may succeed. A reader that goes away does not wait.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, start := 0, time.Now()
		b := open(t, "https://example.org/d", Options{Timeout: 40 * time.Second},
			func(w http.ResponseWriter, r *http.Request) {
				if attempts++; attempts == 1 {
					<-r.Context().Done()
					panic(r.Context().Err())
				}
				serve(w, r, alphabet)
			})
		if got, err := read(b, object.Object{Key: "x", Size: 26}, 0, 3); got != "abc" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if took := time.Since(start); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("took %v, expected a quarter of the timeout", took)
		}
		attempts, start = 0, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Read(ctx, letters, make([]byte, 1), 0); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestBackoffEndsWithReader: a reader that goes away between two attempts does not wait for the next one.
func TestBackoffEndsWithReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, "https://example.org/d", Options{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(503)
		})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Head(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestOutage: after a request has failed for as long as the timeout, others fail at once, but only for a second.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, attempts := true, 0
		b := open(t, "https://example.org/d", Options{Timeout: 10 * time.Second},
			func(w http.ResponseWriter, r *http.Request) {
				if attempts++; down {
					<-r.Context().Done()
					panic(r.Context().Err())
				}
				serve(w, r, alphabet)
			})
		start := time.Now()
		for range 10 {
			if _, err := b.Head(t.Context(), "x"); !errors.Is(err, syscall.EIO) ||
				!strings.Contains(err.Error(), "/d/x") {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v, expected one timeout", took)
		}
		down = false
		time.Sleep(outageTime + 1)
		for range 2 {
			if _, err := b.Head(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		}
	})
}
