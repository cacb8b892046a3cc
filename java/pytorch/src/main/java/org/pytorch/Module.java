package org.pytorch;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.ScriptModule;
import org.rushlight.Torch;

/**
 * A model that Python saved with {@code torch.jit.save}. Calls record no gradients. Any number of threads may call the
 * methods of one module.
 */
public class Module {
    private final ScriptModule module;
    private final Set<String> methods;

    private Module(ScriptModule module) {
        this.module = module;
        this.methods = Set.copyOf(module.methods());
    }

    /**
     * Loads a module and its extra files.
     *
     * @param modelPath the name of a file
     * @param extraFiles the names of extra files, which get their contents as values; those that the file lacks stay as
     *     they are. Null for none
     * @param device the device that runs it
     * @return the module, in evaluation mode
     * @throws RuntimeException if the file cannot be read, or is no saved model
     * @throws UnsupportedOperationException if the device is not {@link Device#CPU}
     */
    public static Module load(String modelPath, @Nullable Map<String, String> extraFiles, Device device) {
        Objects.requireNonNull(modelPath, "modelPath is null");
        if (device != Device.CPU) {
            throw new UnsupportedOperationException("modules run on the CPU, not on " + device);
        }
        ScriptModule module = ScriptModule.load(modelPath);
        try {
            module.eval();
            if (extraFiles != null) {
                for (Map.Entry<String, String> file : extraFiles.entrySet()) {
                    byte[] content = module.extraFile(file.getKey());
                    if (content != null) {
                        file.setValue(new String(content, StandardCharsets.UTF_8));
                    }
                }
            }
            return new Module(module);
        } catch (RuntimeException e) {
            module.close();
            throw e;
        }
    }

    /**
     * Loads a module.
     *
     * @param modelPath the name of a file
     * @return the module, in evaluation mode
     * @throws RuntimeException if the file cannot be read, or is no saved model
     */
    public static Module load(String modelPath) {
        return load(modelPath, null, Device.CPU);
    }

    /**
     * Calls the method {@code forward}.
     *
     * @param inputs its arguments
     * @return its result
     * @throws RuntimeException if the arguments do not match its parameters, or it raises an exception
     */
    public IValue forward(IValue... inputs) {
        return runMethod("forward", inputs);
    }

    /**
     * Calls a method.
     *
     * @param methodName its name
     * @param inputs its arguments
     * @return its result
     * @throws IllegalArgumentException if there is no such method, or its result has no form in {@link IValue}
     * @throws IllegalStateException after {@link #destroy}
     * @throws RuntimeException if the arguments do not match its parameters, or it raises an exception
     */
    public IValue runMethod(String methodName, IValue... inputs) {
        if (!methods.contains(methodName)) {
            throw new IllegalArgumentException("the module has no method '" + methodName + "'");
        }
        return Torch.pinned(() -> run(methodName, inputs));
    }

    private IValue run(String method, IValue[] inputs) {
        try (Scope scope = new Scope(); NoGrad guard = new NoGrad()) {
            assert scope != null && guard != null;
            @Nullable Object[] arguments = new Object[inputs.length];
            for (int i = 0; i < inputs.length; i++) {
                int position = i;
                arguments[i] = Objects.requireNonNull(inputs[i], () -> "argument " + position + " is null").unwrap();
            }
            return IValue.wrap(module.run(method, arguments));
        }
    }

    /** Frees the module at once; otherwise the garbage collector does. It cannot be used afterwards. */
    public void destroy() {
        module.close();
    }
}
