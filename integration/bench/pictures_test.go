package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPictures draws a report, and holds that bars are as long as the medians say.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"-from", "testdata/report.json", "-pictures", dir}
	if err := measure(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dd.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		">A whole file, read by dd<", ">E: image, computed<", ">wkwfs<", ">EROFS<", ">1.5<", ">0.5<",
		">2 × A&amp;B processor, Linux 6.18, wkwfs 1.0.0<",
		`class="own" x="246" y="86" width="430"`, `class="other" x="246" y="108" width="143"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, leftOut := range []string{"before", "O_DIRECT", "squashfs", "microscope", "mksquashfs"} {
		if strings.Contains(string(text), leftOut) {
			t.Errorf("%s is in\n%s", leftOut, text)
		}
	}
	if err := xml.Unmarshal(text, &struct{}{}); err != nil {
		t.Error(err)
	}
	reads, err := os.ReadFile(filepath.Join(dir, "random-reads.svg"))
	if err != nil || !strings.Contains(string(reads), ">1200<") {
		t.Errorf("not the first figure: %v\n%s", err, reads)
	}
	if _, err := os.Stat(filepath.Join(dir, "patches.svg")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a picture without figures: %v", err)
	}
}

// TestPicturesHaveJobs holds that each job that a picture names exists.
func TestPicturesHaveJobs(t *testing.T) {
	jobs := (&bench{}).jobs()
	for _, p := range pictures {
		for _, bar := range p.bars {
			if !slices.ContainsFunc(jobs, func(j job) bool { return j.name == bar.work }) {
				t.Errorf("%s: no job %q", p.file, bar.work)
			}
		}
	}
}
