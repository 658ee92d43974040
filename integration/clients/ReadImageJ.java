import ij.ImagePlus;
import ij.io.Opener;
import ij.measure.Calibration;
import ij.process.ColorProcessor;
import ij.process.ImageProcessor;
import java.util.ArrayList;
import java.util.List;

/**
 * What ImageJ reads by itself: classic TIFFs of one channel, or of three of uint8. It
 * knows no signs of 8 and 32 bits, so dtype is what it says, not what was stored.
 *
 * <p>Debian: imagej, openjdk-17-jdk-headless.
 *
 * <p>java -Djava.awt.headless=true -cp /usr/share/java/ij.jar ReadImageJ.java FILE x,y,z ...
 */
public class ReadImageJ {
  public static void main(String[] args) {
    Opener opener = new Opener();
    opener.setSilentMode(true);
    ImagePlus image = opener.openImage(args[0]);
    if (image == null) {
      System.err.println("ImageJ cannot open " + args[0]);
      System.exit(1);
    }
    boolean rgb = image.getType() == ImagePlus.COLOR_RGB;
    Calibration cal = image.getCalibration();
    boolean known = cal.getUnit().equals("nm");
    List<String> voxels = new ArrayList<>();
    for (int i = 1; i < args.length; i++) {
      voxels.add(voxel(image, args[i].split(",")));
    }
    System.out.printf(
        "{\"shape\": [%d, %d, %d], \"channels\": %d, \"dtype\": \"%s\", "
            + "\"spacing_nm\": %s, \"origin_nm\": %s, \"voxels\": %s}%n",
        image.getWidth(), image.getHeight(), image.getStackSize(), rgb ? 3 : 1,
        new String[] {"uint8", "uint16", "float32", "uint8", "uint8"}[image.getType()],
        known ? triple(cal.pixelWidth, cal.pixelHeight, cal.pixelDepth) : "null",
        known ? triple(cal.getX(0), cal.getY(0), cal.getZ(0)) : "null",
        voxels);
    System.exit(0); // ImageJ's threads would go on
  }

  /** The values at a position, as JSON. */
  static String voxel(ImagePlus image, String[] xyz) {
    int x = Integer.parseInt(xyz[0]);
    int y = Integer.parseInt(xyz[1]);
    ImageProcessor plane = image.getStack().getProcessor(Integer.parseInt(xyz[2]) + 1);
    if (plane instanceof ColorProcessor) {
      int rgb = plane.getPixel(x, y);
      return "[" + (rgb >> 16 & 255) + ", " + (rgb >> 8 & 255) + ", " + (rgb & 255) + "]";
    }
    return "[" + plane.getf(x, y) + "]";
  }

  static String triple(double x, double y, double z) {
    return "[" + x + ", " + y + ", " + z + "]";
  }
}
