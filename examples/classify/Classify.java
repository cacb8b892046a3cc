import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.rushlight.*;
import org.rushlight.nn.Functional;
import org.rushlight.nn.InterpolationMode;
import org.rushlight.nn.Upsample;

/**
 * Names what is in a picture, with a classifier that Python saved by torch.jit.save.
 *
 * <p>Usage: {@code Classify MODEL PICTURE}. The picture is prepared as torchvision prepares it for its classifiers:
 * resize, crop, normalize. The extra file classes.txt of the model has the name of a class in each line.
 */
class Classify {
    private static final long RESIZED = 256, CROPPED = 224, SHOWN = 3;

    /** Any picture that ImageIO reads, as bytes of shape (3, H, W). */
    static Tensor read(File file) throws IOException {
        BufferedImage image = ImageIO.read(file);
        if (image == null) {
            throw new IOException(file + " is not a picture");
        }
        int height = image.getHeight(), width = image.getWidth();
        byte[] bytes = new byte[3 * height * width];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int pixel = image.getRGB(x, y);
                for (int channel = 0; channel < 3; channel++) {
                    bytes[(channel * height + y) * width + x] = (byte) (pixel >> (16 - 8 * channel));
                }
            }
        }
        return Tensor.ofBytes(bytes, 3, height, width);
    }

    /** (3, H, W) bytes -> (1, 3, 224, 224): the shorter side is resized to 256, the middle is cropped. */
    static Tensor prepare(Tensor picture) {
        Tensor x = picture.unsqueeze(0).to(DType.FLOAT32).div(255);
        long height = x.size(2), width = x.size(3), shorter = Math.min(height, width);
        long rows = RESIZED * height / shorter, columns = RESIZED * width / shorter;
        x = Functional.interpolate(x, new Upsample.Options().withSize(rows, columns).withMode(InterpolationMode.BILINEAR).withAntialias(true));
        x = x.narrow(2, (rows - CROPPED) / 2, CROPPED).narrow(3, (columns - CROPPED) / 2, CROPPED);
        Tensor mean = Tensor.of(0.485f, 0.456f, 0.406f).view(3, 1, 1);
        Tensor deviation = Tensor.of(0.229f, 0.224f, 0.225f).view(3, 1, 1);
        return x.sub(mean).div(deviation);
    }

    static void classify(String file, String picture) throws IOException {
        try (Scope scope = new Scope(); ScriptModule model = ScriptModule.load(file); NoGrad guard = new NoGrad()) {
            model.eval();
            byte[] lines = model.extraFile("classes.txt");
            List<String> names = lines == null ? List.of() : new String(lines, StandardCharsets.UTF_8).lines().toList();
            Tensor scores = model.forward(prepare(read(new File(picture)))).toTensor().softmax(1).select(0, 0);
            Results.ValuesIndices top = scores.topk(Math.min(SHOWN, scores.size(0)));
            for (long i = 0; i < top.values().size(0); i++) {
                int index = (int) top.indices().select(0, i).itemLong();
                String name = index < names.size() ? names.get(index) : "class " + index;
                System.out.printf(Locale.ROOT, "%-20s %.4f%n", name, top.values().select(0, i).itemFloat());
            }
        }
    }

    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: Classify MODEL PICTURE");
            System.exit(2);
        }
        try {
            classify(arguments[0], arguments[1]);
        } catch (IOException | RushlightException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }
}
