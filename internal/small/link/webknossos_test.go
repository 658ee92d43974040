package link

import (
	"errors"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

func TestParseWEBKNOSSOS(t *testing.T) {
	const id = "0123456789abcdef01234567"
	for text, want := range map[string]string{
		"https://wk.org/datasets/brain-cortex-" + id + "/view": "https://wk.org|api/v9/datasets/" + id +
			"|api/datasets/" + id + "|",
		"https://wk.org/datasets/" + id + "/view?token=s#12,34,5,0,1.3": "https://wk.org|api/v9/datasets/" + id +
			"|api/datasets/" + id + "|s",
		"http://localhost:9000/datasets/org/brain/view#1,2,3": "http://localhost:9000|api/v8/datasets/org/brain|",
		"https://host/lab/datasets/org/brain/view?a=b":        "https://host/lab|api/v8/datasets/org/brain|",
		"https://wk.org/datasets/brain-" + id + "/sandbox/skeleton#1": "https://wk.org|api/v9/datasets/" + id +
			"|api/datasets/" + id + "|",
		"https://host/datasets/org/brain":            "",
		"https://host/datasets/brain-" + id:          "",
		"s3://bucket/datasets/org/brain/view":        "",
		"/data/datasets/org/brain/view":              "",
		"https://host/datasets/org/brain/view/color": "",
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

func TestRefuseWEBKNOSSOS(t *testing.T) {
	const id = "0123456789abcdef01234567"
	for text, want := range map[string]string{
		"https://wk.org/annotations/" + id + "#12,34,5,0,1.3":            "download the annotation",
		"https://wk.org/annotations/Explorational/" + id + "?token=very": "download the annotation",
		"http://localhost:9000/annotations/Task/" + id:                   "download the annotation",
		"https://host/lab/annotations/CompoundProject/" + id:             "download the annotation",
		"https://webknossos.org/links/abc_DEF-123":                       "copy the address",
		"https://host/links/abc":                                         "",
		"https://wk.org/data/annotations/zarr/" + id + "/color":          "",
		"https://wk.org/datasets/brain-" + id + "/view":                  "",
		"https://host/annotations/mine.zip":                              "",
		"/data/annotations/" + id:                                        "",
		"s3://bucket/annotations/" + id:                                  "",
	} {
		err := RefuseWEBKNOSSOS(text)
		found, ok := errors.AsType[*hint.Error](err)
		if (want != "") != ok || ok && !strings.Contains(found.Hint, want) ||
			ok && strings.Contains(err.Error(), "very") {
			t.Errorf("%s: got %v, %+v, want %q", text, err, found, want)
		}
	}
}
