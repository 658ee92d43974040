package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/host/terminal"
	"github.com/wkwfs/wkwfs/internal/serve/preview"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// previewSettings are the settings of a preview.
type previewSettings struct {
	form previewForm
	mag  string
	z    planeFlag
}

// planeFlag is the z of a plane, or none.
type planeFlag struct{ z *int }

// Set parses a number.
func (f *planeFlag) Set(text string) error {
	z, err := strconv.Atoi(text)
	if err != nil || z > maxPlane || z < -maxPlane {
		return hint.Usagef("", "%q is not a whole number from %d to %d", text, -maxPlane, maxPlane)
	}
	f.z = &z
	return nil
}

// maxPlane is the largest number of voxels that a source may have on an axis.
const maxPlane = 1 << 40

func (f *planeFlag) String() string {
	if f.z == nil {
		return ""
	}
	return strconv.Itoa(*f.z)
}

// Type returns what help texts call the value.
func (f *planeFlag) Type() string { return "Z" }

func (s *previewSettings) register(flags *pflag.FlagSet) {
	flags.Var(&s.form, "preview", "draw a plane of LAYER: auto, blocks or text")
	flags.Lookup("preview").NoOptDefVal = string(autoForm)
	flags.StringVar(&s.mag, "mag", "",
		"with --preview: draw mag `NAME` (default: the coarsest that fills the terminal)")
	flags.Var(&s.z, "z", "with --preview: draw the plane at voxel Z of mag 1 (default: the middle one)")
}

// args checks the arguments, and the flags that exclude each other.
func (s *previewSettings) args(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	for _, name := range []string{"mag", "z"} {
		if s.form == "" && flags.Changed(name) {
			return hint.Usagef("wkwfs info --preview draws a plane", "--%s: only with --preview", name)
		}
	}
	switch {
	case s.form == "" && len(args) == 2:
		return hint.Usagef("wkwfs info "+hint.Quote(args[0]+"/"+args[1]), "info: LAYER %q: only with --preview",
			args[1])
	case s.form == "" || len(args) < 1:
		return exactArgs("SOURCE")(cmd, args)
	case flags.Changed("json"):
		return hint.Usagef("", "--preview and --json exclude each other")
	}
	return exactArgs("SOURCE", "LAYER")(cmd, append(args, "")[:max(len(args), 2)])
}

// previewForm is the value of --preview: a form of a terminal, auto, or empty for no preview.
type previewForm string

const autoForm previewForm = "auto"

// previewForms returns all values.
func previewForms() []string {
	all := []string{string(autoForm)}
	for _, f := range terminal.Forms() {
		all = append(all, string(f))
	}
	return all
}

// Set parses a form.
func (f *previewForm) Set(text string) error {
	if !slices.Contains(previewForms(), text) {
		return hint.Usagef("write "+orList(previewForms()), "%q is not a form of a preview", text)
	}
	*f = previewForm(text)
	return nil
}

func (f *previewForm) String() string { return string(*f) }

// Type returns what help texts call the value.
func (f *previewForm) Type() string { return "FORM" }

// run draws a plane of a layer. The arguments are the source that was opened and, of a dataset, the name of a layer.
// While the source answers late, depth requests are in flight.
func (s *previewSettings) run(ctx context.Context, args []string, opened *dataset.Dataset, depth int, stdout,
	stderr io.Writer) error {
	path, layer := args[0], strings.Join(args[1:], "")
	chosen, err := chooseLayer(opened.Root, layer)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	mags, err := chosen.mags()
	switch {
	case len(mags) == 0:
		return fmt.Errorf("%s: nothing to draw: %w", path, cmp.Or(err, errors.New("no mags found")))
	case err != nil: // the others can be drawn
		fmt.Fprintf(stderr, "wkwfs: %s\n", hint.OneLine(err.Error()))
	}
	screen := s.screen(stdout)
	o := preview.Options{Mag: s.mag, Z: s.z.z, Jobs: processors}
	o.Width, o.Height, o.PixelAspect = screen.Pixels()
	if opened.Late() {
		o.Jobs = max(o.Jobs, depth)
	}
	p, err := preview.Draw(ctx, mags, o)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := screen.Draw(stdout, p.Image); err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, chosen.caption(p)); err != nil {
		return err
	}
	return damageOf(p, path, stderr)
}

// screen returns the terminal with the form that the user wants.
func (s *previewSettings) screen(stdout io.Writer) terminal.Screen {
	screen := terminal.Detect(stdout, os.Getenv)
	if s.form != autoForm {
		screen.Form = terminal.Form(s.form)
	}
	return screen
}

// damageOf prints the first faults of a picture. It returns an error if it has any.
func damageOf(p *preview.Picture, path string, stderr io.Writer) error {
	if p.Damaged == 0 {
		return nil
	}
	for _, err := range p.Faults {
		fmt.Fprintf(stderr, "wkwfs: %s\n", hint.OneLine(err.Error()))
	}
	return hint.Errorf("wkwfs check "+hint.Quote(path)+" finds all damage",
		"%d of %d blocks of the picture cannot be read: they have stripes", p.Damaged, p.Blocks)
}
