package main

import (
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
)

// registerUnit defines the flag for the unit of lengths in headers.
func registerUnit(flags *pflag.FlagSet, u *settings.Unit) {
	flags.Var(u, "unit",
		"unit of the lengths in NIfTI, MetaImage, NRRD and XDMF: nm, um or mm (else: mm in NIfTI, nm in the others)")
}
