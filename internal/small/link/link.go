// Package link finds the source in what users paste: a link of Neuroglancer, or one of its URLs with a format. It is
// pure: it asks nobody.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A link of Neuroglancer is mounted as its source. Errors show no query and no user of a URL.
//     `TestPastedLinks`
//   - A link of a dataset in WEBKNOSSOS opens what its data store streams. Its token is in each request and in no
//     output. The link of an annotation is an error that says what to do. `TestLinkOfWEBKNOSSOS`,
//     `TestParseWEBKNOSSOS`, `TestRefuseWEBKNOSSOS`
package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// formats are the names of formats that Neuroglancer writes after a URL, as in |zarr3: or |zip:, and before it, as in
// zarr3://.
var formats = []string{"zarr", "zarr2", "zarr3", "n5", "neuroglancer-precomputed", "precomputed", "wkw"}

const maxLayers = 1000

// Source returns the path or the URL of the source that a text names. A text that is neither a link nor a URL with a
// format is returned as it is. A link with several sources is an error that lists them. Errors have no query and no
// user of a URL: these may be secrets.
func Source(text string) (string, error) {
	scheme, _, _ := strings.Cut(text, "://")
	_, state, isLink := strings.Cut(text, "#!")
	if !isLink || scheme != "http" && scheme != "https" {
		return withoutFormat(text)
	}
	layers, err := layersOf(state)
	if err != nil {
		return "", fmt.Errorf("the link of Neuroglancer: %w", err)
	}
	var found, lines []string
	for _, l := range layers {
		source, err := withoutFormat(l.source)
		if err != nil {
			continue
		}
		known := false
		for _, f := range found {
			known = known || f == source
		}
		if !known {
			found, lines = append(found, source), append(lines, fmt.Sprintf("%s (layer %q)", Shown(source),
				jsonlimit.Abbreviate(l.name)))
		}
	}
	switch len(found) {
	case 0:
		return "",
			errors.New(
				"the link of Neuroglancer: expected a layer with a source in Zarr, N5 or Precomputed, found none")
	case 1:
		return found[0], nil
	}
	return "", hint.Usagef("name one of them as SOURCE: "+strings.Join(lines, ", "),
		"the link of Neuroglancer has %d sources", len(found))
}

// layer is a layer of a link, with one of its sources.
type layer struct{ name, source string }

// layersOf parses the state of Neuroglancer in a link: JSON that is escaped as in URLs.
func layersOf(state string) ([]layer, error) {
	text, err := url.PathUnescape(state)
	if err != nil {
		text = state // as people write it
	}
	if !strings.HasPrefix(text, "{") {
		return nil,
			errors.New(
				"expected {…} after #!, found the address of a state; open it in a browser, and copy the source of a layer")
	}
	var s struct{ Layers json.RawMessage }
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, errors.New("expected JSON after #!, found something else; was a part of the link lost?")
	}
	if s.Layers == nil {
		return nil, nil
	}
	list, err := jsonlimit.List[struct {
		Name   string
		Source json.RawMessage
	}](s.Layers, maxLayers, "layers")
	if err != nil {
		return nil, fmt.Errorf("layers: %w", err)
	}
	var all []layer
	for _, l := range list {
		for _, source := range sourcesOf(l.Source) {
			all = append(all, layer{l.Name, source})
		}
	}
	return all, nil
}

// sourcesOf parses the source of a layer: a URL, an object with one, or a list of these.
func sourcesOf(raw json.RawMessage) []string {
	list, err := jsonlimit.List[json.RawMessage](raw, maxLayers, "sources")
	if err != nil {
		list = []json.RawMessage{raw}
	}
	var all []string
	for _, one := range list {
		var source struct{ URL string }
		if json.Unmarshal(one, &source.URL) == nil || json.Unmarshal(one, &source) == nil {
			all = append(all, source.URL)
		}
	}
	return all
}

// withoutFormat returns a URL without the format that Neuroglancer writes before it or after it. It fails for a format
// that is no source.
func withoutFormat(text string) (string, error) {
	text, rest, _ := cutPipes(text)
	for _, step := range rest {
		format, below, _ := strings.Cut(step, ":")
		below = strings.Trim(below, "/")
		switch {
		case below == "":
		case format == "zip":
			text = extended(text, "!"+below)
		default:
			text = extended(text, separator(text)+below)
		}
	}
	scheme, below, ok := strings.Cut(text, "://")
	inner, _, nested := strings.Cut(below, "://")
	if !ok || !nested || strings.ContainsAny(inner, "/?#") {
		return text, nil
	}
	for _, f := range formats {
		if scheme == f {
			return below, nil
		}
	}
	return "", fmt.Errorf("%s: expected one of zarr, n5 and precomputed, found %q", Shown(text),
		jsonlimit.Abbreviate(scheme))
}

// extended returns a URL with a text at the end of its path.
func extended(url, more string) string {
	at := strings.IndexAny(url, "?#")
	if at < 0 {
		at = len(url)
	}
	return strings.TrimRight(url[:at], "/") + more + url[at:]
}

// separator returns what is between a URL and a path in it: ! for a path in an archive.
func separator(url string) string {
	url, _, _ = strings.Cut(url, "?")
	if suffix := strings.ToLower(path.Ext(strings.TrimRight(url, "/"))); suffix == ".zip" || suffix == ".ozx" {
		return "!"
	}
	return "/"
}

// cutPipes cuts the formats after a URL: URL|zip:|zarr3:. A text whose last part has no known format is a path, and has
// none.
func cutPipes(text string) (url string, steps []string, ok bool) {
	parts := strings.Split(text, "|")
	for _, step := range parts[1:] {
		name, _, hasColon := strings.Cut(step, ":")
		known := name == "zip"
		for _, f := range formats {
			known = known || name == f
		}
		if !hasColon || !known {
			return text, nil, false
		}
	}
	return parts[0], parts[1:], len(parts) > 1
}

// Shown returns a URL without its query and its user, which may be secrets.
func Shown(rawURL string) string {
	rawURL, _, _ = strings.Cut(rawURL, "?")
	start := strings.LastIndex(rawURL, "://")
	if start < 0 {
		return rawURL
	}
	host, path, hasPath := strings.Cut(rawURL[start+3:], "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if hasPath {
		path = "/" + path
	}
	return rawURL[:start+3] + host + path
}
