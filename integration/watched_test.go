package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// watched is a mount that has to behave well whatever the source is: its server does not panic, answers every request
// in time, stays within its memory, and has no goroutine and no file too many at the end.
type watched struct {
	*server
	log    string
	budget int // bytes, of the cache
	files  int // that the server may have open at the end
}

// idleFiles is the number of files that a server may keep open. It closes them when they were not used for 5 seconds.
const idleFiles = 100

const (
	answerLimit   = deadline  // for a request
	memoryAllowed = 128 << 20 // above the budget of the cache
)

// mountWatched mounts a source, and checks the server at the end of the test.
func mountWatched(t testing.TB, source string, budget int, args ...string) *watched {
	t.Helper()
	w := &watched{log: filepath.Join(tempDir(t), "log"), budget: budget}
	t.Cleanup(func() { w.checkLog(t) }) // when the server has ended
	w.server = mountServer(t, source, append([]string{"--log-file", w.log, "--cache-size", strconv.Itoa(budget)},
		args...)...)
	w.files = openFiles(t, w.pid) + idleFiles
	t.Cleanup(func() { w.checkIdle(t) })
	return w
}

// closesAll makes the check at the end wait until the server has closed all files that its readers needed.
func (w *watched) closesAll() { w.files -= idleFiles }

// request calls do, which sends requests to the server. It fails if do takes longer than answerLimit. Then it ends the
// server, so that do returns. The server writes the stacks of its goroutines to its log. name is for the error.
func (w *watched) request(t testing.TB, name string, do func()) {
	t.Helper()
	start := time.Now()
	giveUp := time.AfterFunc(answerLimit, func() {
		if err := unix.Kill(w.pid, unix.SIGQUIT); err != nil {
			t.Log(err)
		}
	})
	do()
	if !giveUp.Stop() {
		t.Fatalf("%s: no answer after %v", name, time.Since(start))
	}
}

// checkIdle checks that an unused server closes its files and ends its goroutines, and that it used little memory.
func (w *watched) checkIdle(t testing.TB) {
	t.Helper()
	if t.Failed() {
		return
	}
	eventually(t, "the server closes its files", func() bool { return openFiles(t, w.pid) <= w.files })
	eventually(t, "the goroutines of the server end",
		func() bool { return statusOf(t, w.dir).Process.Goroutines <= maxIdle })
	if peak := peakMemory(t, w.pid); peak > w.budget+memoryAllowed && os.Getenv(raceVariable) != "1" {
		t.Errorf("the server used %d MiB, want at most %d + %d", peak>>20, w.budget>>20, memoryAllowed>>20)
	}
}

// checkLog looks for the signs of a crash.
func (w *watched) checkLog(t testing.TB) {
	t.Helper()
	b, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	if i := crashIn(string(b)); i >= 0 {
		t.Errorf("the log of the server has a crash:\n%.8000s", ownGoroutines(string(b[i:])))
	}
}

// ownGoroutines returns the start of a dump, and of its goroutines those that are in code of the program.
func ownGoroutines(dump string) string {
	parts := strings.Split(dump, "\n\n")
	rest := slices.DeleteFunc(parts[1:],
		func(goroutine string) bool { return !strings.Contains(goroutine, "github.com/wkwfs/") })
	return strings.Join(append(parts[:1], rest...), "\n\n")
}

// crashIn returns where the output of the program has a crash, or a panic that the program has recovered, or -1.
func crashIn(output string) int {
	for _, sign := range []string{"panic: ", "fatal error: ", "SIGQUIT: quit", "WARNING: DATA RACE"} {
		if i := strings.Index("\n"+output, "\n"+sign); i >= 0 {
			return i
		}
	}
	return strings.Index(output, "panic in ")
}
