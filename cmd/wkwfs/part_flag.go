package main

import (
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
)

// partHelp is in the help of commands with --part.
const partHelp = `--part auto is the part of this task of a Slurm array, sbatch --array=1-8. Kubernetes does
not tell a task of an indexed Job how many there are: write --part auto/8.`

func registerPart(flags *pflag.FlagSet, part *batch.Part) {
	flags.Var(part, "part", "only part `I/N`, such as 3/8; auto or auto/N: as Slurm or Kubernetes number this task")
}
