//go:build clients

package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tissue "github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
)

// TestClientReadmeMounts runs the commands of README.md that mount a URL, with the address of a server of this machine
// in the place of the host and the bucket.
func TestClientReadmeMounts(t *testing.T) {
	requireFUSE(t)
	o := tissue.Defaults()
	o.Box.Max, o.Unrecorded = volume.Vec{164, 134, 66}, volume.Box{}
	source := finestSample(t, o)
	plain := filepath.Join(mount(t, source), "color/1/volume.raw")
	places := map[string]string{"s3": "s3://bucket", "gs": "gs://bucket", "https": "https://data.example.org"}
	for _, line := range readme(t, "What is where") {
		command, isMount := strings.CutPrefix(line, "    wkwfs mount ")
		if !isMount {
			continue
		}
		scheme, _, _ := strings.Cut(command, "://")
		place := places[scheme]
		delete(places, scheme)
		t.Run(scheme, func(t *testing.T) {
			c, work := startCloud(t, scheme, filepath.Dir(source)), tempDir(t)
			mnt := filepath.Join(work, "mnt")
			t.Cleanup(func() { exec.Command(program, "umount", "--lazy", mnt).Run() })
			cmd := exec.Command("sh", "-ec", "mkdir mnt; "+program+" mount "+strings.ReplaceAll(command, place, c.url))
			cmd.Dir, cmd.Env = work, c.env
			if r := runCommand(t, cmd); r.code != 0 {
				t.Errorf("%s: exit code %d, stdout %q, stderr %q", command, r.code, r.stdout, r.stderr)
			}
			got, want := fileHash(t, filepath.Join(mnt, "color/1/volume.raw")), fileHash(t, plain)
			if got != want {
				t.Errorf("%s: got hash %s, want %s", command, got, want)
			}
		})
	}
	if len(places) > 0 {
		t.Errorf("README.md has no command for %v", places)
	}
}

func fileHash(t *testing.T, name string) string {
	t.Helper()
	sum, _ := hash(t, name)
	return sum
}
