package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/sample"
)

func newSampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sample DIR",
		Short: "Write a small dataset to try things with",
		Long: `Write a WKW dataset of made-up electron microscopy to DIR, which must be empty or
not exist: an image, its segmentation, three mags, and a cube that is missing.
It is the same every time.`,
		Example: `  wkwfs sample /tmp/sample
  wkwfs info /tmp/sample`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			dir := args[0]
			if err := sample.Write(ctx, dir, sample.Defaults()); err != nil {
				return fmt.Errorf("sample: %w", err)
			}
			r, err := inspect(dir, sourceFlags{}, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := r.print(cmd.OutOrStdout()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nnext: mkdir -p %[1]s && wkwfs mount %[2]s %[1]s\n",
				shellWord(dir+".flat"), shellWord(dir))
			return err
		},
	}
}

// shellWord writes a word as a shell wants it.
func shellWord(s string) string {
	if strings.IndexFunc(s, special) < 0 && !strings.HasPrefix(s, "-") && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// special reports whether a character may mean something to a shell.
func special(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("/._-+", c)
}
