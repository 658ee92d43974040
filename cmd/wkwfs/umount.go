package main

import "github.com/spf13/cobra"

func newUmountCommand() *cobra.Command {
	var lazy bool
	cmd := &cobra.Command{
		Use:     "umount [flags] MOUNTPOINT",
		Aliases: []string{"unmount"},
		Short:   "Unmount a mount of wkwfs",
		Long: `Unmount MOUNTPOINT, which must be a mount of wkwfs. Its background process ends.
` + umountHelp,
		Args: exactArgs("MOUNTPOINT"),
		RunE: func(_ *cobra.Command, args []string) error { return unmount(args[0], lazy) },
	}
	cmd.Flags().BoolVarP(&lazy, "lazy", "z", false, lazyHelp)
	return cmd
}
