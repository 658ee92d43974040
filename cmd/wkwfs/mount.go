package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newMountCommand() *cobra.Command {
	var s settings
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "mount [flags] SOURCE MOUNTPOINT",
		Short: "Show a dataset as flat raw files in a directory",
		Long: `Mount SOURCE, read-only, on the directory MOUNTPOINT. SOURCE is a WKW dataset, one of
its layers, one mag of a layer, or a single .wkw file.

The command returns when the mount answers; a background process serves it until
"wkwfs umount MOUNTPOINT", or SIGTERM. Root needs nothing else; other users need
fusermount3 (apt install fuse3).

What a flag says can also be said by -o cache_size=4GiB, by the environment as
WKWFS_CACHE_SIZE=4GiB, and in a configuration file, for all sources or for one:

  cache-size: 4GiB
  sources:
    /data/cortex:
      allow-other: true

The first of these that says something counts; of the files, the user's before that in
/etc. The exceptions are --foreground, --options and --print-config.`,
		Example: `  wkwfs mount /data/cortex ~/cortex
  wkwfs mount --cache-size 4GiB /data/cortex/color ~/color
  wkwfs mount -o allow_other,cache_size=4GiB /data/cortex /mnt/cortex
  wkwfs mount --print-config /data/cortex`,
		Args: func(cmd *cobra.Command, args []string) error {
			if printOnly && len(args) < 2 {
				return nil
			}
			return exactArgs("SOURCE", "MOUNTPOINT")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args = append(args, "", "")
			s.source, s.mountpoint = args[0], args[1]
			if err := s.config.settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if printOnly {
				return printSettings(cmd.OutOrStdout(), cmd.Flags())
			}
			return mount(s, cmd.ErrOrStderr())
		},
	}
	s.register(cmd.Flags())
	cmd.Flags().BoolVar(&printOnly, "print-config", false, "print the settings, and where each comes from, as a configuration file")
	return cmd
}

// mount serves in this process, or starts one in the background that does.
func mount(s settings, stderr io.Writer) error {
	if err := s.makeAbsolute(); err != nil {
		return err
	}
	switch {
	case startedAsServer():
		return serveInBackground(s, stderr)
	case s.foreground:
		m := findManager(os.Getenv)
		return serve(s, m, false, func(string) error { return m.notify(stateReady) }, stderr)
	}
	return startServer(stderr)
}

// makeAbsolute frees the paths from the working directory, which the server
// leaves.
func (s *settings) makeAbsolute() error {
	source, err := filepath.Abs(s.source)
	if err == nil {
		// The real path, so that it can be told whether the mount would cover it.
		source, err = filepath.EvalSymlinks(source)
	}
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	s.source = source
	if s.mountpoint, err = filepath.Abs(s.mountpoint); err != nil {
		return err
	}
	if s.log.file != "" {
		if s.log.file, err = filepath.Abs(s.log.file); err != nil {
			return err
		}
	}
	return s.metrics.makeAbsolute()
}

// leaveDirectory lets the file system that we were started in be unmounted.
func leaveDirectory() error { return os.Chdir("/") }
