package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/serve/status"
)

func newStatusCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status [flags] MOUNTPOINT",
		Short: "Show what a mount is doing",
		Long: `Print what the server of a mount has done since it started and what it does now: reads
and their latencies, the cache, errors, and the last reads that took longer than a
second. MOUNTPOINT may be any path in the mount.

The lines of the source show reads and lookups (of attributes, files to open and
directories), the requests in flight, the latencies of the last minute, and whether the
source answers late. If it does, up to --io-depth reads and as many lookups are in flight
at once.

` + statusHelp,
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "print it again every second; on a terminal, in the same place")
	return cmd
}

// watchInterval is the time between two statuses.
const watchInterval = time.Second

// watchStatus shows the status of a mount repeatedly until ctx is done.
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

// readStatus reads the status of a mount. A mount that is dead or stuck is an error.
func readStatus(point string) (status.Status, error) {
	var s status.Status
	b, err := fetchStatus(point)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("the status of %s: %w", point, err)
	}
	return s, nil
}
