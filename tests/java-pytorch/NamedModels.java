import java.io.IOException;
import java.nio.file.Path;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;
import org.pytorch.LiteModuleLoader;
import org.pytorch.Module;
import org.pytorch.PytorchTestBase;

/**
 * Runs PyTorch's test base: {@code NamedModels FOLDER SUFFIX}, where SUFFIX is {@code .pt} or {@code .ptl}. The models are
 * files of the folder, found by name.
 */
public final class NamedModels {
  private static Path folder;
  private static String suffix;

  /** The tests with models of {@code FOLDER}. */
  public static final class Tests extends PytorchTestBase {
    @Override
    protected Module loadModel(String asset) throws IOException {
      String name = asset.replaceFirst("\\.ptl$", "");
      String file = folder.resolve(name + suffix).toString();
      return suffix.equals(".ptl") ? LiteModuleLoader.load(file) : Module.load(file);
    }
  }

  private NamedModels() {}

  /** Prints each test that fails, and then how many passed, failed and were ignored. */
  public static void main(String[] arguments) {
    folder = Path.of(arguments[0]);
    suffix = arguments[1];
    JUnitCore core = new JUnitCore();
    core.addListener(new RunListener() {
      @Override
      public void testFailure(Failure failure) {
        String text = String.valueOf(failure.getException()).lines().limit(4).reduce("", (all, line) -> all + "\n    " + line);
        System.out.println(failure.getDescription().getMethodName() + ":" + text);
      }

      @Override
      public void testIgnored(Description description) {
        System.out.println(description.getMethodName() + ": ignored by PyTorch");
      }
    });
    Result result = core.run(Tests.class);
    int failed = result.getFailureCount();
    System.out.printf("%s: %d passed, %d failed, %d ignored%n", suffix, result.getRunCount() - failed, failed,
        result.getIgnoreCount());
    System.exit(failed == 0 ? 0 : 1);
  }
}
