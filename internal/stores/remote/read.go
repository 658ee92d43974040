package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxWhole is the size in bytes of the largest object that is read whole from a server that ignores ranges.
const maxWhole = 1 << 20

// whole returns p as the only part, at byte offset off.
func whole(p []byte, off int64) []vfs.Range { return []vfs.Range{{Off: off, P: p}} }

// spanOf returns the byte offsets of the start of the first part and of the end of the last one.
func spanOf(parts []vfs.Range) (off, end int64) {
	last := parts[len(parts)-1]
	return parts[0].Off, last.Off + int64(len(last.P))
}

// versioned is how a store says the version of an object.
type versioned struct {
	validators func(http.Header) validators                         // of an answer to a read
	describe   func(context.Context, string) (object.Object, error) // asks the store
}

// readParts fills parts of an object with one request: r, which is for the object, with its condition. If the answer
// does not say its version or the size of the object, that is described again after the read.
func (c *client) readParts(ctx context.Context, r request, o object.Object, parts []vfs.Range, v versioned) error {
	off, end := spanOf(parts)
	if off < 0 || end > o.Size {
		return fmt.Errorf("%s: bytes %d to %d of %d: %w", shown(r.url), off, end, o.Size, io.ErrUnexpectedEOF)
	}
	if off == end {
		return ctx.Err()
	}
	r.header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, end-1))
	isUnknown := false // the version or the size
	err := c.do(ctx, r, func(answer *http.Response) error {
		expected, found := parseVersion(o.Version), v.validators(answer.Header)
		verdict := expected.compare(found)
		if verdict == other {
			return permanent{fmt.Errorf("expected version %s, found %s: %w", o.Version, clean(found.version()),
				vfs.ErrChanged)}
		}
		if isUnknown = verdict == unknown || !hasSize(answer); expected.strong == "" && found.strong != "" {
			c.readsSay.Store(more)
		}
		if answer.StatusCode == http.StatusPartialContent {
			return takeRange(answer, o, parts)
		}
		return takeWhole(answer, o, parts)
	})
	if err == nil && isUnknown {
		return confirm(ctx, r, o, v.describe)
	}
	return explainRead(err)
}

// explainRead returns ErrChanged if an object that existed is of another version, shorter or removed now.
func explainRead(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case errors.Is(f.class, fs.ErrNotExist):
		f.text = "the object was removed"
	case f.status == http.StatusPreconditionFailed, f.status == http.StatusRequestedRangeNotSatisfiable:
		f.code, f.text = "", "another version"
	default:
		return err
	}
	f.class = vfs.ErrChanged
	return f
}

// fillParts fills parts from a body that starts at byte offset off. What lies between them is dropped.
func fillParts(body io.Reader, off int64, parts []vfs.Range) error {
	for _, part := range parts {
		if _, err := io.CopyN(io.Discard, body, part.Off-off); err != nil {
			return err
		}
		if _, err := io.ReadFull(body, part.P); err != nil {
			return err
		}
		off = part.Off + int64(len(part.P))
	}
	return nil
}

// takeRange reads the body of an answer with the span of the parts.
func takeRange(answer *http.Response, o object.Object, parts []vfs.Range) error {
	off, end := spanOf(parts)
	text := answer.Header.Get("Content-Range")
	first, last, size, ok := parseContentRange(text)
	switch {
	case !ok || first != off || last >= end:
		return permanent{fmt.Errorf("expected bytes %d to %d, found Content-Range %q: %w", off, end-1, clean(text),
			syscall.EIO)}
	case size >= 0 && size != o.Size:
		return permanent{fmt.Errorf("expected %d bytes, found %d: %w", o.Size, size, vfs.ErrChanged)}
	case last < end-1:
		return io.ErrUnexpectedEOF
	case answer.ContentLength >= 0 && answer.ContentLength != end-off:
		return fmt.Errorf("expected %d bytes, found Content-Length %d", end-off, answer.ContentLength)
	}
	if err := fillParts(answer.Body, off, parts); err != nil {
		return err
	}
	return checkEnd(answer, 0)
}

// checkEnd checks that the body of an answer without a length ends after n more bytes. A body that a server has
// compressed, though nobody asked for that, has another length.
func checkEnd(answer *http.Response, n int64) error {
	if answer.ContentLength >= 0 {
		return nil
	}
	if _, err := io.CopyN(io.Discard, answer.Body, n); err != nil {
		return err
	}
	switch more, err := io.CopyN(io.Discard, answer.Body, 1); {
	case more > 0:
		return permanent{fmt.Errorf("expected the end of the answer, found more bytes (Content-Encoding %q): %w",
			clean(answer.Header.Get("Content-Encoding")), syscall.EIO)}
	case err != io.EOF:
		return err
	}
	return nil
}

// hasSize reports whether an answer to a read has the size of the object.
func hasSize(answer *http.Response) bool {
	if answer.StatusCode != http.StatusPartialContent {
		return answer.ContentLength >= 0
	}
	_, _, size, ok := parseContentRange(answer.Header.Get("Content-Range"))
	return ok && size >= 0
}

// parseContentRange parses "bytes 0-99/1234". size is -1 if the server does not know it.
func parseContentRange(text string) (first, last, size int64, ok bool) {
	rest, isBytes := strings.CutPrefix(text, "bytes ")
	span, total, hasTotal := strings.Cut(rest, "/")
	from, to, hasTo := strings.Cut(span, "-")
	if !isBytes || !hasTotal || !hasTo {
		return 0, 0, 0, false
	}
	var errs [3]error
	first, errs[0] = strconv.ParseInt(from, 10, 64)
	last, errs[1] = strconv.ParseInt(to, 10, 64)
	if size = -1; total != "*" {
		if size, errs[2] = strconv.ParseInt(total, 10, 64); size < 0 {
			return 0, 0, 0, false
		}
	}
	return first, last, size, errors.Join(errs[:]...) == nil && first >= 0 && last >= first
}

// takeWhole reads the parts from an answer with all of the object: the server ignores ranges.
func takeWhole(answer *http.Response, o object.Object, parts []vfs.Range) error {
	off, end := spanOf(parts)
	if answer.ContentLength >= 0 && answer.ContentLength != o.Size {
		return permanent{fmt.Errorf("expected %d bytes, found %d: %w", o.Size, answer.ContentLength, vfs.ErrChanged)}
	}
	if o.Size > maxWhole && end-off < o.Size {
		err := fmt.Errorf("the server ignores ranges (expected status 206, found %d), and the file has %d bytes: %w",
			answer.StatusCode, o.Size, syscall.EIO)
		return permanent{&hint.Error{Err: err,
			Hint: "serve the files with a server that answers range requests, such as nginx"}}
	}
	if err := fillParts(answer.Body, 0, parts); err != nil {
		return err
	}
	return checkEnd(answer, o.Size-end)
}
