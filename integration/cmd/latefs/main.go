// Command latefs mounts SOURCE with package latefs: latefs [flags] SOURCE MOUNTPOINT.
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
