package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// kept is what a server that root has started still has to be able to do.
var kept = []cap.Value{
	cap.DAC_READ_SEARCH, // read the sources of all users; whom to show them the kernel decides
	cap.SYS_ADMIN,       // unmount at the end
}

// dropPrivileges gives up what a server does not need once it has mounted, in all
// threads, for good. An ordinary user has nothing to give up, and needs fusermount3,
// which is setuid, to unmount.
func dropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if _, err := cap.Prctlw(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	had := cap.GetProc()
	keep := cap.NewSet()
	for _, c := range kept {
		has, err := had.GetFlag(cap.Permitted, c)
		if err != nil || !has { // as in a container: what is not there cannot be kept
			continue
		}
		for _, flag := range []cap.Flag{cap.Permitted, cap.Effective} {
			if err := keep.SetFlag(flag, true, c); err != nil {
				return err
			}
		}
	}
	if err := keep.SetProc(); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}
