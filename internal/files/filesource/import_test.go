package filesource

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestSameAsImport: of each file of the reference data, a mount shows the bytes that an import reads, at the same
// place, with voxels of the same size. What is an error of one is an error of the other.
func TestSameAsImport(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	same := 0
	for _, c := range cases {
		file := filepath.Join(root, c.Mount)
		a, err := arrayfile.Open(file)
		source, mountErr := Recognise(os.DirFS(root), c.Mount, Options{Unpack: t.TempDir()})
		if err != nil || mountErr != nil || source.Layer == nil {
			if err == nil && mountErr != nil {
				t.Errorf("%s: an import opens it, and a mount fails: %v", c.Name, mountErr)
			}
			if err == nil {
				a.Close()
			}
			continue
		}
		a.Unpack(t.TempDir(), nil)
		want := make([]byte, a.Grid.Bytes())
		wantErr := a.Read(t.Context(), volume.Box{Max: a.Grid.Size}, want)
		m, err := source.Layer.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		g, _ := m.CubeGrid()
		got, gotErr := volume.ReadBox(t.Context(), m, g.CubeBox(volume.Vec{}))
		switch {
		case (wantErr == nil) != (gotErr == nil):
			t.Errorf("%s: an import has the error %v, a mount %v", c.Name, wantErr, gotErr)
		case wantErr == nil && !bytes.Equal(got, want):
			t.Errorf("%s: a mount and an import have other bytes", c.Name)
		case g.Size != a.Grid.Size || g.Type != a.Grid.Type || g.Channels != a.Grid.Channels ||
			g.Spacing != a.Grid.Spacing:
			t.Errorf("%s: an import has the grid %+v, a mount %+v", c.Name, a.Grid, g)
		case a.Positioned && a.PositionErr == nil && g.Origin != a.Grid.Origin:
			t.Errorf("%s: an import has the origin %v, a mount %v", c.Name, a.Grid.Origin, g.Origin)
		default:
			same++
		}
		if err := a.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
	if same < 50 {
		t.Errorf("%d sources were compared, want at least 50", same)
	}
}
