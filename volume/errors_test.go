package volume

import (
	"errors"
	"io"
	"testing"
)

func TestFormatError(t *testing.T) {
	for _, c := range []struct {
		err  FormatError
		want string
	}{
		{FormatError{File: "x0.wkw", Part: "magic", Offset: 0, Expected: "WKW", Found: "PNG"},
			"x0.wkw: magic at byte 0: expected WKW, found PNG"},
		{FormatError{File: "0-64", Part: "chunk", Offset: 7, Err: io.ErrUnexpectedEOF},
			"0-64: chunk at byte 7: unexpected EOF"},
		{FormatError{Part: "id 3", Offset: 60, Expected: "1", Found: "2"}, "id 3 at byte 60: expected 1, found 2"},
		{FormatError{Part: "size", Offset: -1, Expected: "1", Found: "2"}, "size: expected 1, found 2"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, expected %q", got, c.want)
		}
		if err := error(&c.err); !errors.Is(err, c.err.Err) && c.err.Err != nil {
			t.Errorf("%v does not wrap %v", err, c.err.Err)
		}
	}
}

func TestUnsupportedError(t *testing.T) {
	err := UnsupportedError{File: "header.wkw", Part: "version", Offset: 3, Expected: "1", Found: "2"}
	if got, want := err.Error(), "header.wkw: unsupported version at byte 3: expected 1, found 2"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}
