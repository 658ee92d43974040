package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestPreview compares pictures of characters, and the lines below them, with golden files. They are of data that other
// programs wrote: all types, RGB, segments, mags, single cubes.
func TestPreview(t *testing.T) {
	t.Setenv("COLUMNS", "48")
	t.Setenv("LINES", "24")
	for _, test := range []struct {
		golden string
		args   []string // the source, in refdata
	}{
		{"rgb", []string{"wkw/rgb"}},
		{"image", []string{"wkw/sparse", "--z", "64"}},
		{"mag", []string{"wkw/sparse", "color", "--mag", "4-4-2", "--z", "45"}},
		{"segmentation", []string{"wkw/sparse", "segmentation"}},
		{"zeros", []string{"wkw/sparse"}},
		{"cube", []string{"wkw/sparse/color/1/z0/y0/x0.wkw"}},
		{"annotation", []string{"forms/annotation"}},
		{"int8", []string{"wkw/type_int8"}},
		{"uint64", []string{"wkw/type_uint64"}},
		{"double", []string{"wkw/type_double"}},
		{"two_channels", []string{"wkw/two_channels"}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			args := append([]string{"--preview", refdata.Dir(t, test.args[0])}, test.args[1:]...)
			got := runInfo(t, args...)
			golden := filepath.Join("testdata", "preview", test.golden+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestPreviewDamage: what cannot be read has stripes, and the faults follow.
func TestPreviewDamage(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	t.Setenv("LINES", "24")
	var stdout, stderr bytes.Buffer
	damaged := filepath.Join("..", "..", "testdata", "damaged")
	if code := run([]string{"info", "--preview=blocks", damaged}, &stdout, &stderr); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stdout.String(), "38;5;196") || !strings.Contains(stdout.String(), "color, mag 1, z ") {
		t.Errorf("printed %q", stdout.String())
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], ".wkw: ") ||
		!strings.Contains(lines[3], "blocks of the picture cannot be read: they have stripes") ||
		lines[4] != "hint: wkwfs check "+damaged+" finds all damage" {
		t.Errorf("stderr: %q", lines)
	}
}

// TestPreviewForms: each form can be chosen, also where there is no terminal.
func TestPreviewForms(t *testing.T) {
	for form, want := range map[string]string{
		"auto": "color, ", "text": "color, ", "blocks": "\x1b[38;5;",
	} {
		if got := runInfo(t, "--preview="+form, refdata.Dir(t, "wkw/rgb")); !strings.Contains(got, want) {
			t.Errorf("%s: got %.100q, want %q in it", form, got, want)
		}
	}
	if len(previewForms()) != 3 {
		t.Errorf("forms: %q", previewForms())
	}
}

func TestPreviewErrors(t *testing.T) {
	sparse := refdata.Dir(t, "wkw/sparse")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--preview"}, exitUsage, "missing SOURCE"},
		{[]string{"--preview", sparse, "color", "more"}, exitUsage, `unexpected argument "more"`},
		{[]string{sparse, "color"}, exitUsage, `LAYER "color": only with --preview`},
		{[]string{"--preview=smoke", sparse}, exitUsage, `"smoke" is not a form of a preview`},
		{[]string{"--preview", "--json", sparse}, exitUsage, "exclude each other"},
		{[]string{"--mag", "1", sparse}, exitUsage, "--mag: only with --preview"},
		{[]string{"--z", "1", sparse}, exitUsage, "--z: only with --preview"},
		{[]string{"--preview", "--z", "1e3", sparse}, exitUsage, `"1e3" is not a whole number`},
		{[]string{"--preview", "--z", "99999999999999", sparse}, exitUsage, "is not a whole number from"},
		{[]string{"--preview", "--z", "999999", sparse}, exitFailed, "z 999999 is not in the layer: expected 30 to 79"},
		{[]string{"--preview", "--mag", "3", sparse}, exitFailed, `no mag "3", only 1, 2-2-1, 4-4-2` + "\n"},
		{[]string{"--preview", "--mag", "3", filepath.Join(sparse, "color", "2-2-1")}, exitFailed,
			`no mag "3", only 2-2-1` + "\n"},
		{[]string{"--preview", sparse, "colour"}, exitFailed, `no layer "colour"` + "\nhint: did you mean color?"},
		{[]string{"--preview", sparse, "nuclei"}, exitFailed,
			`no layer "nuclei"` + "\nhint: the layers are color, segmentation"},
		{[]string{"--preview", filepath.Join(sparse, "color"), "color"}, exitUsage, "SOURCE is no dataset"},
		{[]string{"--preview", filepath.Join(sparse, "missing")}, exitFailed, "missing"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(slices.Concat([]string{"info"}, test.args), &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, %q, %q; want %d and %q", test.args, code, stdout.String(), stderr.String(),
				test.code, test.want)
		}
	}
}

// TestPreviewCanceled: a signal ends a preview before it draws.
func TestPreviewCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	s := previewSettings{form: autoForm}
	dir := refdata.Dir(t, "wkw/rgb")
	opened, err := dataset.Open(t.Context(), dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(ctx, []string{dir}, opened, 1, &stdout, &stderr); err == nil || err.Error() != "interrupted" ||
		stdout.Len() > 0 {
		t.Errorf("got %v, printed %q", err, stdout.String())
	}
}
