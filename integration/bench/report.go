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

// reported is an outcome as it is written to a file.
type reported struct {
	Work       string          `json:"work"`
	Units      []string        `json:"units"` // of each figure
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

// writeReport writes all that was measured as JSON.
func writeReport(path, machine string, all []outcome) error {
	report := struct {
		Machine string     `json:"machine"`
		Jobs    []reported `json:"jobs"`
	}{Machine: machine}
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
		report.Jobs = append(report.Jobs, r)
	}
	b, err := json.MarshalIndent(report, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}

// describeMachine says where figures come from: processor, kernel, and versions of
// who was compared.
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

// processor is the model as the kernel tells it.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo") // no model is known without it
	model := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(b)
	if model == nil {
		return runtime.GOARCH
	}
	return string(model[1])
}

// version is the first line of what a program says about itself. What its exit
// code is differs.
func version(ctx context.Context, args []string) string {
	output, _ := command(ctx, args[0], args[1:]...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if line == "" {
		return "no " + args[0]
	}
	return line
}
