package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Replies of minGzip to maxGzip bytes may be compressed. For smaller ones it does not pay. For larger ones the client
// needs the length, and ranges to resume a download.
const (
	minGzip = 1 << 10
	maxGzip = 64 << 20
)

// gzipSuffix ends the ETag of a compressed reply. Its bytes differ from those of the plain reply, so RFC 9110, 8.8.3.3,
// demands another ETag.
const gzipSuffix = `-gzip"`

func gzipTag(tag string) string { return strings.TrimSuffix(tag, `"`) + gzipSuffix }

// negotiateGzip decides whether a reply of size bytes may be compressed. It also removes gzipSuffix from If-None-Match:
// http.ServeContent knows only the plain tags.
func (w *response) negotiateGzip(r *http.Request, size int64) {
	w.Header().Add("Vary", "Accept-Encoding")
	w.mayCompress = r.Method == http.MethodGet && r.Header.Get("Range") == "" && size >= minGzip && size <= maxGzip &&
		acceptsGzip(r)
	tags := r.Header.Get("If-None-Match")
	if w.clientHasGzip = strings.Contains(tags, gzipSuffix); w.clientHasGzip {
		r.Header.Set("If-None-Match", strings.ReplaceAll(tags, gzipSuffix, `"`))
	}
}

// acceptsGzip reports whether Accept-Encoding allows gzip. RFC 9110, 12.5.3.
func acceptsGzip(r *http.Request) bool {
	accepts := false
	for _, list := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(list, ",") {
			switch coding, quality := splitQuality(item); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				return quality > 0
			case coding == "*":
				accepts = quality > 0
			}
		}
	}
	return accepts
}

// splitQuality splits "name;q=0.5". Without q, the quality is 1. If q is not a number, it is 0. RFC 9110, 12.4.2.
func splitQuality(item string) (name string, quality float64) {
	name, parameters, _ := strings.Cut(item, ";")
	quality = 1
	for p := range strings.SplitSeq(parameters, ";") {
		if key, value, ok := strings.Cut(strings.TrimSpace(p), "="); ok && strings.EqualFold(key, "q") {
			quality, _ = strconv.ParseFloat(value, 64)
		}
	}
	return strings.TrimSpace(name), quality
}

// worthCompressing reports whether the first bytes of a reply shrink to two thirds. IDs and metadata shrink to a
// fraction. Grey values of a microscope and compressed files do not.
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

// compressors are large, so they are reused.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // BestSpeed is a valid level
	}
	return z
}}

func newGzip(to io.Writer) *gzip.Writer {
	z := compressors.Get().(*gzip.Writer)
	z.Reset(to)
	return z
}

func putGzip(z *gzip.Writer) { compressors.Put(z) }
