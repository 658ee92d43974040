//go:build clients

package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// TestClientCloudSecrets checks that a mount shows its credentials nowhere: in the log with --debug, the status, the
// metrics and the table of mounts, with and without faults.
func TestClientCloudSecrets(t *testing.T) {
	t.Parallel()
	dir := objects(t, cloudLayer)
	s3, web := startCloud(t, "s3", dir), startCloud(t, "https", dir)
	web.url = strings.Replace(web.url, "https://", "https://user:"+cloudSecret+"@", 1) + "?token=" + cloudSecret
	for _, c := range []*cloud{s3, web} {
		log := filepath.Join(tempDir(t), "log")
		s := c.mount(t, c.url, "--debug", "--log-file", log, "--timeout", "1s")
		volume := filepath.Join(s.dir, "color/1/volume.raw")
		if _, err := os.ReadFile(volume); err != nil {
			t.Error(err)
		}
		box := filepath.Join(s.dir, "color/1/box/5-9_3-9_2-9.raw")
		c.proxy.Set(cloudproxy.Rules{Fault: cloudproxy.Always(cloudproxy.Fault{Status: http.StatusInternalServerError,
			Body: "busy"})})
		_, _ = os.ReadFile(box) // what it says is in the log
		c.proxy.Set(cloudproxy.Rules{})
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		table, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		metrics, err := os.ReadFile(filepath.Join(s.dir, ".wkwfs/metrics"))
		if err != nil {
			t.Error(err)
		}
		for what, shown := range map[string]string{
			"log": string(text), "status": c.run(t, "status", s.dir), "status as JSON": c.run(t, "status", "--json",
				s.dir),
			"mountinfo": string(table), "metrics": string(metrics),
		} {
			if strings.Contains(shown, cloudSecret) {
				t.Errorf("%s: the %s has the secret:\n%.3000s", c.name, what, shown)
			}
			if len(shown) == 0 {
				t.Errorf("%s: no %s", c.name, what)
			}
		}
		s.stop(t)
	}
}
