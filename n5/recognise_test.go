package n5

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

const soundArray = `{"dimensions":[8,9,10],"blockSize":[4,4,4],"dataType":"uint16","compression":{"type":"gzip"}}`

// TestNotRecognised: a file, and a directory without attributes, are not N5. Attributes that cannot be parsed are an
// error.
func TestNotRecognised(t *testing.T) {
	files := fstest.MapFS{"file": &fstest.MapFile{}, "dir/file": &fstest.MapFile{},
		"bad/attributes.json": &fstest.MapFile{Data: []byte("{")}}
	for _, name := range []string{"file", "dir"} {
		if _, err := Recognise(files, name); err != ErrNotRecognised {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Recognise(files, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := Recognise(files, "bad"); err == nil || !strings.Contains(err.Error(), "bad/attributes.json: JSON") {
		t.Errorf("got %v", err)
	}
}

// TestGroups opens groups: of resolutions, of BigDataViewer's setups and time points, and of other arrays.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  []string // layers with their mags; a layer without a name is the source
	}{
		{map[string]string{"": `{}`, "s0": soundArray, "s1": soundArray, "s10": soundArray}, []string{" s0 s1 s10"}},
		{map[string]string{"": `{"n5":"2.0.0"}`, "a": soundArray, "b/c": soundArray}, []string{"a 1", "b_c 1"}},
		{map[string]string{"": `{"n5":"2.0.0"}`, "setup0": `{"downsamplingFactors":[[1,1,1],[2,2,1]]}`,
			"setup0/timepoint0/s0": soundArray, "setup0/timepoint0/s1": soundArray},
			[]string{"setup0_timepoint0 s0 s1"}},
		{map[string]string{"": `{}`, "1": soundArray, "2-2-1": soundArray}, []string{" 1 2-2-1"}},
		{map[string]string{"": `{}`, "s0": soundArray, "s1": `{"dimensions":[1]}`}, []string{" s0"}},
	} {
		files := fstest.MapFS{}
		for dir, attributes := range c.files {
			files[strings.TrimPrefix(dir+"/"+attributesFile, "/")] = &fstest.MapFile{Data: []byte(attributes)}
		}
		r, err := Recognise(files, ".")
		if err != nil {
			t.Errorf("%v: %v", c.want, err)
			continue
		}
		var got []string
		add := func(name string, l volume.Layer) {
			mags, err := l.Mags()
			if err != nil {
				t.Error(err)
			}
			got = append(got, name+" "+strings.Join(mags, " "))
		}
		if r.Layer != nil {
			add("", r.Layer)
		} else {
			names, err := r.Dataset.Layers()
			if err != nil {
				t.Error(err)
			}
			for _, name := range names {
				l, err := r.Dataset.Layer(name)
				if err != nil {
					t.Fatal(err)
				}
				add(name, l)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("got %q, expected %q", got, c.want)
		}
	}
}

// TestRefused: attributes that break the format, or are not supported, are refused with the name of the field.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ old, new, err string }{
		{`8,9,10`, `8,9,10`, ""},
		{`8,9,10`, `8,9,-1`, "shape: expected numbers from 1"},
		{`8,9,10`, `8,9,9e99`, "dimensions: expected a whole number up to 2^40"},
		{`4,4,4`, `4,4`, "chunk: expected 3 numbers, found 2"},
		{`4,4,4`, `4,4,0`, "chunk: expected numbers from 1"},
		{`"uint16"`, `"string"`, "unsupported dataType"},
		{`"gzip"`, `"jpeg"`, `unsupported compression: expected a compression that is known, found "jpeg"`},
		{`"compression":{"type":"gzip"}`, `"compressionType":"gzip"`, ""},
		{`8,9,10`, `8,9,10,2,3`,
			`unsupported axis "t": expected length 1, because only x, y, z and channels are shown, found 3: copy`},
	} {
		changed := strings.Replace(soundArray, c.old, c.new, 1)
		if strings.Count(c.new, ",") == 4 {
			changed = strings.Replace(changed, "4,4,4", "4,4,4,1,1", 1)
		}
		_, err := OpenArray(fstest.MapFS{attributesFile: &fstest.MapFile{Data: []byte(changed)}}, ".", ArrayOptions{})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, expected %q", c.new, err, c.err)
		}
	}
}

// TestHeader parses the headers of blocks.
func TestHeader(t *testing.T) {
	parse := headerParser(2)
	for _, c := range []struct {
		header, err string
	}{
		{"\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04", ""},
		{"\x00\x01\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x0c", ""},
		{"\x00\x01\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x0d",
			"number of values at byte 12: expected 12, found 13"},
		{"\x00\x01\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00",
			"number of values at byte 12: expected 4 bytes, found 1"},
		{"\x00\x02\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04", "mode at byte 0: expected 0 or 1, found 2"},
		{"\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x00\x04", "number of axes at byte 2: expected 2, found 3"},
		{"\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00", "block header at byte 0: expected 12 bytes, found 11"},
		{"", "block header at byte 0: expected 12 bytes, found 0"},
	} {
		rest := "payload"
		if c.err != "" {
			rest = ""
		}
		payload, size, err := parse([]byte(c.header + rest))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: got %v, expected %q", c.header, err, c.err)
			}
			continue
		}
		if err != nil || string(payload) != rest || !slices.Equal(size, []int{3, 4}) {
			t.Errorf("%q: got %q, %v, %v", c.header, payload, size, err)
		}
	}
}
