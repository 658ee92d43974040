package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// report has all figures of a run. It is the format of the file of -json.
type report struct {
	Machine string     `json:"machine"`
	Jobs    []reported `json:"jobs"`
}

// reported is an outcome in a report.
type reported struct {
	Work       string          `json:"work"`
	Units      []string        `json:"units"` // one for each figure
	Contenders []reportedTurns `json:"contenders"`
}

type reportedTurns struct {
	Name   string         `json:"name"`
	Absent string         `json:"absent,omitempty"`
	Turns  []reportedTurn `json:"turns"`
}

type reportedTurn struct {
	Values []float64 `json:"values"`
	CPU    float64   `json:"cpu_seconds"`
	Bytes  int64     `json:"bytes,omitempty"`
	Peak   int64     `json:"server_peak_bytes,omitempty"`
}

// newReport returns the report of all outcomes.
func newReport(machine string, all []outcome) report {
	full := report{Machine: machine}
	for _, o := range all {
		r := reported{Work: o.name}
		for _, f := range o.figures {
			r.Units = append(r.Units, f.unit)
		}
		for i, c := range o.contenders {
			turns := reportedTurns{Name: c.name, Absent: c.absent}
			for _, t := range o.turns[i] {
				turns.Turns = append(turns.Turns, reportedTurn{t.values, t.cpu, t.bytes, t.peak})
			}
			r.Contenders = append(r.Contenders, turns)
		}
		full.Jobs = append(full.Jobs, r)
	}
	return full
}

// write writes the report as JSON.
func (r report) write(path string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}

// readReport reads a file that write wrote.
func readReport(path string) (r report, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// describeMachine returns the processor, the kernel, and the versions of wkwfs and of the other file systems.
func describeMachine(ctx context.Context, program string) []string {
	var u unix.Utsname
	_ = unix.Uname(&u) // cannot fail
	parts := []string{
		fmt.Sprintf("%d × %s", runtime.NumCPU(), processor()),
		"Linux " + string(bytes.TrimRight(u.Release[:], "\x00")),
	}
	for _, args := range [][]string{{program, "version"}, {"mksquashfs", "-version"}, {"squashfuse_ll", "-V"}, {"dump.erofs", "-V"}} {
		parts = append(parts, version(ctx, args))
	}
	return parts
}

// processor returns the model of the processor, as the kernel names it.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo") // without it there is no model
	model := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(b)
	if model == nil {
		return runtime.GOARCH
	}
	return string(model[1])
}

// version returns the first line of a program's output. It ignores the exit code, which differs between
// programs.
func version(ctx context.Context, args []string) string {
	output, _ := command(ctx, args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if line == "" {
		return "no " + args[0]
	}
	return line
}
