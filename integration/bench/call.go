package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// command returns a command in a process group of its own, so that Ctrl-C interrupts only this process, which
// then unmounts in order.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// call runs a program. If it fails, the error has its output.
func call(ctx context.Context, name string, args ...string) error {
	output, err := command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return nil
}

// callToEnd is call for programs that must not be interrupted.
func callToEnd(name string, args ...string) error { return call(context.Background(), name, args...) }
