package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// withContext is a file whose reads use the context.
type withContext struct{ fs.File }

func (withContext) ReadAtContext(ctx context.Context, p []byte, _ int64) (int, error) {
	return copy(p, "context"), ctx.Err()
}

// plainFile is a file without ReadAt.
type plainFile struct{ fs.File }

func TestReadAt(t *testing.T) {
	f, err := (fstest.MapFS{"f": {Data: []byte("0123456789")}}).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		f    fs.File
		want string
		err  error
	}{
		{"at any offset", t.Context(), f, "34567", nil},
		{"with a context", t.Context(), withContext{f}, "conte", nil},
		{"canceled", canceled, withContext{f}, "conte", context.Canceled},
		{"in order only", t.Context(), plainFile{f}, "", fs.ErrInvalid},
	} {
		p := make([]byte, 5)
		n, err := ReadAt(c.ctx, c.f, p, 3)
		if string(p[:n]) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %q, %v", c.name, p[:n], err)
		}
	}
	if _, err := ReadAt(t.Context(), f, make([]byte, 5), 8); err != io.EOF {
		t.Errorf("past the end: got %v", err)
	}
	if _, err := ReadAt(t.Context(), plainFile{f}, nil, 0); err == nil || !strings.HasPrefix(err.Error(), "readat") {
		t.Errorf("got %v", err)
	}
}
