package integration

import (
	"bufio"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// panicsVariable is that of cmd/wkwfs/panics.go.
const panicsVariable = "TEST_PANICS"

// panicProgram builds a program that can be made to panic, once.
var panicProgram = sync.OnceValues(func() (string, error) {
	path := program + "-panics"
	flags := []string{"-tags", "panics"}
	if os.Getenv(raceVariable) == "1" {
		flags = append(flags, "-race")
	}
	return path, build(path, flags...)
})

// panicServer is a server that can be made to panic, and its readers.
type panicServer struct {
	t      testing.TB
	places string // directory with a file for each place that will panic
	log    string // of the server

	uses     []func(r *rand.Rand) error // what readers do, again and again. The error is EIO or its like
	rounds   []atomic.Int64             // of each reader
	failures atomic.Int64
	stop     chan struct{}
	once     sync.Once // stops the readers
	readers  sync.WaitGroup
	armed    []string // places
	panicked []string
}

// newPanicServer returns the command of a server, and the state for its panics.
func newPanicServer(t testing.TB, args ...string) (*panicServer, *exec.Cmd) {
	t.Helper()
	path, err := panicProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir := tempDir(t)
	p := &panicServer{t: t, places: filepath.Join(dir, "places"), log: filepath.Join(dir, "log"),
		stop: make(chan struct{})}
	if err := os.Mkdir(p.places, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), panicsVariable+"="+p.places)
	return p, cmd
}

// mountPanicking mounts a source with a server that can be made to panic.
func mountPanicking(t testing.TB, source string, args ...string) (*panicServer, *server) {
	t.Helper()
	requireFUSE(t)
	dir := tempDir(t)
	p, cmd := newPanicServer(t, "mount")
	cmd.Args = slices.Concat(cmd.Args, []string{"--log-file", p.log}, args, []string{source, dir})
	if r := runCommand(t, cmd); r.code != 0 {
		t.Fatalf("%v: exit code %d, %s", cmd.Args, r.code, r.stderr)
	}
	s := &server{dir: dir, pid: statusOf(t, dir).PID, ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	return p, s
}

// start starts readers, each of which makes all uses in random order until the test ends.
func (p *panicServer) start(readers int, uses ...func(r *rand.Rand) error) {
	p.uses, p.rounds = uses, make([]atomic.Int64, readers)
	p.t.Cleanup(p.end) // before the server ends
	for i := range readers {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		p.readers.Go(func() {
			for {
				for _, n := range random.Perm(len(p.uses)) {
					select {
					case <-p.stop:
						return
					default:
					}
					if p.uses[n](random) != nil {
						p.failures.Add(1)
					}
					p.rounds[i].Add(1)
				}
			}
		})
	}
}

// end ends the readers.
func (p *panicServer) end() {
	p.once.Do(func() { close(p.stop) })
	p.readers.Wait()
}

// panicAll lets the server panic at the places, one after the other. The values say whether reads may fail. Then it
// checks that none fails any more.
func (p *panicServer) panicAll(places map[string]bool) {
	p.t.Helper()
	for _, place := range slices.Sorted(maps.Keys(places)) {
		p.panicAt(place, places[place])
	}
	before := p.failures.Load()
	if p.goOn("after all panics", len(p.uses)); p.failures.Load() > before {
		p.t.Errorf("%d reads fail after all panics", p.failures.Load()-before)
	}
}

// panicAt waits until a goroutine of the server has panicked at a place. Each of the readers may have one read that
// fails because of it. It does nothing without a place.
func (p *panicServer) panicAt(place string, mayFail bool) {
	p.t.Helper()
	if place == "" {
		return
	}
	before, allowed := p.failures.Load(), int64(0)
	if !slices.Contains(p.armed, place) {
		p.arm(place)
	}
	p.await(place)
	p.panicked = append(p.panicked, place)
	if mayFail {
		allowed = int64(len(p.rounds))
	}
	select {
	case <-p.stop:
		return
	default:
	}
	p.goOn("after a panic at "+place, 2)
	if failed := p.failures.Load() - before; failed > allowed {
		p.t.Errorf("%d reads failed because of a panic at %s, expected at most %d", failed, place, allowed)
	}
}

// arm makes the next goroutine panic that passes a place.
func (p *panicServer) arm(places ...string) {
	for _, place := range places {
		if place != "" {
			p.armed = append(p.armed, place)
			writeFile(p.t, filepath.Join(p.places, place), nil)
		}
	}
}

// await waits until a goroutine has panicked at a place.
func (p *panicServer) await(place string) {
	p.t.Helper()
	if place != "" {
		eventually(p.t, "the server panics at "+place, func() bool {
			_, err := os.Lstat(filepath.Join(p.places, place))
			return errors.Is(err, fs.ErrNotExist)
		})
	}
}

// goOn waits until each reader has read n times.
func (p *panicServer) goOn(when string, n int) {
	p.t.Helper()
	var rounds []int64
	for i := range p.rounds {
		rounds = append(rounds, p.rounds[i].Load()+int64(n))
	}
	eventually(p.t, "all readers go on "+when, func() bool {
		for i, n := range rounds {
			if p.rounds[i].Load() < n {
				return false
			}
		}
		return true
	})
}

// checkLog checks that the log has one line with a stack for each panic, and that lines about failed requests have a
// path.
func (p *panicServer) checkLog() {
	p.t.Helper()
	stacks := func() map[string]int {
		b, err := os.ReadFile(p.log)
		if err != nil {
			p.t.Fatal(err)
		}
		found := map[string]int{}
		for line := range strings.Lines(string(b)) {
			if m := regexp.MustCompile(`injected at ([a-z.]+)"? .*stack="goroutine `).FindStringSubmatch(
				line); m != nil {
				found[m[1]]++
				if strings.Contains(line, `msg="cannot `) && !strings.Contains(line, " path=") {
					p.t.Errorf("the line has no path: %s", line)
				}
			}
		}
		return found
	}
	want := map[string]int{}
	for _, place := range p.panicked {
		want[place] = 1
	}
	for place := range want {
		eventually(p.t, "the log has the stack of the panic at "+place, func() bool { return stacks()[place] > 0 })
	}
	if found := stacks(); !maps.Equal(found, want) {
		p.t.Errorf("the log has stacks of %v, expected %v", found, want)
	}
}

// startCommand starts a server in the foreground, whose log is stderr. It returns the address that the server prints.
func (p *panicServer) startCommand(cmd *exec.Cmd) (address string) {
	p.t.Helper()
	stderr, err := os.Create(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test failed before it ended the server
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatalf("the server printed no address: %v", err)
	}
	return strings.TrimSpace(line)
}

// endCommand ends a server. Its exit code must be 0.
func endCommand(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
