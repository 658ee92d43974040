package lz4block

import "fmt"

// Error reports bytes that are not a block of the expected length.
type Error struct {
	Decoded int    // bytes that were decoded before the fault
	Offset  int    // of the fault in the block, in bytes; the length of the block if it ends too early
	Found   string // the fault; empty if the block only ends too early
}

// Error returns the number of decoded bytes, and the fault with its offset.
func (e *Error) Error() string {
	if e.Found == "" {
		return fmt.Sprint(e.Decoded)
	}
	return fmt.Sprintf("%d, then %s at compressed byte %d", e.Decoded, e.Found, e.Offset)
}

// Decode decodes the block src into dst. If src does not decode to exactly len(dst) bytes, it returns an [*Error],
// and the content of dst is undefined. The slices must not overlap.
func Decode(dst, src []byte) error {
	b := block{dst: dst, src: src}
	b.advance()
	return b.finish()
}

// DecodePair decodes two blocks as Decode does. It is faster than two calls of Decode, because the processor works on
// one block while it waits for a result of the other. The result of one block does not depend on the other.
func DecodePair(dst0, src0, dst1, src1 []byte) (err0, err1 error) {
	b0, b1 := block{dst: dst0, src: src0}, block{dst: dst1, src: src1}
	advancePair(&b0, &b1)
	return b0.finish(), b1.finish()
}

// block is a block during decoding. The sequences before src[si] are decoded into dst[:di].
type block struct {
	dst, src []byte
	di, si   int
}

// finish decodes the remaining sequences. It checks everything. All errors come from here.
func (b *block) finish() error {
	for {
		if b.si == len(b.src) {
			return b.fault("no last literals")
		}
		token := b.src[b.si]
		if err := b.literals(int(token >> 4)); err != nil {
			return err
		}
		if b.si == len(b.src) {
			return b.end(token)
		}
		if err := b.match(int(token & longest)); err != nil {
			return err
		}
	}
}

// end checks that the block may end after the literals of the token.
func (b *block) end(token byte) error {
	switch {
	case b.di != len(b.dst):
		return b.fault("")
	case token&longest != 0:
		return b.fault("a match without its offset")
	}
	return nil
}

const (
	longest  = 15 // a length in a token that continues in the next bytes
	minMatch = 4  // bytes of the shortest match
)

// literals copies the literals of the token at si. n is their number in the token.
func (b *block) literals(n int) error {
	n, at, ok := length(b.src, n, b.si+1)
	switch {
	case !ok:
		return b.fault("literals with an incomplete length")
	case n > len(b.src)-at:
		return b.fault(fmt.Sprintf("%d literals, of which %d are stored", n, len(b.src)-at))
	case n > len(b.dst)-b.di:
		return b.fault(fmt.Sprintf("%d literals with room for %d", n, len(b.dst)-b.di))
	}
	b.di += copy(b.dst[b.di:], b.src[at:at+n])
	b.si = at + n
	return nil
}

// match copies the match whose offset is at si. n is its length in the token.
func (b *block) match(n int) error {
	if len(b.src)-b.si < 2 {
		return b.fault("an incomplete offset")
	}
	offset := int(b.src[b.si]) | int(b.src[b.si+1])<<8
	n, at, ok := length(b.src, n, b.si+2)
	n += minMatch
	switch {
	case offset == 0 || offset > b.di:
		return b.fault(fmt.Sprintf("a match %d bytes back", offset))
	case !ok:
		return b.fault("a match with an incomplete length")
	case n > len(b.dst)-b.di:
		return b.fault(fmt.Sprintf("a match of %d bytes with room for %d", n, len(b.dst)-b.di))
	}
	repeat(b.dst[b.di-offset:b.di+n], offset)
	b.di += n
	b.si = at
	return nil
}

// repeat fills p with repetitions of its first n bytes. Each copy doubles the length of the next one.
func repeat(p []byte, n int) {
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
}

// length returns a length and the offset after it. n is the length in the token. If n is longest, the length continues
// at src[at], up to the first byte that is not 255. length returns false if src ends before.
func length(src []byte, n, at int) (int, int, bool) {
	if n < longest {
		return n, at, true
	}
	for ; at < len(src); at++ {
		n += int(src[at])
		if src[at] != 255 {
			return n, at + 1, true
		}
	}
	return 0, 0, false
}

// fault returns the error for a fault at si.
func (b *block) fault(found string) error {
	return &Error{Decoded: b.di, Offset: b.si, Found: found}
}
