package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/write/annotations"
)

func newEditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change a directory of edits",
		Long: `Change DIR, a volume annotation that lies in a directory: an NML file, and blocks of WKW beside it.
wkwfs import --update DIR merges it into its dataset, wkwfs cp --annotation DIR makes the zip that
WEBKNOSSOS takes, wkwfs diff lists what it changes, and wkwfs check reads it.`,
		Args: cobra.ArbitraryArgs, // an unknown command is an argument
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.Usagef("wkwfs edit revert DIR BOX", "edit: no command")
			}
			return hint.Usagef(hint.DidYouMean(args[0], []string{"revert"}, "wkwfs edit --help lists the commands"),
				"unknown command %q", "edit "+args[0])
		},
	}
	cmd.AddCommand(newRevertCommand())
	return cmd
}

// revertSettings are the settings of a reversion.
type revertSettings struct {
	dir       string
	selection annotations.Selection
	dryRun    bool
	json      bool
}

func newRevertCommand() *cobra.Command {
	var s revertSettings
	cmd := &cobra.Command{
		Use:   "revert [flags] DIR BOX",
		Short: "Remove the blocks of a box from a directory of edits",
		Long: `Remove the blocks of DIR that lie in BOX, so that the layer below is shown there again. What was
edited in them is lost. The blocks are printed before they are removed.

BOX is X0-X1_Y0-Y1_Z0-Z1, as box/ of a mount has it, in voxels of mag 1; with --mag in those of the
mag. A block is removed as a whole. If one lies in BOX in part, nothing is removed, unless
--round takes such blocks, too. The blocks of all volumes and mags are removed, if --layer and --mag do
not name one.

While another process writes to DIR, such as a mount, nothing is removed. With --json it prints an
object for each volume and mag.`,
		Example: `  wkwfs edit revert --dry-run /data/edits 0-512_0-512_0-64
  wkwfs edit revert --layer labels --mag 1 --round /data/edits 100-200_100-200_10-20`,
		Args: exactArgs("DIR", "BOX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ok bool
			if s.selection.Box, ok = tree.ParseBox(args[1]); !ok {
				return hint.Usagef("write it like 0-512_0-512_0-64", "BOX %q: expected X0-X1_Y0-Y1_Z0-Z1", args[1])
			}
			s.dir = args[0]
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.selection.Volume, "layer", "", "only of the volume `NAME`")
	flags.StringVar(&s.selection.Mag, "mag", "", "only of the mag `NAME`, in whose voxels BOX is")
	flags.BoolVar(&s.selection.Round, "round", false, "also remove blocks that lie in BOX in part")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	flags.BoolVar(&s.json, "json", false, "print one JSON object per line")
	return cmd
}

// revertJSON is what is removed of a mag. It is an interface: programs read it.
type revertJSON struct {
	Layer  string   `json:"layer"`
	Mag    string   `json:"mag"`
	Blocks int      `json:"blocks"`
	Boxes  []string `json:"boxes"` // in voxels of the mag
}

func (s *revertSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	if info, err := os.Stat(s.dir); err != nil {
		return absentError("DIR", s.dir, err)
	} else if !info.IsDir() {
		return hint.Usagef("unpack it first", "DIR %s is not a directory", s.dir)
	}
	opened, a, err := openAnnotation(s.dir, sourceFlags{}, &diskCache{}, plainLogger(stderr))
	if err != nil {
		return err
	}
	defer opened.Close()
	err = annotations.Revert(ctx, s.dir, a, s.selection, s.dryRun, func(found []annotations.Blocks) error {
		return s.print(found, stdout)
	})
	switch partial, ok := errors.AsType[*annotations.PartialError](err); {
	case ok:
		return hint.Errorf("--round removes them, too", "%w", partial)
	case errors.Is(err, lockfile.ErrBusy):
		return hint.Errorf("unmount it first", "%w", err)
	case errors.Is(err, annotations.ErrNoSuch):
		return hint.Usagef("wkwfs info "+hint.Quote(s.dir)+" shows what there is", "%w", err)
	case ctx.Err() != nil:
		return hint.Errorf("the same command removes the rest", "interrupted")
	}
	return err
}

// print prints what is removed.
func (s *revertSettings) print(found []annotations.Blocks, out io.Writer) error {
	verb := "removing"
	if s.dryRun {
		verb = "would remove"
	}
	var text []byte
	for _, b := range found {
		line := revertJSON{Layer: b.Volume, Mag: b.Mag, Blocks: b.N}
		for _, box := range b.Boxes {
			line.Boxes = append(line.Boxes, tree.BoxName(box))
		}
		if s.json {
			object, err := json.Marshal(line)
			if err != nil {
				return err
			}
			text = append(append(text, hint.EscapeJSON(object)...), '\n')
			continue
		}
		text = fmt.Appendf(text, "%s\n", hint.OneLine(fmt.Sprintf("%s/%s: %s %s: %s", b.Volume, b.Mag, verb,
			counted(b.N, "block"), hint.List(line.Boxes))))
	}
	if len(found) == 0 && !s.json {
		text = []byte("no blocks in the box\n")
	}
	_, err := out.Write(text)
	return err
}
