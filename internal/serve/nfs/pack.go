package nfs

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/tree"
)

// A packed path is a sequence of tokens. Clients keep handles for long, so the meaning of a token never changes. The
// root is an empty sequence.
const (
	tokenHash   = 0x00 // an element as 8 bytes of hash
	tokenNumber = 0x01 // a decimal number as a varint
	tokenScored = 0x02 // the same, and an underscore
	tokenDashed = 0x03 // the same, and a minus
	tokenEscape = 0x1f // the next byte stands for itself, as bytes from 0x20 do
	firstWord   = 0x04 // words[0]
)

// words are frequent parts of paths. A new word goes to the end.
var words = []string{
	"/" + tree.Slices + "/z", "/" + tree.Slices, "/" + tree.Boxes + "/", "/" + tree.Chunks + "/",
	"/" + tree.Precomputed + "/", "/" + tree.Precomputed,
	tree.VolumeStem + ".", "/z", "/y", "/x", tree.Blocks, tree.Raw, tree.JSON, tree.TIFF, ".nii", ".nrrd", ".npy",
	"color", "segmentation",
}

// maxPath bounds the length of a path, in bytes.
const maxPath = 4096

// element is an element of a packed path.
type element struct {
	name string
	hash string // if it is not empty, name is unknown
}

func (e element) isHash() bool { return e.hash != "" }

// pack packs a path into at most maxPacked bytes. hashed reports whether elements were replaced by hashes. If nothing
// else helps, the result is one hash of the whole path, which no listing has.
func pack(name string) (packed []byte, hashed bool) {
	if name == "." {
		return nil, false
	}
	parts := strings.Split(name, "/")
	hashes := make([]bool, len(parts))
	for {
		packed = packParts(parts, hashes)
		if len(packed) <= maxPacked {
			return packed, hashed
		}
		longest := longestPart(parts, hashes)
		if longest < 0 {
			return append([]byte{tokenHash}, hashOf(name)...), true
		}
		hashes[longest], hashed = true, true
	}
}

// longestPart returns the index of the part whose hash saves the most bytes, or −1.
func longestPart(parts []string, hashes []bool) int {
	longest, size := -1, 1+hashSize
	for i, p := range parts {
		if n := len(packText(p)); !hashes[i] && n > size {
			longest, size = i, n
		}
	}
	return longest
}

func packParts(parts []string, hashes []bool) []byte {
	var packed []byte
	for i := 0; i < len(parts); {
		if hashes[i] {
			if i > 0 {
				packed = append(packed, '/')
			}
			packed = append(append(packed, tokenHash), hashOf(parts[i])...)
			i++
			continue
		}
		end := i
		for end < len(parts) && !hashes[end] {
			end++
		}
		text := strings.Join(parts[i:end], "/")
		if i > 0 {
			text = "/" + text
		}
		packed, i = append(packed, packText(text)...), end
	}
	return packed
}

// packText packs text without hashes.
func packText(text string) (packed []byte) {
	for text != "" {
		if w := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(text, w) }); w >= 0 {
			packed, text = append(packed, byte(firstWord+w)), text[len(words[w]):]
			continue
		}
		if token, n := packNumber(text); n > len(token) {
			packed, text = append(packed, token...), text[n:]
			continue
		}
		if c := text[0]; c < 0x20 {
			packed = append(packed, tokenEscape)
		}
		packed, text = append(packed, text[0]), text[1:]
	}
	return packed
}

// packNumber returns the token for the number that text starts with, and the length of the text that it stands for. The
// length is 0 if there is no number, or one with a leading zero.
func packNumber(text string) (token []byte, n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	number, err := strconv.ParseUint(text[:n], 10, 63)
	if err != nil || n > 1 && text[0] == '0' {
		return nil, 0
	}
	kind := byte(tokenNumber)
	switch rest := text[n:]; {
	case strings.HasPrefix(rest, "_"):
		kind, n = tokenScored, n+1
	case strings.HasPrefix(rest, "-"):
		kind, n = tokenDashed, n+1
	}
	return binary.AppendUvarint([]byte{kind}, number), n
}

// unpack returns the elements of a packed path, none for the root. The error is statusBadHandle for bytes that pack
// does not make.
func unpack(packed []byte) ([]element, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	u := unpacker{rest: packed}
	for len(u.rest) > 0 {
		if !u.token() || u.text.Len() > maxPath {
			return nil, statusBadHandle
		}
	}
	if !u.end() {
		return nil, statusBadHandle
	}
	return u.elements, nil
}

// unpacker collects the elements of a packed path.
type unpacker struct {
	rest     []byte
	elements []element
	text     bytes.Buffer // of the current element
	hash     string       // of the current element
}

// token reads a token. It returns false if there can be none like it.
func (u *unpacker) token() bool {
	token := u.rest[0]
	u.rest = u.rest[1:]
	switch {
	case token == tokenHash:
		if len(u.rest) < hashSize || u.hash != "" {
			return false
		}
		u.hash, u.rest = string(u.rest[:hashSize]), u.rest[hashSize:]
	case token <= tokenDashed:
		number, n := binary.Uvarint(u.rest)
		if n <= 0 {
			return false
		}
		u.rest = u.rest[n:]
		u.text.WriteString(strconv.FormatUint(number, 10) + []string{"", "_", "-"}[token-tokenNumber])
	case token == tokenEscape:
		if len(u.rest) == 0 {
			return false
		}
		u.text.WriteByte(u.rest[0])
		u.rest = u.rest[1:]
	case token < 0x20:
		if int(token-firstWord) >= len(words) {
			return false
		}
		return u.add(words[token-firstWord])
	default:
		return u.add(string([]byte{token}))
	}
	return true
}

// add adds text, which may have slashes.
func (u *unpacker) add(text string) bool {
	for {
		before, after, slash := strings.Cut(text, "/")
		u.text.WriteString(before)
		if !slash {
			return true
		}
		if !u.end() {
			return false
		}
		text = after
	}
}

// end ends the current element.
func (u *unpacker) end() bool {
	if (u.hash == "") == (u.text.Len() == 0) {
		return false // nothing, or text beside a hash
	}
	u.elements = append(u.elements, element{u.text.String(), u.hash})
	u.text.Reset()
	u.hash = ""
	return true
}
