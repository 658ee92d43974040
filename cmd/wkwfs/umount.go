package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/fsnode"
)

// goneTimeout bounds the wait for a mount to disappear after it was unmounted.
const goneTimeout = 10 * time.Second

func newUmountCommand() *cobra.Command {
	var lazy bool
	cmd := &cobra.Command{
		Use:     "umount [--lazy] MOUNTPOINT",
		Aliases: []string{"unmount"},
		Short:   "Unmount what wkwfs mounted",
		Long: `Unmount MOUNTPOINT, which must be a mount of wkwfs; its background process ends.
It also clears a mount whose process was killed ("Transport endpoint is not connected").`,
		Args: exactArgs("MOUNTPOINT"),
		RunE: func(_ *cobra.Command, args []string) error { return umount(args[0], lazy) },
	}
	cmd.Flags().BoolVarP(&lazy, "lazy", "z", false, "unmount even when in use: open files stay readable until they are closed")
	return cmd
}

// umount unmounts a mount of ours and returns when it is gone.
func umount(path string, lazy bool) error {
	table, err := mountTable()
	if err != nil {
		return err
	}
	path, err = resolveMountpoint(path, table)
	if err != nil {
		return err
	}
	m, ok := topMount(table, path)
	switch {
	case !ok:
		return hinted("grep "+fsnode.Type+" /proc/self/mounts lists the mounts of wkwfs", "%s is not a mount", path)
	case m.Type != fsnode.Type:
		return hinted("umount "+path, "%s is a mount of type %s, not of wkwfs", path, m.Type)
	}
	if err := unmount(path, lazy); err != nil {
		return withLazyHint(err, path, lazy)
	}
	return awaitGone(m.ID, goneTimeout)
}

// withLazyHint adds by whom a mount is in use, and what helps. A helper's refusal may
// have other reasons; the hint then says for which one it is good.
func withLazyHint(err error, path string, lazy bool) error {
	var f *failure
	if lazy || errors.As(err, &f) {
		return err
	}
	again := "wkwfs umount --lazy " + shellWord(path)
	switch holders := holdersOf(procfs, path); {
	case holders != nil && errors.Is(err, errBusy):
		return hinted(again, "%w by %s", err, listed(holders))
	case holders != nil:
		return hinted(again, "%w: in use by %s", err, listed(holders))
	case errors.Is(err, errBusy):
		return hinted(again, "%w", err)
	}
	return hinted("if it is in use: "+again, "%w", err)
}
