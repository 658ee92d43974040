package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// withoutLogServices returns a command that runs as a user in a mount namespace of its own, without journal and syslog,
// as in most containers. /var/log is empty. Of variables for directories, it has only the given ones.
func withoutLogServices(uid int, environment []string, args ...string) *exec.Cmd {
	script := `mount -t tmpfs run /run && mount -t tmpfs log /var/log && if test -e /dev/log; then mount --bind /dev/null /dev/log; fi &&
		exec setpriv --reuid="$0" --regid="$0" --clear-groups -- "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, strconv.Itoa(uid)}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	cmd.Env = append(os.Environ(), "STATE_DIRECTORY=", "XDG_STATE_HOME=", "HOME=")
	cmd.Env = append(cmd.Env, environment...)
	return cmd
}

// TestLogFileOfItsOwn checks that a server in the background without journal and syslog logs to a file of its own, and
// that the last line of the mount and its status name the file. Where the file cannot be written, they say so.
func TestLogFileOfItsOwn(t *testing.T) {
	requireUserMounts(t)
	for _, test := range []struct {
		name string
		uid  int
		env  string // %s is a directory of the user
		want string // path; "": none
	}{
		{"root", 0, "", "/var/log/wkwfs/wkwfs.log"},
		{"service", 0, "STATE_DIRECTORY=%s/a:/other", "%s/a/wkwfs.log"},
		{"user", nobody, "HOME=%s", "%s/.local/state/wkwfs/wkwfs.log"},
		{"user with a state directory", nobody, "XDG_STATE_HOME=%s", "%s/wkwfs/wkwfs.log"},
		{"user without a home", nobody, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, dir, home := dataset(t), userDir(t), userDir(t)
			fill := func(text string) string { return strings.ReplaceAll(text, "%s", home) }
			cmd := withoutLogServices(test.uid, []string{fill(test.env)}, program, "mount", source, dir)
			r := runCommand(t, cmd)
			where := fill(test.want)
			if where == "" {
				where = "lost (--log-file FILE keeps it): neither XDG_STATE_HOME nor HOME is an absolute path"
			}
			if want := fmt.Sprintf("mounted on %s, log: %s\n", dir, where); r.code != 0 || r.stdout != want ||
				r.stderr != "" {
				t.Fatalf("exit code %d, stderr %q, printed %q, want %q", r.code, r.stderr, r.stdout, want)
			}
			s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
			s.await(t)
			t.Cleanup(func() {
				s.signal(t, unix.SIGTERM)
				s.wantExit(t, 0)
			})
			status := runCommand(t, exec.Command("nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", s.pid),
				"setpriv", "--reuid", strconv.Itoa(test.uid), "--regid", strconv.Itoa(test.uid), "--clear-groups",
				program, "status", dir))
			if want := "\nlog         " + where + "\n"; !strings.Contains(status.stdout, want) {
				t.Errorf("status printed %q, %q; want %q", status.stdout, status.stderr, want)
			}
			if test.want == "" {
				return
			}
			b, err := os.ReadFile(filepath.Join(fmt.Sprintf("/proc/%d/root", s.pid), where))
			want := fmt.Sprintf("msg=mounted pid=%d source=%s mountpoint=%s", s.pid, source, dir)
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("the log is %q, %v; want %q", b, err, want)
			}
			info, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", s.pid), filepath.Dir(where)))
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the directory of the log: %v, %v; want one for its user only", info.Mode(), err)
			}
		})
	}
}
