package remote

// A mag of 100,000 cubes has a hundred pages of listings, and encoding/xml takes half of the processor time of reading
// them. This file is a parser for the plain XML that servers send. What it does not understand is left to encoding/xml,
// so it decides about speed only: FuzzScanListing compares both.

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// parseListing parses an answer to ListObjectsV2. Nearly all answers are plain enough for scanListing, which takes a
// sixth of the time of encoding/xml.
func parseListing(body []byte) (l listPage, err error) {
	if l, ok := scanListing(body); ok {
		return l, nil
	}
	err = xml.Unmarshal(body, &l)
	return l, err
}

// scanListing parses a listing in plain XML. It returns false for all that encoding/xml may understand otherwise: bytes
// that are not printable ASCII, comments, CDATA, attributes below the root, entities of other characters than " & ' <
// >, text beside elements.
func scanListing(body []byte) (l listPage, ok bool) {
	s := scanner{rest: body}
	if !isPlain(body) || !s.prolog() {
		return l, false
	}
	ok = s.children("ListBucketResult", func(name []byte) (ok bool) {
		switch string(name) {
		case "EncodingType":
			l.Encoding, ok = s.text(name)
		case "IsTruncated":
			l.Truncated, ok = s.bool(name)
		case "NextContinuationToken":
			l.Next, ok = s.text(name)
		case "Contents":
			if l.Objects == nil {
				l.Objects = make([]listedObject, 0, min(1+bytes.Count(s.rest, []byte("<Contents>")), maxListed))
			}
			var o listedObject
			o, ok = s.object()
			l.Objects = append(l.Objects, o)
		case "CommonPrefixes":
			var p listedPrefix
			p, ok = s.prefix()
			l.Prefixes = append(l.Prefixes, p)
		default:
			ok = s.skip(name, 0)
		}
		return ok
	})
	return l, ok
}

// isPlain reports whether a document has only printable ASCII and line feeds, and no end of CDATA.
func isPlain(body []byte) bool {
	for _, c := range body {
		if c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	return !bytes.Contains(body, []byte("]]>"))
}

// scanner reads plain XML. Its methods return false for all other XML.
type scanner struct{ rest []byte }

const xmlProlog = `<?xml version="1.0" encoding="UTF-8"?>`

// plainRoot is the start of the root element. Names of attributes have no prefix.
var plainRoot = regexp.MustCompile(`^\s*<ListBucketResult( xmlns="[^"<>&]*")?>`)

// prolog reads up to the end of the start tag of the root.
func (s *scanner) prolog() bool {
	s.rest = bytes.TrimPrefix(s.rest, []byte(xmlProlog))
	n := len(plainRoot.Find(s.rest))
	s.rest = s.rest[n:]
	return n > 0
}

// next reads up to the next tag, and returns the text before it. The tag has a name only.
func (s *scanner) next() (text, name []byte, end, ok bool) {
	i := bytes.IndexByte(s.rest, '<')
	if i < 0 {
		return nil, nil, false, false
	}
	n := bytes.IndexByte(s.rest[i:], '>')
	if n < 0 {
		return nil, nil, false, false
	}
	text, name = s.rest[:i], s.rest[i+1:i+n]
	s.rest = s.rest[i+n+1:]
	name, end = bytes.CutPrefix(name, []byte("/"))
	return text, name, end, isPlainName(name)
}

func isPlainName(name []byte) bool {
	for i, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(name) > 0
}

// children reads the elements in an element, up to its end tag. child reads one of them after its start tag.
func (s *scanner) children(parent string, child func(name []byte) bool) bool {
	for {
		text, name, end, ok := s.next()
		switch {
		case !ok || len(bytes.TrimSpace(text)) > 0:
			return false
		case end:
			return string(name) == parent
		case !child(name):
			return false
		}
	}
}

// text reads the text of an element without elements, and its end tag.
func (s *scanner) text(element []byte) (string, bool) {
	text, name, end, ok := s.next()
	if !ok || !end || !bytes.Equal(name, element) {
		return "", false
	}
	return unescape(text)
}

// bool reads the text of an element as a boolean.
func (s *scanner) bool(element []byte) (value, ok bool) {
	text, ok := s.text(element)
	if !ok {
		return false, false
	}
	value, err := strconv.ParseBool(strings.TrimSpace(text))
	return value, err == nil
}

// time reads the text of an element as a time. Times have no entities.
func (s *scanner) time(element []byte) (t listedTime, ok bool) {
	text, name, end, ok := s.next()
	if !ok || !end || !bytes.Equal(name, element) || !isKnown(text) {
		return t, false
	}
	_ = t.UnmarshalText(text) // it returns no error
	return t, true
}

// object reads the children of Contents.
func (s *scanner) object() (o listedObject, ok bool) {
	ok = s.children("Contents", func(name []byte) (ok bool) {
		switch string(name) {
		case "Key":
			o.Key, ok = s.text(name)
		case "Size":
			var size string
			if size, ok = s.text(name); ok {
				var err error
				o.Size, err = strconv.ParseInt(strings.TrimSpace(size), 10, 64)
				ok = err == nil
			}
		case "LastModified":
			o.LastModified, ok = s.time(name)
		case "ETag":
			o.ETag, ok = s.text(name)
		default:
			ok = s.skip(name, 0)
		}
		return ok
	})
	return o, ok
}

// prefix reads the children of CommonPrefixes.
func (s *scanner) prefix() (p listedPrefix, ok bool) {
	ok = s.children("CommonPrefixes", func(name []byte) (ok bool) {
		if string(name) != "Prefix" {
			return s.skip(name, 0)
		}
		p.Prefix, ok = s.text(name)
		return ok
	})
	return p, ok
}

// maxNested is how deep elements that do not matter may be nested.
const maxNested = 8

// skip reads an element that does not matter, after its start tag.
func (s *scanner) skip(element []byte, depth int) bool {
	for {
		text, name, end, ok := s.next()
		if !ok || !isKnown(text) {
			return false
		}
		if end {
			return bytes.Equal(name, element)
		}
		if depth == maxNested || !s.skip(name, depth+1) {
			return false
		}
	}
}

// entities are the five of XML, and two that servers write as numbers.
var entities = strings.NewReplacer("&quot;", `"`, "&#34;", `"`, "&apos;", "'", "&#39;", "'", "&lt;", "<", "&gt;", ">",
	"&amp;", "&")

// unescape returns text with its entities replaced. It returns false if it has others.
func unescape(text []byte) (string, bool) {
	if bytes.IndexByte(text, '&') < 0 {
		return string(text), true
	}
	if inner, ok := unquote(text); ok {
		return `"` + string(inner) + `"`, true
	}
	return entities.Replace(string(text)), isKnown(text)
}

// unquote returns the text between two quotes, if it has no other entities. ETags are written so.
func unquote(text []byte) (inner []byte, ok bool) {
	for _, quote := range []string{"&quot;", "&#34;"} {
		after, starts := bytes.CutPrefix(text, []byte(quote))
		inner, ends := bytes.CutSuffix(after, []byte(quote))
		if starts && ends && bytes.IndexByte(inner, '&') < 0 {
			return inner, true
		}
	}
	return nil, false
}

// isKnown reports whether all entities of a text are known.
func isKnown(text []byte) bool {
	n := bytes.Count(text, []byte("&"))
	if n == 0 {
		return true
	}
	for _, known := range []string{"&quot;", "&#34;", "&apos;", "&#39;", "&lt;", "&gt;", "&amp;"} {
		n -= bytes.Count(text, []byte(known))
	}
	return n == 0
}
