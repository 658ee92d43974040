package link

import (
	"net/url"
	"regexp"
	"strings"
)

// WEBKNOSSOS is the link of a dataset in WEBKNOSSOS: SERVER/datasets/NAME-ID/view, or
// SERVER/datasets/ORGANIZATION/NAME/view as older versions write it.
type WEBKNOSSOS struct {
	Server string   // its URL
	Paths  []string // of the description of the dataset in the API of the server; the first that exists counts
	Token  string   // of a link that is shared; "" if there is none
}

// webknossosLinks match the path of a link of a dataset, with an ID or with an organization.
var (
	webknossosByID   = regexp.MustCompile(`^(https?://[^/]+(?:/.*)?)/datasets/(?:[^/]*-)?([0-9a-f]{24})/view$`)
	webknossosByName = regexp.MustCompile(`^(https?://[^/]+(?:/.*)?)/datasets/([^/]+)/([^/]+)/view$`)
)

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
