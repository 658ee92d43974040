package integration

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
)

// octant returns a box of an eighth of the volume. The octants share cubes.
func (w *writers) octant(i int) (at, size [3]int) {
	for axis, n := range w.Size {
		if half := n / 2; i>>axis&1 == 0 {
			size[axis] = half
		} else {
			at[axis], size[axis] = half, n-half
		}
	}
	return at, size
}

// cut returns the voxels of a box of a volume.
func (w *writers) cut(voxels []byte, at, size [3]int) (part []byte) {
	for z := range size[2] {
		for y := range size[1] {
			row := 4 * (at[0] + w.Size[0]*(at[1]+y+w.Size[1]*(at[2]+z)))
			part = append(part, voxels[row:row+4*size[0]]...)
		}
	}
	return part
}

// updateBoxes updates boxes that share cubes. In the end, all files are those of updates one after the other.
func (w *writers) updateBoxes() {
	base, new := w.save(200, [3]int{}, w.Size, w.random(7)), w.random(8)
	commands := w.each(func(i int) []string {
		at, size := w.octant(i)
		return w.command(w.save(100, at, size, w.cut(new, at, size)), "l", "--update")
	})
	simultaneous := w.dataset
	w.dataset = filepath.Join(w.dir, "whole/dataset")
	mustRun(w, w.command(base, "l")...)
	for _, args := range commands {
		mustRun(w, append([]string{"import", "-q", args[2], w.dataset}, args[4:]...)...)
	}
	want := contents(w, w.dataset)
	w.dataset = simultaneous
	mustRun(w, w.command(base, "l")...)
	w.again(commands, w.together(commands))
	// An update that was killed while nothing else waited leaves its temporary files to the next one.
	mustRun(w, commands[0]...)
	got := contents(w, w.dataset)
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			w.Errorf("%s differs from that of updates one after the other", name)
		}
	}
}

// updateAndReplace replaces all voxels of a layer by updates and by an import.
func (w *writers) updateAndReplace() {
	mustRun(w, w.command(w.save(200, [3]int{}, w.Size, w.random(7)), "l")...)
	commands := w.each(func(i int) []string {
		if i == 0 {
			return w.command(w.inputs[i], "l", "--force")
		}
		return w.command(w.inputs[i], "l", "--update")
	})
	absent := []string{"an update needs", "layer l", "no such file"} // while the import removes the layer
	codes := w.together(commands, append(absent, reasonBusy)...)
	if codes[0] == killed { // without it, the layer may not be complete
		codes[0] = wkwfs(w, commands[0]...).code
		for i := range codes[1:] {
			if codes[i+1] == 0 {
				codes[i+1] = 1
			}
		}
	}
	if last := w.again(commands, codes); last >= 0 {
		for i := range codes {
			if i != last {
				codes[i] = 1
			}
		}
	}
	w.checkLayers("l")
	w.checkOf("l", codes)
}

// updateAndImport updates a layer with larger ids while other layers are imported.
func (w *writers) updateAndImport() {
	mustRun(w, w.command(w.save(200, [3]int{}, w.Size, w.random(7)), "base")...)
	top := w.random(0)
	for i := range len(top) / 4 {
		top[4*i+3] = 0x10
	}
	names := []string{"base"}
	commands := w.each(func(i int) []string {
		if i == 0 {
			return w.command(w.save(101, [3]int{}, w.Size, top), "base", "--update")
		}
		names = append(names, fmt.Sprint("layer", i))
		return w.command(w.inputs[i], names[i])
	})
	codes := w.together(commands)
	w.again(commands, codes, reasonExists)
	largest := w.checkLayers(names...)
	if slices.Max(largest) < 0x1000_0000 {
		w.Errorf("the metadata have the largest ids %v", largest)
	}
	if !bytes.Equal(w.volume("base"), top) {
		w.Error("the voxels of base differ")
	}
	for i := 1; i < len(names); i++ {
		if !bytes.Equal(w.volume(names[i]), w.voxels[i]) {
			w.Errorf("the voxels of %s differ", names[i])
		}
	}
}
