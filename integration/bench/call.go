package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// command is a program that Ctrl-C does not reach: it is for us, and we take things
// down in order.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// call runs a program whose output matters only when it fails.
func call(ctx context.Context, name string, args ...string) error {
	output, err := command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return nil
}

// finish is call for what is never to be left half done.
func finish(name string, args ...string) error { return call(context.Background(), name, args...) }
