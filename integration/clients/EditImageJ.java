import ij.ImagePlus;
import ij.ImageStack;
import ij.Prefs;
import ij.io.FileInfo;
import ij.io.FileOpener;
import ij.io.FileSaver;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Reads a flat file of uint32 as floats with the same bits, puts voxels into it, and saves it in place. Arguments as for
 * edit.py, without a way.
 *
 * <p>java -cp /usr/share/java/ij.jar EditImageJ.java FILE VOXELS SHAPE AT LENGTHS
 */
public class EditImageJ {
  static int[] numbers(String s) {
    return Arrays.stream(s.split(",")).mapToInt(Integer::parseInt).toArray();
  }

  static ImageStack open(String name, int[] shape) {
    Path path = Path.of(name);
    FileInfo info = new FileInfo();
    info.fileFormat = FileInfo.RAW;
    info.directory = path.getParent() + "/";
    info.fileName = path.getFileName().toString();
    info.width = shape[0];
    info.height = shape[1];
    info.nImages = shape[2];
    info.intelByteOrder = true;
    info.fileType = FileInfo.GRAY32_FLOAT;
    return new FileOpener(info).openImage().getStack();
  }

  public static void main(String[] args) throws Exception {
    int[] at = numbers(args[3]), n = numbers(args[4]);
    ImageStack stack = open(args[0], numbers(args[2])), fresh = open(args[1], n);
    for (int z = 0; z < n[2]; z++) {
      float[] to = (float[]) stack.getPixels(at[2] + z + 1), from = (float[]) fresh.getPixels(z + 1);
      for (int y = 0; y < n[1]; y++) {
        System.arraycopy(from, y * n[0], to, (at[1] + y) * stack.getWidth() + at[0], n[0]);
      }
    }
    Prefs.intelByteOrder = true;
    boolean saved = new FileSaver(new ImagePlus("edited", stack)).saveAsRawStack(args[0]);
    System.exit(saved ? 0 : 1);
  }
}
