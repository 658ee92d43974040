package link

import (
	"net/url"
	"strings"
	"testing"
)

const viewer = "https://neuroglancer-demo.appspot.com/#!"

func TestSource(t *testing.T) {
	for text, want := range map[string]string{
		"/data/brain.zarr":                            "/data/brain.zarr",
		"/data/a|b":                                   "/data/a|b",
		"/data/a|b:c":                                 "/data/a|b:c",
		"s3://bucket/brain":                           "s3://bucket/brain",
		"https://host/brain?token=1#part":             "https://host/brain?token=1#part",
		"precomputed://gs://bucket/em":                "gs://bucket/em",
		"zarr://https://host/a.zarr?token=1":          "https://host/a.zarr?token=1",
		"zarr2://s3://bucket/a":                       "s3://bucket/a",
		"zarr3://s3://bucket/a":                       "s3://bucket/a",
		"n5://https://host/a":                         "https://host/a",
		"s3://bucket/a.zarr/|zarr3:":                  "s3://bucket/a.zarr/",
		"s3://bucket/a.zarr|zarr3:s0/":                "s3://bucket/a.zarr/s0",
		"https://host/a.zip|zip:|zarr2:":              "https://host/a.zip",
		"https://host/a.zip|zip:b.zarr/|zarr3:":       "https://host/a.zip!b.zarr",
		"https://host/a.zip?k=1|zip:b.zip|zip:|zarr:": "https://host/a.zip!b.zip?k=1",
		"s3://b/a.zip|zip:b/c.ozx|zip:d|zarr3:s0/":    "s3://b/a.zip!b/c.ozx!d/s0",
		"s3://b/a.zip|zip:|zarr3:s0/":                 "s3://b/a.zip!s0",
		"gs://bucket/em/|neuroglancer-precomputed:":   "gs://bucket/em/",
		viewer +
			`{"layers":[{"name":"em","source":"precomputed://gs://bucket/em"}]}`: "gs://bucket/em",
		viewer +
			url.PathEscape(
				`{"layers":[{"name":"em","source":{"url":"zarr://s3://bucket/a b","transform":{}}}]}`): "s3://bucket/a b",
		viewer +
			`{"layers":[{"source":["zarr://s3://b/a","zarr://s3://b/a"]},{"source":"s3://b/a|zarr2:"},{"type":"annotation"}]}`: "s3://b/a",
		viewer +
			`{"layers":[{"source":"graphene://https://host/x"},{"source":"n5://https://host/a"}]}`: "https://host/a",
	} {
		if got, err := Source(text); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestRefused: links without one source are errors, and no error has what may be secret.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"graphene://https://u:secret@host/x?token=secret": `graphene://https://host/x: expected one of zarr, n5 and precomputed, found "graphene"`,
		viewer + "https://host/state.json?secret":         "found the address of a state",
		viewer + `{"layers":[{"secret`:                    "was a part of the link lost?",
		viewer + `{"layers":[]}`:                          "found none",
		viewer + `{}`:                                     "found none",
		viewer + `{"layers":7}`:                           "layers: ",
		viewer +
			`{"layers":[{"name":"em","source":"zarr://https://u:secret@host/a?k=secret"},{"name":"seg","source":"precomputed://gs://b/c"}]}`: "has 2 sources",
	} {
		got, err := Source(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzSource(f *testing.F) {
	f.Add(viewer + `{"layers":[{"name":"em","source":"precomputed://gs://bucket/em"}]}`)
	f.Add("s3://bucket/a.zarr/|zarr3:")
	f.Fuzz(func(t *testing.T, text string) {
		if source, err := Source(text); err == nil && len(source) > len(text)+1 {
			t.Fatalf("%q became %q", text, source)
		}
	})
}
