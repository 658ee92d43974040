package log

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// TestSender: a log service gets each record as a line with a level and without a time.
func TestSender(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{}, []string{`INFO level=INFO msg=mounted source="/a b"`,
			`ERROR level=ERROR msg="cannot read" source="/a b" of.path=x of.err="two\nlines"`}},
		{Options{Format: JSON}, []string{`INFO {"level":"INFO","msg":"mounted","source":"/a b"}`,
			`ERROR {"level":"ERROR","msg":"cannot read","source":"/a b","of":{"path":"x","err":"two\nlines"}}`}},
		{Options{Format: JSON, Debug: true}, []string{`DEBUG {"level":"DEBUG","msg":"request","source":"/a b"}`,
			`INFO {"level":"INFO","msg":"mounted","source":"/a b"}`}},
		{Options{Format: Text, Debug: true}, []string{`DEBUG level=DEBUG msg=request source="/a b"`}},
	} {
		var got []string
		log := slog.New(test.options.sender(func(level slog.Level, line string) error {
			got = append(got, level.String()+" "+line)
			return nil
		})).With("source", "/a b")
		log.Debug("request")
		log.Info("mounted")
		log.WithGroup("of").Error("cannot read", "path", "x", "err", "two\nlines")
		for i, want := range test.want {
			if len(got) <= i || got[i] != want {
				t.Errorf("%+v: got %q, want %q", test.options, got, want)
				break
			}
		}
	}
}

// TestHiddenCharacters: lines of both formats have no characters that a terminal would obey or hide.
func TestHiddenCharacters(t *testing.T) {
	for format, want := range map[Format]string{Text: `path="a\u202eb\u009b\u200b"`,
		JSON: `"path":"a\u202eb\u009b\u200b"`} {
		var out bytes.Buffer
		slog.New(Options{Format: format}.handler(&out, nil)).Error("cannot read", "path", "a\u202eb\u009b\u200b")
		if got := out.String(); !strings.Contains(got, want) || hint.EscapeLines(got) != got {
			t.Errorf("%s: got %q", format, got)
		}
	}
}
