package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Smaller files are not worth the time, and of larger ones the client wants to see the
// length, and to go on where it stopped.
const (
	minGzip = 1 << 10
	maxGzip = 64 << 20
)

// gzipSuffix marks the version of a compressed reply: its bytes are others, and
// RFC 9110, 8.8.3.3, wants another name for them.
const gzipSuffix = `-gzip"`

func gzipTag(tag string) string { return strings.TrimSuffix(tag, `"`) + gzipSuffix }

// negotiateGzip finds out whether a file of size bytes may be sent compressed, and
// lets http.ServeContent, which knows nothing of that, recognise the version of what
// the client has.
func (w *response) negotiateGzip(r *http.Request, size int64) {
	w.Header().Add("Vary", "Accept-Encoding")
	w.mayCompress = r.Method == http.MethodGet && r.Header.Get("Range") == "" && size >= minGzip && size <= maxGzip && acceptsGzip(r)
	has := r.Header.Get("If-None-Match")
	if w.hasGzip = strings.Contains(has, gzipSuffix); w.hasGzip {
		r.Header.Set("If-None-Match", strings.ReplaceAll(has, gzipSuffix, `"`))
	}
}

// acceptsGzip reads Accept-Encoding. RFC 9110, 12.5.3.
func acceptsGzip(r *http.Request) bool {
	accepts := false
	for _, list := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(list, ",") {
			switch coding, quality := weighted(item); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				return quality > 0
			case coding == "*":
				accepts = quality > 0
			}
		}
	}
	return accepts
}

// weighted splits "name;q=0.5"; without a weight it is 1. RFC 9110, 12.4.2.
func weighted(item string) (name string, quality float64) {
	name, parameters, _ := strings.Cut(item, ";")
	quality = 1
	for p := range strings.SplitSeq(parameters, ";") {
		if key, value, ok := strings.Cut(strings.TrimSpace(p), "="); ok && strings.EqualFold(key, "q") {
			quality, _ = strconv.ParseFloat(value, 64) // what is no number weighs nothing
		}
	}
	return strings.TrimSpace(name), quality
}

// worthCompressing tries the first bytes: ids and metadata shrink to a fraction, grey
// values of a microscope and what is compressed already do not.
func worthCompressing(first []byte) bool {
	first = first[:min(len(first), 16<<10)]
	var n counter
	z := newGzip(&n)
	defer putGzip(z)
	if _, err := z.Write(first); err != nil {
		return false
	}
	return z.Close() == nil && int(n) < len(first)*2/3
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Compressors are large: they are used again.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}}

func newGzip(to io.Writer) *gzip.Writer {
	z := compressors.Get().(*gzip.Writer)
	z.Reset(to)
	return z
}

func putGzip(z *gzip.Writer) { compressors.Put(z) }
