package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

const (
	// maxHeader is the size in bytes of the largest header of an answer, with those of interim answers (1xx) before it.
	// Those of stores have a few hundred bytes. Each field takes up to 30 times its size.
	maxHeader = 32 << 10

	// maxPage is the largest answer to a request for 1,000 objects that is read, in bytes. Keys have up to 1,024 bytes,
	// which are three times as many if they are escaped.
	maxPage = 4 << 20

	// answerPiece is how much memory an answer takes at first, in bytes. Most are not larger.
	answerPiece = 512 << 10

	// answerMemory is the memory of all answers that are being read and parsed, in bytes. One more may have as much as
	// it needs.
	answerMemory = 12 << 20
)

var answers = &memory{free: answerMemory, changed: make(chan struct{})}

// memory is a number of bytes that answers share. If there is no more, one of the answers has what it needs beyond
// that, so that no answer waits for others that wait, too.
type memory struct {
	mu      sync.Mutex
	free    int64
	taken   bool          // an answer has more than that
	changed chan struct{} // closed when memory becomes free
}

// share is the memory of one answer.
type share struct {
	of     *memory
	bytes  int64
	beyond bool
}

// take takes n bytes more. It waits until they are free.
func (s *share) take(ctx context.Context, n int64) error {
	for {
		wait := s.try(n)
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// try takes n bytes, or returns a channel that is closed when memory has become free.
func (s *share) try(n int64) (wait <-chan struct{}) {
	m := s.of
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case s.beyond:
	case m.free >= n:
		m.free -= n
		s.bytes += n
	case !m.taken:
		m.taken, s.beyond = true, true
	default:
		return m.changed
	}
	return nil
}

// release gives all memory back.
func (s *share) release() {
	m := s.of
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += s.bytes
	if s.beyond {
		m.taken = false
	}
	*s = share{of: m}
	close(m.changed)
	m.changed = make(chan struct{})
}

// errLongAnswer is the error of an answer that is longer than its limit.
var errLongAnswer = errors.New("the answer is too long")

// answerBody reads the body of an answer, and takes memory for what it has read.
type answerBody struct {
	io.Reader
	ctx   context.Context
	share share
	left  int64 // bytes, until the limit
	ahead int64 // bytes that memory was taken for
	err   error // of the body, not io.EOF
}

// take takes memory for n bytes more.
func (b *answerBody) take(n int64) error {
	b.ahead += n
	return b.share.take(b.ctx, n)
}

// Read implements [io.Reader].
func (b *answerBody) Read(p []byte) (n int, err error) {
	switch {
	case b.err != nil || len(p) == 0:
		return 0, b.err
	case b.ahead == 0:
		if b.err = b.take(answerPiece); b.err != nil {
			return 0, b.err
		}
	}
	n, err = b.Reader.Read(p[:min(int64(len(p)), b.ahead, b.left+1)])
	b.left -= int64(n)
	b.ahead -= int64(n)
	if b.left < 0 {
		n, err = 0, errLongAnswer
	}
	if err != io.EOF {
		b.err = err
	}
	return n, err
}

// readAnswer parses an answer of up to limit bytes, while parse reads it. The result of parse has no part of the memory
// that it reads into.
func readAnswer[T any](answer *http.Response, limit int64, parse func(*answerBody) (T, error)) (parsed T, err error) {
	b := &answerBody{Reader: answer.Body, ctx: answer.Request.Context(), share: share{of: answers}, left: limit}
	defer b.share.release()
	parsed, err = parse(b)
	var none T
	switch {
	case b.err == errLongAnswer:
		return none, permanent{fmt.Errorf("expected at most %d bytes in an answer: %w", limit, syscall.EIO)}
	case b.err != nil:
		return none, b.err
	case errors.Is(err, object.ErrCannotList):
		return none, permanent{err}
	case err != nil:
		return none, permanent{fmt.Errorf("%w: %w", err, syscall.EIO)}
	}
	return parsed, nil
}

// pieces has the memory of answers that are read before they are parsed.
var pieces = sync.Pool{New: func() any { return new([answerPiece]byte) }}

// buffered returns a function for [readAnswer] that reads all of an answer before parse. The result of parse has no
// part of its bytes.
func buffered[T any](parse func([]byte) (T, error)) func(*answerBody) (T, error) {
	return func(b *answerBody) (parsed T, err error) {
		piece := pieces.Get().(*[answerPiece]byte)
		defer pieces.Put(piece)
		body, err := b.readAll(piece[:])
		if err != nil {
			return parsed, err
		}
		return parse(body)
	}
}

// readAll returns all bytes, in memory of the caller if that suffices.
func (b *answerBody) readAll(piece []byte) ([]byte, error) {
	n, err := io.ReadFull(b, piece)
	if err == io.EOF || err == io.ErrUnexpectedEOF && b.err == nil {
		return piece[:n], nil
	}
	if err == nil {
		err = b.take(b.left + 1)
	}
	if err != nil {
		return nil, err
	}
	whole := make([]byte, int64(n)+b.left+1)
	copy(whole, piece)
	rest, err := io.ReadFull(b, whole[n:])
	if err == io.EOF || err == io.ErrUnexpectedEOF && b.err == nil {
		return whole[:n+rest], nil
	}
	return nil, err
}

// checkMarkup returns an error for XML that takes much more memory than its bytes when it is parsed: with too many
// tags, which may be nested, or with a tag with very many attributes. In well-formed XML each "<" starts a tag, a
// comment or the like.
func checkMarkup(body []byte, tags int) error {
	const longest = 16 << 10 // bytes of a tag and the text after it
	for n := 0; ; n++ {
		i := bytes.IndexByte(body, '<')
		switch {
		case i > longest || i < 0 && len(body) > longest:
			return fmt.Errorf("expected at most %d bytes between tags of XML, found more", longest)
		case i < 0:
			return nil
		case n == tags:
			return fmt.Errorf("expected at most %d tags of XML, found more", tags)
		}
		body = body[i+1:]
	}
}
