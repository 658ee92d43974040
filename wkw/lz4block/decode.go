package lz4block

import "fmt"

// Error says why bytes are not a block of the length that was expected.
type Error struct {
	Decoded int    // how many bytes there are before what is wrong
	At      int    // where in the block that is; its length if nothing follows
	Found   string // what is wrong; empty if the block just ends
}

func (e *Error) Error() string {
	if e.Found == "" {
		return fmt.Sprint(e.Decoded)
	}
	return fmt.Sprintf("%d, then %s at compressed byte %d", e.Decoded, e.Found, e.At)
}

// Decode fills dst with the block src. If src is anything but len(dst) bytes, it returns an *Error, and what is
// in dst then is of no use. The slices must not overlap.
func Decode(dst, src []byte) error {
	b := block{dst: dst, src: src}
	b.advance()
	return b.finish()
}

// DecodePair is Decode of two blocks, whose errors do not depend on each other. The processor does some of
// one while it waits for the other.
func DecodePair(dst0, src0, dst1, src1 []byte) (err0, err1 error) {
	b0, b1 := block{dst: dst0, src: src0}, block{dst: dst1, src: src1}
	advancePair(&b0, &b1)
	return b0.finish(), b1.finish()
}

// block is a block that is decoded as far as di, by what is in src before si, where a sequence starts.
type block struct {
	dst, src []byte
	di, si   int
}

// finish decodes the sequences that are left. It believes nothing, and is the only place that tells what is wrong.
func (b *block) finish() error {
	for {
		if b.si == len(b.src) {
			return b.broken("no literals to end with")
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

// end checks that the block may end behind the literals of the token.
func (b *block) end(token byte) error {
	switch {
	case b.di != len(b.dst):
		return b.broken("")
	case token&longest != 0:
		return b.broken("a match without its offset")
	}
	return nil
}

const (
	longest  = 15 // the length in a token that goes on in the bytes that follow
	minMatch = 4
)

// literals copies the n literals of the token at si, or more if n is longest.
func (b *block) literals(n int) error {
	n, at, ok := length(b.src, n, b.si+1)
	switch {
	case !ok:
		return b.broken("literals without an end of their number")
	case n > len(b.src)-at:
		return b.broken(fmt.Sprintf("%d literals, of which there are %d", n, len(b.src)-at))
	case n > len(b.dst)-b.di:
		return b.broken(fmt.Sprintf("%d literals where %d have room", n, len(b.dst)-b.di))
	}
	b.di += copy(b.dst[b.di:], b.src[at:at+n])
	b.si = at + n
	return nil
}

// match copies the match whose offset is at si, of n + minMatch bytes, or more if n is longest.
func (b *block) match(n int) error {
	if len(b.src)-b.si < 2 {
		return b.broken("half of an offset")
	}
	offset := int(b.src[b.si]) | int(b.src[b.si+1])<<8
	n, at, ok := length(b.src, n, b.si+2)
	n += minMatch
	switch {
	case offset == 0 || offset > b.di:
		return b.broken(fmt.Sprintf("a match %d bytes back", offset))
	case !ok:
		return b.broken("a match without an end of its length")
	case n > len(b.dst)-b.di:
		return b.broken(fmt.Sprintf("a match of %d bytes where %d have room", n, len(b.dst)-b.di))
	}
	repeat(b.dst[b.di-offset:b.di+n], offset)
	b.di += n
	b.si = at
	return nil
}

// repeat fills p with its first n bytes again and again: each copy doubles what the next one has.
func repeat(p []byte, n int) {
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
}

// length returns the length that begins with n in a token and may go on at a byte of src, and where what follows it
// begins. A byte of 255 is not the last one.
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

func (b *block) broken(found string) error {
	return &Error{Decoded: b.di, At: b.si, Found: found}
}
