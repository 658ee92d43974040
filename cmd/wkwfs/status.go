package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/status"
)

func newStatusCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status [--json] [--watch] MOUNTPOINT",
		Short: "Tell what a mount is doing",
		Long: `Print what the server of a mount did since it started, and what it does now: reads and
how long they took, what the cache holds, errors, and the last reads that took longer than
a second. MOUNTPOINT may be any path in the mount.

Of the source it tells how many reads and looks (attributes, opened files, listed
directories) there were, how many wait for an answer now, how long the answers of about
the last minute took, and whether they come late: then up to --io-depth requests are under
way at once.

It is what the file ` + status.StatusFile + ` in the mount says, which no listing shows; beside it is
` + status.MetricsFile + `, for Prometheus. Only who has mounted may read them.`,
		Example: `  wkwfs status ~/cortex
  wkwfs status --watch ~/cortex
  wkwfs status --json ~/cortex | jq .cache.hit_rate`,
		Args: exactArgs("MOUNTPOINT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			point, err := findMount(args[0])
			if err != nil {
				return err
			}
			show := statusScreen(cmd.OutOrStdout(), asJSON, watch)
			if !watch {
				return showStatus(point, show)
			}
			ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
			defer stop()
			return watchStatus(ctx, point, show)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "print it again each second, on a terminal in the same place")
	return cmd
}

// watchInterval is the time from one status to the next.
const watchInterval = time.Second

// watchStatus shows the status of a mount again and again, until ctx is done.
func watchStatus(ctx context.Context, point string, show func(status.Status) error) error {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		if err := showStatus(point, show); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func showStatus(point string, show func(status.Status) error) error {
	s, err := readStatus(point)
	if err != nil {
		return err
	}
	return show(s)
}

const mountsHint = "grep " + fsnode.Type + " /proc/self/mounts lists the mounts of wkwfs"

// findMount returns the mountpoint of the mount of ours that the path is in. It does not
// ask the mount, which may be dead, if the path as it is written tells.
func findMount(path string) (string, error) {
	table, err := mountTable()
	if err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	m, ok := mountOf(table, absolute)
	if !ok || m.Type != fsnode.Type { // there may be links in the path
		if absolute, err = resolveMountpoint(absolute, table); err != nil {
			return "", err
		}
		m, ok = mountOf(table, absolute)
	}
	if ok && m.Type == fsnode.Type {
		return m.Point, nil
	}
	if _, err := os.Lstat(absolute); err != nil {
		return "", err
	}
	return "", hinted(mountsHint, "%s is not in a mount of wkwfs", path)
}

// mountOf returns the mount that a path without links is in.
func mountOf(table []mounted, path string) (mounted, bool) {
	for {
		if m, ok := topMount(table, path); ok {
			return m, true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return mounted{}, false
		}
		path = parent
	}
}

// readStatus asks the server of a mount.
func readStatus(point string) (status.Status, error) {
	var s status.Status
	switch st, err := statMount(point, answerTimeout); {
	case errors.Is(err, unix.ENOTCONN):
		return s, hinted("wkwfs umount "+point, "the mount on %s is dead: its server has ended", point)
	case errors.Is(err, errStuck):
		return s, fmt.Errorf("the server of %s does not answer: it may be stopped", point)
	case err != nil:
		return s, statusError(point, err)
	case st.Type != fuseMagic:
		return s, fmt.Errorf("%s is no longer mounted", point)
	}
	b, err := os.ReadFile(filepath.Join(point, status.StatusFile))
	if err != nil {
		return s, statusError(point, err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("the status of %s: %w", point, err)
	}
	return s, nil
}

// statusError says what an error of asking a mount means.
func statusError(point string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return hinted("ask as the user who has mounted it", "the status of %s: %w", point, err)
	case errors.Is(err, fs.ErrNotExist):
		return hinted("it may have been mounted by another version of wkwfs, or be a part of a mount", "%s has no status", point)
	}
	return fmt.Errorf("the status of %s: %w", point, err)
}
