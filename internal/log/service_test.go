package log

import (
	"log/slog"
	"testing"
)

// TestSender: a log service gets each record as a line with a level and without a time.
func TestSender(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{}, []string{`INFO level=INFO msg=mounted source="/a b"`, `ERROR level=ERROR msg="cannot read" source="/a b" of.path=x of.err="two\nlines"`}},
		{Options{Format: JSON}, []string{`INFO {"level":"INFO","msg":"mounted","source":"/a b"}`, `ERROR {"level":"ERROR","msg":"cannot read","source":"/a b","of":{"path":"x","err":"two\nlines"}}`}},
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
