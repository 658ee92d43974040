import ij.ImagePlus;
import ij.ImageStack;
import ij.io.FileInfo;
import ij.io.FileOpener;
import ij.io.Opener;
import ij.measure.Calibration;
import ij.plugin.FileInfoVirtualStack;
import ij.plugin.FolderOpener;
import ij.process.ColorProcessor;
import ij.process.ImageProcessor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * ImageJ without plugins: a TIFF in memory and as a virtual stack, a raw file as in
 * File > Import > Raw, a directory as an image sequence. Lines in and out are those of
 * client.py. ImageJ converts 32-bit integers to float32.
 *
 * <p>Debian: imagej, openjdk-17-jdk-headless.
 *
 * <p>java -Djava.awt.headless=true -cp /usr/share/java/ij.jar ReadImageJ.java
 */
public class ReadImageJ {
  public static void main(String[] args) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] words = line.split("\t");
      String answer;
      try {
        answer = describe(open(words[0]), words);
      } catch (Exception e) {
        answer = "{\"error\": \"" + e.toString().replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}";
      }
      System.out.println(answer);
    }
    System.exit(0); // ImageJ has threads that do not end
  }

  static ImagePlus open(String path) throws Exception {
    if (path.endsWith(".raw")) {
      return checkOpened(new FileOpener(rawInfo(path)).openImage());
    }
    if (Files.isDirectory(Path.of(path))) {
      return checkOpened(FolderOpener.open(path));
    }
    Opener opener = new Opener();
    opener.setSilentMode(true);
    ImagePlus image = checkOpened(opener.openImage(path));
    if (!hash(image).equals(hash(checkOpened(FileInfoVirtualStack.openVirtual(path))))) {
      throw new IOException("the virtual stack differs");
    }
    return image;
  }

  static ImagePlus checkOpened(ImagePlus image) throws IOException {
    if (image == null) {
      throw new IOException("ImageJ cannot open it");
    }
    return image;
  }

  /** The fields of ImageJ's dialog for raw files, from the extended attributes of the file. */
  static FileInfo rawInfo(String path) throws IOException {
    Path file = Path.of(path);
    int[] shape = Stream.of(attribute(file, "shape").split(",")).mapToInt(Integer::parseInt).toArray();
    FileInfo info = new FileInfo();
    info.fileFormat = FileInfo.RAW;
    info.directory = file.getParent() + "/";
    info.fileName = file.getFileName().toString();
    info.width = shape[0];
    info.height = shape[1];
    info.nImages = shape[2];
    info.intelByteOrder = true;
    info.fileType =
        switch (attribute(file, "dtype") + "x" + attribute(file, "channels")) {
          case "uint8x1" -> FileInfo.GRAY8;
          case "uint8x3" -> FileInfo.RGB;
          case "uint16x1" -> FileInfo.GRAY16_UNSIGNED;
          case "uint32x1" -> FileInfo.GRAY32_UNSIGNED;
          case "float32x1" -> FileInfo.GRAY32_FLOAT;
          default -> throw new IOException("no such raw type in ImageJ");
        };
    return info;
  }

  static String attribute(Path file, String key) throws IOException {
    return new String((byte[]) Files.getAttribute(file, "user:wkwfs." + key));
  }

  static String describe(ImagePlus image, String[] words) throws Exception {
    Calibration cal = image.getCalibration();
    boolean known = cal.getUnit().equals("nm");
    List<String> voxels = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      voxels.add(voxel(image, words[i].split(",")));
    }
    return String.format(
        "{\"shape\": [%d, %d, %d], \"channels\": %d, \"dtype\": \"%s\", \"spacing\": %s, "
            + "\"origin\": %s, \"voxels\": %s, \"sha256\": \"%s\"}",
        image.getWidth(), image.getHeight(), image.getStackSize(),
        image.getType() == ImagePlus.COLOR_RGB ? 3 : 1,
        new String[] {"uint8", "uint16", "float32", "uint8", "uint8"}[image.getType()],
        known ? triple(cal.pixelWidth, cal.pixelHeight, cal.pixelDepth) : "null",
        known ? triple(cal.getX(0), cal.getY(0), cal.getZ(0)) : "null",
        voxels, hash(image));
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
    return "[" + (double) plane.getf(x, y) + "]";
  }

  static String triple(double x, double y, double z) {
    return "[" + x + ", " + y + ", " + z + "]";
  }

  /** The hash of all values, plane by plane. */
  static String hash(ImagePlus image) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    ImageStack stack = image.getStack();
    for (int z = 1; z <= stack.getSize(); z++) {
      digest.update(bytes(stack.getPixels(z)));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** The values of a plane as little-endian bytes. pixels is an array of ImageJ. */
  static byte[] bytes(Object pixels) {
    if (pixels instanceof byte[] values) {
      return values;
    }
    if (pixels instanceof short[] values) {
      ByteBuffer b = ByteBuffer.allocate(2 * values.length).order(ByteOrder.LITTLE_ENDIAN);
      b.asShortBuffer().put(values);
      return b.array();
    }
    if (pixels instanceof float[] values) {
      ByteBuffer b = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
      b.asFloatBuffer().put(values);
      return b.array();
    }
    int[] colors = (int[]) pixels;
    ByteBuffer b = ByteBuffer.allocate(3 * colors.length);
    for (int rgb : colors) {
      b.put((byte) (rgb >> 16)).put((byte) (rgb >> 8)).put((byte) rgb);
    }
    return b.array();
  }
}
