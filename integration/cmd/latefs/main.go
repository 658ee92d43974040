// Command latefs mounts a directory as a file system that answers late: latefs [flags] SOURCE MOUNTPOINT.
// Package latefs describes it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/wkwfs/wkwfs/integration/latefs"
)

func main() {
	if err := latefs.Run(os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "latefs:", err)
		os.Exit(1)
	}
}
