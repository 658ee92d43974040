package link

import (
	"strings"
	"testing"
)

func TestParseWEBKNOSSOS(t *testing.T) {
	const id = "0123456789abcdef01234567"
	for text, want := range map[string]string{
		"https://wk.org/datasets/brain-cortex-" + id + "/view":          "https://wk.org|api/v9/datasets/" + id + "|api/datasets/" + id + "|",
		"https://wk.org/datasets/" + id + "/view?token=s#12,34,5,0,1.3": "https://wk.org|api/v9/datasets/" + id + "|api/datasets/" + id + "|s",
		"http://localhost:9000/datasets/org/brain/view#1,2,3":           "http://localhost:9000|api/v8/datasets/org/brain|",
		"https://host/lab/datasets/org/brain/view?a=b":                  "https://host/lab|api/v8/datasets/org/brain|",
		"https://host/datasets/org/brain":                               "",
		"https://host/datasets/brain-" + id:                             "",
		"s3://bucket/datasets/org/brain/view":                           "",
		"/data/datasets/org/brain/view":                                 "",
		"https://host/datasets/org/brain/view/color":                    "",
	} {
		l, ok := ParseWEBKNOSSOS(text)
		got := ""
		if ok {
			got = strings.Join(append(append([]string{l.Server}, l.Paths...), l.Token), "|")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
