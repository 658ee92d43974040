package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/host/settings"
)

func newMountCommand() *cobra.Command {
	var s mountSettings
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "mount [flags] SOURCE MOUNTPOINT",
		Short: "Show a dataset as ordinary files in a directory",
		Long: `Mount SOURCE on the directory MOUNTPOINT.
` + sourceHelp + `

The command returns when the mount answers. A background process serves the mount until
"wkwfs umount MOUNTPOINT" or SIGTERM. The last line of the output says where its log is.
` + mountHelp + `

Each flag is also a mount option (-o cache_size=4GiB), an environment variable
(WKWFS_CACHE_SIZE=4GiB) and a key in a configuration file, for all sources or for one:

  cache-size: 4GiB
  sources:
    /data/cortex:
      allow-other: true

If several of them set the same, the first one counts: flag, mount option, environment,
--config or else the user's file, the file in /etc. --foreground, --wait, --options and
--print-config can only be flags, and --config cannot be in a file.`,
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
			if err := settings.Settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if printOnly {
				return settings.Write(cmd.OutOrStdout(), cmd.Flags())
			}
			if err := fitCache(cmd.Flags(), &s.cacheSize, thisMemory()); err != nil {
				return err
			}
			return mount(s, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.register(cmd.Flags())
	cmd.Flags().BoolVar(&printOnly, "print-config", false,
		"print all settings as a configuration file, with the origin of each")
	return cmd
}

// makeAbsolute makes all paths independent of the working directory, which the server leaves.
func (s *mountSettings) makeAbsolute() error {
	source, err := realSource(s.source) // mounts.Prepare compares it with the mountpoint
	if err != nil {
		return err
	}
	s.source = source
	if s.mountpoint, err = filepath.Abs(s.mountpoint); err != nil {
		return err
	}
	if s.log.File != "" {
		if s.log.File, err = filepath.Abs(s.log.File); err != nil {
			return err
		}
	}
	if err := s.from.makeAbsolute(); err != nil {
		return err
	}
	if err := s.makeEditsAbsolute(); err != nil {
		return err
	}
	if err := s.diskCache.makeAbsolute(); err != nil {
		return err
	}
	return s.metrics.MakeAbsolute()
}
