package web

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// lateBoxes is a tree whose boxes answer late, until it is woken.
type lateBoxes struct {
	fstest.MapFS
	quick map[string]bool // the boxes that answer at once
	awake bool
}

func (l *lateBoxes) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	if err != nil || l.awake || l.quick[name] || !strings.Contains(name, "/"+tree.Boxes+"/") {
		return f, err
	}
	return lateFile{f}, nil
}

// lateFile is a file whose reads never return by themselves.
type lateFile struct{ fs.File }

func (lateFile) ReadAtContext(ctx context.Context, _ []byte, _ int64) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestContrastOfLateSource: the view waits five seconds for the contrast of all layers, uses what was read by then, and
// measures again the next time.
func TestContrastOfLateSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lateBoxes{MapFS: fstest.MapFS{}, quick: map[string]bool{}}
		h := Handler(l, Options{}).(*handler)
		var shown []*precomputed
		var layers []ngLayer
		for i := range 3 {
			info := volumeInfo{Dtype: "uint8", Channels: 1, Shape: volume.Cube(1000), Bytes: 1e9}
			dir := fmt.Sprintf("l%d/1", i)
			l.MapFS[path.Join(dir,
				tree.VolumeJSON)] = &fstest.MapFile{Data: []byte(
				`{"dtype":"uint8","channels":1,"shape":[1000,1000,1000],"bytes":1000000000}`)}
			for n, box := range info.sampleBoxes() {
				name := path.Join(dir, tree.Boxes, tree.BoxName(box)+tree.Raw)
				size := box.Size()
				l.MapFS[name] = &fstest.MapFile{Data: bytes.Repeat([]byte{byte(10 + n)}, size[0]*size[1]*size[2])}
				l.quick[name] = n < 5
			}
			p := &precomputed{mags: []mag{{dir: dir, info: info}}}
			p.info.Channels = 1
			shown, layers = append(shown, p), append(layers, ngLayer{Type: "image", Shader: shader(1)})
		}
		start := time.Now()
		h.setContrast(t.Context(), shown, layers)
		if took := time.Since(start); took != maxMeasuredTime {
			t.Errorf("the view waited %v, want %v", took, maxMeasuredTime)
		}
		measured := 0
		for _, l := range layers {
			if r := l.Controls["channel0"].Range; string(r[0]) == "10" && string(r[1]) == "14" {
				measured++
			} else if len(l.Controls) > 0 {
				t.Errorf("the range is %s, want 10 to 14, of the first boxes", r)
			}
		}
		if measured != maxPicturesAtOnce {
			t.Errorf("%d layers are measured, want %d: others wait", measured, maxPicturesAtOnce)
		}
		l.awake = true
		h.setContrast(t.Context(), shown, layers)
		for i, l := range layers {
			if r := l.Controls["channel0"].Range; string(r[0]) != "10" || string(r[1]) != "36" {
				t.Errorf("layer %d: the range is %s, want 10 to 36, of all boxes", i, r)
			}
		}
	})
}
