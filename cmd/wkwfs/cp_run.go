package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/jobs/copier"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/volume"
)

// run opens the source and copies.
func (s *copySettings) run(ctx context.Context, stderr io.Writer) error {
	path, err := realSource(s.source)
	if err != nil {
		return err
	}
	tuneRuntime(int64(s.cacheSize) + int64(s.jobs)*copier.RangeSize + copier.HelpersSize)
	screen := newScreen(stderr, s.quiet)
	log := plainLogger(screen)
	disk, err := s.diskCache.open(log)
	if err != nil {
		return err
	}
	defer disk.close()
	opened, err := disk.open(s.from, path, log)
	if err != nil {
		return err
	}
	blocks := cache.New(int64(s.cacheSize))
	defer blocks.Close()
	tree := copier.Stable(view.New(opened.Root, view.Options{Cache: blocks, Log: log, Private: true,
		Unit: header.Unit(s.unit)}), s.from.depth())

	info, err := fs.Stat(tree, s.path)
	if err != nil {
		return s.absent(tree, err)
	}
	if info.IsDir() {
		if err := copier.CheckBoxes(tree, s.path); err != nil {
			return err
		}
	}
	if err := s.checkPart(info.IsDir()); err != nil {
		return err
	}
	request := copier.Request{Source: remote.Display(path), Path: s.path, Contents: s.contents, Dest: s.dest}
	open := request.Target
	if s.dryRun {
		open = request.DryTarget
	}
	target, err := open(info.IsDir())
	if err != nil {
		return err
	}
	defer target.Close()
	warnOfGaps(opened, gaps.Sample, nil, s.concerns, log)
	return s.copy(ctx, tree, info.IsDir(), opened, target, screen)
}

// concerns reports whether voxels of a layer or a mag are copied.
func (s *copySettings) concerns(place string) bool {
	return check.Place{Path: place}.Within(s.path) || check.Place{Path: s.path}.Within(place)
}

// absent adds a hint to the error of a path that the source does not have.
func (s *copySettings) absent(shown fs.FS, err error) error {
	advice := "wkwfs info " + hint.Quote(s.source) + " shows what there is"
	if near := copier.Nearest(shown, s.path, maxNames); near != "" && errors.Is(err, fs.ErrNotExist) {
		advice = "did you mean " + hint.Quote(near) + "?"
	}
	if path.Base(path.Dir(s.path)) == tree.Boxes {
		advice += "; a box is named X0-X1_Y0-Y1_Z0-Z1, and ends in .raw, .npy, .nrrd, .nii or .tif"
	}
	return hint.Errorf(advice, "%s: %w", remote.Display(s.source), err)
}

// checkPart checks that the path can be copied in parts. A file is not divided. Whether DEST exists must not matter:
// another part may have created it.
func (s *copySettings) checkPart(directory bool) error {
	switch {
	case s.part.Whole():
		return nil
	case !directory:
		return hint.Usagef("copy the directory of the mag, or a box with each part",
			"--part: %s is a file, which is not divided", s.path)
	case !s.contents:
		return hint.Usagef("write "+hint.Quote(s.path+"/.")+
			": its content goes to DEST, which other parts may have created", "--part: %s must end in /.", s.path)
	case s.force:
		return hint.Usagef("remove DEST first",
			"--force is not for --part: it would copy files again that other processes of the part have copied")
	}
	return nil
}

// copy copies from the tree to the target and explains the errors.
func (s *copySettings) copy(ctx context.Context, tree fs.FS, directory bool, from *dataset.Dataset, to *copier.Target,
	screen *screen) error {
	var stats copier.Stats
	var failed error // for a copy of a single file
	forms := s.forms
	forms.FS = tree
	options := copier.Options{
		Jobs:   s.jobs,
		Depth:  s.from.depth(),
		Late:   from.Late,
		Force:  s.force,
		Part:   s.part,
		Select: forms.Select,
		Stats:  &stats,
		Notice: func(name, text string) { screen.print(name + ": " + text) },
		Failed: func(name string, err error) { failed = named(name, err) },
	}
	if directory {
		options.Failed = func(name string, err error) { screen.print(named(name, err).Error()) }
	}
	var would outcomes
	finish := func() { would.print(screen) }
	if s.dryRun {
		options.DryRun = would.add
	} else {
		finish = screen.follow(&stats)
	}
	err := copier.Copy(ctx, tree, s.path, to.Root, to.Name, options)
	finish()
	unshown := 0
	if directory && err == nil && s.part.First() {
		unshown = s.reportUnshown(from.Root, screen)
	}

	const again = "the same command resumes it"
	n := stats.FailedFiles.Load()
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hint.Errorf("make room; "+again, "%w", err)
	case ctx.Err() != nil:
		return hint.Errorf(again, "interrupted")
	case err != nil:
		return err
	case errors.Is(failed, copier.ErrExists):
		return hint.Errorf("--force replaces it", "%w", failed)
	case failed != nil:
		return failed
	case (n > 0 || unshown > 0) && s.dryRun:
		return fmt.Errorf("%s could not be copied", failedText(unshown, n, stats.FoundFiles.Load()))
	case n > 0 || unshown > 0:
		return hint.Errorf("the same command tries those again", "%s could not be copied",
			failedText(unshown, n, stats.FoundFiles.Load()))
	}
	return to.Complete()
}

// outcomes are what a copy would do, in the order of its directories.
type outcomes struct {
	dirs []string // of the files, at most as deep as mags
	of   map[string]*outcome
}

type outcome struct{ files, bytes, kept, keptBytes int64 }

// add counts a file.
func (o *outcomes) add(name string, size int64, kept bool) {
	words := strings.Split(path.Dir(name), "/")
	dir := path.Join(words[:min(len(words), 2)]...)
	if o.of == nil {
		o.of = map[string]*outcome{}
	}
	d := o.of[dir]
	if d == nil {
		d = &outcome{}
		o.of[dir] = d
		o.dirs = append(o.dirs, dir)
	}
	if kept {
		d.kept++
		d.keptBytes += size
		return
	}
	d.files++
	d.bytes += size
}

// print prints a line for each directory.
func (o *outcomes) print(to *screen) {
	for _, dir := range o.dirs {
		d := o.of[dir]
		text := fmt.Sprintf("%s: would copy %s of %s", dir, filesText(d.files), bytesText(d.bytes))
		if d.kept > 0 {
			text += fmt.Sprintf("; would keep %s of %s", filesText(d.kept), bytesText(d.keptBytes))
		}
		to.notice(text)
	}
	to.notice("nothing is written: --dry-run")
}

// reportUnshown prints the layers and mags below the path that exist and are not in the tree. It returns their number.
func (s *copySettings) reportUnshown(root volume.Root, screen *screen) int {
	n := 0
	for _, f := range check.Unshown(root) {
		if f.Within(s.path) {
			screen.print(f.Err.Error())
			n++
		}
	}
	return n
}

// failedText returns "1 layer or mag and 2 of 10 files", without the part that is 0.
func failedText(unshown int, files, of int64) string {
	var parts []string
	switch unshown {
	case 0:
	case 1:
		parts = append(parts, "1 layer or mag")
	default:
		parts = append(parts, fmt.Sprintf("%d layers or mags", unshown))
	}
	if files > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d files", files, of))
	}
	return strings.Join(parts, " and ")
}

// named adds the name to an error that does not have it.
func named(name string, err error) error {
	if p, ok := err.(*fs.PathError); ok && p.Path == name {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
