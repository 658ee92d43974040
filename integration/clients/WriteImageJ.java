import ij.ImagePlus;
import ij.ImageStack;
import ij.io.FileInfo;
import ij.io.FileOpener;
import ij.io.FileSaver;
import ij.measure.Calibration;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads ij.raw, 16-bit little-endian, and writes it as imagej.tif, with voxel size and position, and as a sequence of TIFF
 * files.
 *
 * <p>java -cp /usr/share/java/ij.jar WriteImageJ.java DIRECTORY X Y Z NM-X NM-Y NM-Z AT-X AT-Y AT-Z
 */
public class WriteImageJ {
  public static void main(String[] args) throws Exception {
    String directory = args[0];
    FileInfo info = new FileInfo();
    info.fileFormat = FileInfo.RAW;
    info.directory = directory + "/";
    info.fileName = "ij.raw";
    info.width = Integer.parseInt(args[1]);
    info.height = Integer.parseInt(args[2]);
    info.nImages = Integer.parseInt(args[3]);
    info.intelByteOrder = true;
    info.fileType = FileInfo.GRAY16_UNSIGNED;
    ImagePlus image = new FileOpener(info).openImage();
    Files.createDirectory(Path.of(directory, "imagej"));
    ImageStack stack = image.getStack();
    for (int z = 1; z <= stack.getSize(); z++) {
      new FileSaver(new ImagePlus("z" + z, stack.getProcessor(z))).saveAsTiff(directory + "/imagej/z" + z + ".tif");
    }
    Calibration cal = image.getCalibration();
    cal.setUnit("um"); // ImageJ writes it with an escape of the micro sign
    cal.pixelWidth = Double.parseDouble(args[4]) / 1e3;
    cal.pixelHeight = Double.parseDouble(args[5]) / 1e3;
    cal.pixelDepth = Double.parseDouble(args[6]) / 1e3;
    cal.xOrigin = -Double.parseDouble(args[7]);
    cal.yOrigin = -Double.parseDouble(args[8]);
    cal.zOrigin = -Double.parseDouble(args[9]);
    new FileSaver(image).saveAsTiffStack(directory + "/imagej.tif");
    System.exit(0); // ImageJ has threads that do not end
  }
}
