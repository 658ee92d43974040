package nml

import (
	"strings"
	"testing"
	"testing/fstest"
)

const sound = `<?xml version="1.0"?>
<things>
  <parameters><experiment name="a &amp; b" /><scale x="0.011" y="0.012" z="28" unit="micrometer" /></parameters>
  <thing id="1" name="tree"><nodes><node id="1" radius="2.5" x="4" y="6" z="3" /><node id="2" x="5" y="6" z="3" /></nodes>
  <edges><edge source="1" target="2" /></edges></thing>
  <volume id="0" name="Volume" location="data.zip" fallbackLayer="segmentation" mappingName="m" editedMappingEdgesLocation="e.zip"><segments/></volume>
  <volume id="1" />
</things>`

func read(content string) (*Annotation, error) {
	return Read(fstest.MapFS{"a.nml": {Data: []byte(content)}}, "a.nml")
}

func TestRead(t *testing.T) {
	a, err := read(sound)
	if err != nil {
		t.Fatal(err)
	}
	if a.Dataset != "a & b" || a.Spacing != [3]float64{11, 12, 28000} || len(a.Volumes) != 2 {
		t.Errorf("%+v", a)
	}
	if want := (Volume{"0", "Volume", "data.zip", "segmentation", "m", true}); a.Volumes[0] != want {
		t.Errorf("got %+v, expected %+v", a.Volumes[0], want)
	}
	tree := a.Trees[0]
	if len(a.Trees) != 1 || len(tree.Nodes) != 2 || tree.Edges[0] != [2]int64{1, 2} ||
		tree.Nodes[0] != (Node{1, 2.5, [3]float64{4, 6, 3}}) {
		t.Errorf("%+v", a.Trees)
	}
}

// TestCutOff: a file that ends anywhere before its end is an error with an offset, or the whole annotation is there.
func TestCutOff(t *testing.T) {
	for n := range len(sound) - 1 {
		if _, err := read(sound[:n]); err == nil || !strings.Contains(err.Error(), "a.nml: NML at byte ") {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

func TestHostile(t *testing.T) {
	for content, want := range map[string]string{
		`<!DOCTYPE x [<!ENTITY a "aa">]><things>&a;</things>`:                  "expected no document type",
		`<things>&other;</things>`:                                             "invalid character entity &other;",
		`<html></html>`:                                                        `expected the element things, found "html"`,
		`<things></things></things>`:                                           "expected no end of an element",
		`<things><node id="1"/></things>`:                                      "node: expected it in a thing",
		`<things><thing id="1"><nodes><node id="x"/></nodes></thing></things>`: "node: id: expected an integer",
		`<things><thing id="1"><edge source="1" target=""/></thing></things>`:  "edge: target: expected an integer",
		`<things>` + strings.Repeat(`<volume id="1"/>`, 1001) + `</things>`:    "volume: expected at most 1000",
	} {
		if _, err := read(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: got %v, expected %q", content, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sound)
	f.Fuzz(func(t *testing.T, content string) { read(content) }) // it must end
}
