//go:build clients

package integration

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// TestClientCloudListAhead lists rows of cubes one after the other, on a store that answers late. The listings of the
// next rows are in flight at the same time, and no row is asked for much more often than once.
func TestClientCloudListAhead(t *testing.T) {
	t.Parallel()
	const rows, cubes = 40, 30 // more than one answer has
	dir := objects(t, cachedLayer)
	content := cachedLayer.model.file(t)
	for y := range rows {
		for x := range cubes {
			path := filepath.Join(dir, fmt.Sprintf("color/1/z5/y%d/x%d.wkw", y, x))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := putObject(path, content); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"s3", "gs"} {
		t.Run(name, func(t *testing.T) {
			c := startCloud(t, name, dir)
			c.proxy.Set(cloudproxy.Rules{Delay: 50 * time.Millisecond})
			s := c.mount(t, c.url)
			c.proxy.Requests()
			c.proxy.MostInFlight()
			listed, err := filepath.Glob(filepath.Join(s.dir, "color/1/z5/y*"))
			if len(listed) != rows || err != nil {
				t.Fatalf("got %d rows, %v", len(listed), err)
			}
			for _, row := range listed {
				if entries, err := os.ReadDir(row); len(entries) != 2*cubes || err != nil {
					t.Errorf("%s: %d entries, %v", row, len(entries), err)
				}
			}
			if most := c.proxy.MostInFlight(); most < 3 {
				t.Errorf("at most %d requests in flight", most)
			}
			asked := map[string]int{}
			total := 0
			for _, r := range c.proxy.Requests() {
				_, query, _ := strings.Cut(r.Path, "?")
				values, err := url.ParseQuery(query)
				if prefix := values.Get("prefix"); err == nil && strings.Contains(prefix, "/z5/y") {
					asked[prefix]++
					total++
				}
			}
			if len(asked) != rows || total > rows+rows/4 {
				t.Errorf("%d requests for %d rows, expected one for each of %d", total, len(asked), rows)
			}
		})
	}
}
