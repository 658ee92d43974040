package link

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// WEBKNOSSOS is the link of a dataset in WEBKNOSSOS: SERVER/datasets/NAME-ID/view or /sandbox/…, or
// SERVER/datasets/ORGANIZATION/NAME/view as older versions write it.
type WEBKNOSSOS struct {
	Server string   // its URL
	Paths  []string // of the description of the dataset in the API of the server; the first that exists counts
	Token  string   // of a link that is shared; "" if there is none
}

// webknossosLinks match the path of a link of a dataset, with an ID or with an organization.
var (
	webknossosByID = regexp.MustCompile(
		`^(https?://[^/]+(?:/.*)?)/datasets/(?:[^/]*-)?([0-9a-f]{24})/(?:view|sandbox/[a-z]+)$`)
	webknossosByName = regexp.MustCompile(`^(https?://[^/]+(?:/.*)?)/datasets/([^/]+)/([^/]+)/view$`)
)

// annotationLink matches the path of a link of an annotation: SERVER/annotations/ID, or SERVER/annotations/TYPE/ID as
// older versions write it. shortLink matches one that a script in the browser expands.
var (
	annotationLink = regexp.MustCompile(
		`^https?://[^/]+(?:/.*)?/annotations/(?:(?:Explorational|Task|View|Sandbox|Compound[A-Za-z]+)/)?[0-9a-f]{24}(?:/[a-z]*)?$`)
	shortLink = regexp.MustCompile(`^https?://(?:www\.)?webknossos\.org/links/[^/]+$`)
)

// RefuseWEBKNOSSOS returns an error that says what to do instead for a link of WEBKNOSSOS that names no dataset: that
// of an annotation, or a short one. It returns nil for all other texts.
func RefuseWEBKNOSSOS(text string) error {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	switch {
	case annotationLink.MatchString(text):
		return hint.Errorf(
			"download the annotation in WEBKNOSSOS, and mount the zip: wkwfs mount annotation.zip --over DATASET MNT",
			"%s is the link of an annotation of WEBKNOSSOS", Shown(text))
	case shortLink.MatchString(text):
		return hint.Errorf("open it in a browser, and copy the address of the dataset",
			"%s is a short link of WEBKNOSSOS", Shown(text))
	}
	return nil
}

// ParseWEBKNOSSOS parses the link of a dataset. ok is false if the text is none.
func ParseWEBKNOSSOS(text string) (l WEBKNOSSOS, ok bool) {
	text, _, _ = strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	if values, err := url.ParseQuery(query); err == nil {
		l.Token = values.Get("token")
	}
	if m := webknossosByID.FindStringSubmatch(text); m != nil {
		l.Server, l.Paths = m[1], []string{"api/v9/datasets/" + m[2], "api/datasets/" + m[2]}
		return l, true
	}
	if m := webknossosByName.FindStringSubmatch(text); m != nil {
		l.Server, l.Paths = m[1], []string{"api/v8/datasets/" + m[2] + "/" + m[3]}
		return l, true
	}
	return l, false
}
