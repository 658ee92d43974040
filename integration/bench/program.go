package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

// memoryInterval is the time between two looks at the memory of a program. What it uses only after the last look is not seen.
const memoryInterval = 10 * time.Millisecond

// runProgram runs a program to its end, and drops its output. The result has its time in seconds, its CPU time and its
// largest resident memory.
func runProgram(ctx context.Context, args []string) (turn, error) {
	cmd := command(ctx, args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return turn{}, err
	}
	stop, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- watchMemory(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	seconds := time.Since(start).Seconds()
	close(stop)
	t := turn{values: []float64{seconds}, peak: <-peak}
	if err != nil {
		return t, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	t.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return t, nil
}

// watchMemory returns the largest resident memory of a process, once stop is closed. The kernel's own record for children
// (getrusage) is of no use: it starts with the memory of the parent.
func watchMemory(pid int, stop <-chan struct{}) (peak int64) {
	ticks := time.NewTicker(memoryInterval)
	defer ticks.Stop()
	for {
		if n, err := peakMemory(pid); err == nil { // a process that has ended has none
			peak = max(peak, n)
		}
		select {
		case <-ticks.C:
		case <-stop:
			return peak
		}
	}
}
