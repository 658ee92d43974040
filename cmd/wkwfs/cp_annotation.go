package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/write/annotations"
)

// openAnnotation opens a volume annotation as it is stored. The caller closes the dataset, unless there is an error.
func openAnnotation(source string, from sourceFlags, disk *diskCache, log *slog.Logger) (*dataset.Dataset,
	*annotation.Dataset, error) {
	from.over = ""
	opened, err := disk.open(from, source, log)
	if err != nil {
		return nil, nil, err
	}
	a, ok := opened.Dataset.(*annotation.Dataset)
	if !ok {
		opened.Close() // read-only: nothing can be lost
		return nil, nil, hint.Usagef("name an annotation as it was downloaded, or its directory with the NML file",
			"%s is not a volume annotation", source)
	}
	return opened, a, nil
}

// pack makes the archive of an annotation.
func (s *copySettings) pack(cmd *cobra.Command) error {
	for _, name := range []string{"part", "all", "blocks", "over", "relabel", "unit", "jobs"} {
		if cmd.Flags().Changed(name) {
			return hint.Usagef("", "--%s is not for --annotation", name)
		}
	}
	if info, err := os.Stat(s.dest); err == nil && info.IsDir() {
		return hint.Usagef("name the zip", "DEST %s is a directory", s.dest)
	}
	ctx, stop := untilSignal()
	defer stop()
	screen := newScreen(cmd.ErrOrStderr(), s.quiet)
	log := plainLogger(screen)
	disk, err := s.diskCache.open(log)
	if err != nil {
		return err
	}
	defer disk.close()
	opened, a, err := openAnnotation(s.source, s.from, disk, log)
	if err != nil {
		return err
	}
	defer opened.Close()
	p, err := annotations.Pack(ctx, a, s.dest, annotations.Options{Replace: s.force, DryRun: s.dryRun})
	switch {
	case errors.Is(err, fs.ErrExist):
		return hint.Errorf("--force replaces it", "%s: it exists", s.dest)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hint.Errorf("make room", "%w", err)
	case ctx.Err() != nil:
		return errors.New("interrupted: nothing is written")
	case err != nil:
		return err
	}
	text := counted(p.Volumes, "volume") + ", " + counted(p.Blocks, "block") + ", " + bytesText(p.Bytes)
	if s.dryRun {
		screen.notice(s.dest + ": would be an annotation of " + text)
		screen.notice("nothing is written: --dry-run")
		return nil
	}
	screen.notice(s.dest + ": an annotation of " + text)
	return nil
}
