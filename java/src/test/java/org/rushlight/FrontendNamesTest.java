package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Java has the functions of {@code at::Tensor} and {@code at::} of the C++ frontend, under the same or another name, or lacks them for a stated reason. */
class FrontendNamesTest {
    private static final Path HEADERS = Path.of("..", "cpp-frontend", "include", "ATen");
    private static final Pattern METHOD = Pattern.compile("(?m)^(?: {2})?(?!return )(?:inline |RLT_LAZY )?(?:const )?[\\w:]+(?:<.*?>)?[&*]? \\*?(\\w+)\\(");
    private static final Pattern FUNCTION = Pattern.compile("(?m)^inline [\\w:]+(?:<.*?>)?[&*]? (\\w+)\\(");

    /** Other names of the same functions. */
    private static final Map<String, String> CALLED = Map.ofEntries(Map.entry("sizes", "shape"), Map.entry("strides", "stride"),
        Map.entry("ndimension", "dim"), Map.entry("itemsize", "elementSize"), Map.entry("scalar_type", "dtype"), Map.entry("type", "dtype"),
        Map.entry("get_device", "device"), Map.entry("toType", "to"), Map.entry("variable_data", "detach"),
        Map.entry("tensor_data", "detach"), Map.entry("data", "detach"), Map.entry("data_ptr", "toBuffer"),
        Map.entry("mutable_data_ptr", "toBuffer"), Map.entry("const_data_ptr", "toBuffer"), Map.entry("accessor", "toBuffer"),
        Map.entry("packed_accessor32", "toBuffer"), Map.entry("packed_accessor64", "toBuffer"), Map.entry("mutable_grad", "setGrad"),
        Map.entry("set_requires_grad", "requires_grad_"), Map.entry("print", "toString"),
        Map.entry("_efficientzerotensor", "zeros"), Map.entry("_lazy_clone", "clone"), Map.entry("scalar_to_tensor", "scalar_tensor"),
        Map.entry("from_blob", "fromBuffer"), Map.entry("reset", "close"),
        Map.entry("defined", "isClosed"), Map.entry("output_nr", "gradNode"),
        Map.entry("remove_hook", "registerHook"), Map.entry("is_sparse_csr", "layout"));

    /** Functions that Java lacks, by reason. */
    private static final Map<String, Set<String>> ABSENT = Map.of(
        "handles and their counts stay inside", Set.of("handle", "release", "unsafeGetTensorImpl", "getIntrusivePtr", "use_count",
            "weak_use_count", "storage", "has_storage"),
        "C++ has the name for old programs", Set.of("sym_size", "sym_sizes", "sym_stride", "sym_strides", "sym_numel",
            "sym_storage_offset", "sym_nbytes", "_dimI", "_dimV", "name", "toBackend", "packed_accessor", "generic_packed_accessor"),
        "the answer is the same for every tensor", Set.of("is_mps", "is_mkldnn", "is_nested", "is_pinned", "is_hip", "is_hpu", "is_ipu",
            "is_lazy", "is_maia", "is_metal", "is_mtia", "is_privateuseone", "is_ve", "is_vulkan", "is_xla", "is_xpu"),
        "it returns a tensor and a list: Java calls it by name", Set.of("histogramdd"),
        "it calls a function: Java calls the function itself", Set.of("m"),
        "C++ has the name and throws", Set.of("pin_memory"),
        "dimensions have names in C and C++ only", Set.of("has_names", "names", "get_named_tensor_meta", "opt_names", "rename", "rename_", "refine_names", "align_to",
            "align_as"),
        "C++ keeps a number that changes nothing", Set.of("set_num_interop_threads", "get_num_interop_threads", "init_num_threads",
            "interop_threads"));

    /** Operators that only other operators call, without a public method. */
    private static Set<String> internal() throws IOException {
        Set<String> found = new TreeSet<>();
        for (String operator : Files.readString(Path.of("..", "build", "generated", "schema.json")).split("\"forms\": ")) {
            if (operator.contains("\"internal\": true")) {
                Matcher call = Pattern.compile("\"call\": \"(\\w+)\"").matcher(operator);
                call.results().map(result -> result.group(1)).forEach(found::add);
            }
        }
        assertTrue(found.size() > 50, found.size() + " internal operators");
        return found;
    }

    private static Set<String> names(String file, Pattern declaration, String from, String to) throws IOException {
        String text = Files.readString(HEADERS.resolve(file));
        int begin = text.indexOf(from);
        String part = text.substring(begin, to.isEmpty() ? text.length() : text.indexOf(to, begin));
        return declaration.matcher(part).results().map(result -> result.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The common spelling of both languages; an underscore at the end means "in place". */
    private static String plain(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT) + (name.endsWith("_") ? "_" : "");
    }

    private static Set<String> java(Class<?> type, Predicate<Method> which) {
        return Arrays.stream(type.getMethods()).filter(which).map(method -> plain(method.getName())).collect(Collectors.toSet());
    }

    private static List<String> missing(Set<String> names, Set<String> known) throws IOException {
        Set<String> internal = internal();
        Set<String> absent = ABSENT.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
        // `name_outf` is `name_out` with the output at the end, which is where Java has it.
        return names.stream().filter(name -> !name.endsWith("_outf") && !internal.contains(name) && !absent.contains(name))
            .filter(name -> !known.contains(plain(CALLED.getOrDefault(name, name)))).toList();
    }

    @Test
    void methodsOfTensorsAreHere() throws IOException {
        Set<String> names = names("core/TensorBase.h", METHOD, "bool defined()", " protected:");
        names.addAll(names("core/TensorBody.h", METHOD, "// Names of dimensions; defined in", "private:"));
        names.addAll(names("generated/methods.h", METHOD, "", ""));
        assertTrue(names.containsAll(List.of("add_", "is_conj", "suggest_memory_format", "type_as", "allclose", "requires_grad_", "var")),
            names.toString());
        Set<String> known = java(Tensor.class, method -> true);
        assertEquals(List.of(), missing(names, known));
    }

    @Test
    void functionsAreHere() throws IOException {
        Set<String> generated = names("generated/functions.h", FUNCTION, "", "");
        assertTrue(generated.size() > 1000, generated.size() + " functions");
        Set<String> functions = java(Torch.class, method -> Modifier.isStatic(method.getModifiers()));
        assertEquals(List.of(), missing(generated, functions));
        // Hand-written functions query or create tensors: in Java these are methods of Tensor.
        functions.addAll(java(Tensor.class, method -> true));
        Set<String> byHand = names("Functions.h", FUNCTION, "promote_types", "namespace native {");
        byHand.addAll(names("Functions.h", FUNCTION, "/// A tensor over memory that the caller keeps alive.", ""));
        assertTrue(byHand.containsAll(List.of("can_cast", "set_num_threads", "from_blob")), byHand.toString());
        assertEquals(List.of(), missing(byHand, functions));
    }

    /** {@code torch::special::f} is {@code special_f} here, or the operator of which it is an alias. */
    @Test
    void specialFunctionsAreHere() throws IOException {
        String header = Files.readString(HEADERS.resolve(Path.of("..", "torch", "special.h")))
            + Files.readString(HEADERS.resolve(Path.of("generated", "special_functions.h")));
        Set<String> functions = java(Torch.class, method -> Modifier.isStatic(method.getModifiers()));
        List<String> missing = new ArrayList<>();
        int seen = 0;
        Matcher name = Pattern.compile("\\nRLT_SPECIAL\\((\\w+)\\)|inline Tensor (\\w+)\\(").matcher(header);
        while (name.find()) {
            seen++;
            String function = name.group(1) != null ? name.group(1) : name.group(2);
            if (!functions.contains(plain(function)) && !functions.contains(plain("special_" + function))) {
                missing.add(function);
            }
        }
        assertTrue(seen > 50, seen + " special functions");
        assertEquals(List.of(), missing);
    }

    /** A function that exists in Java must not have a reason for its absence. */
    @Test
    void noReasonIsOutOfDate() {
        Set<String> known = java(Tensor.class, method -> true);
        known.addAll(java(Torch.class, method -> true));
        List<String> wrong = new ArrayList<>();
        ABSENT.values().stream().flatMap(Set::stream).filter(name -> known.contains(plain(name))).forEach(wrong::add);
        CALLED.forEach((cpp, java) -> {
            if (known.contains(plain(cpp)) || !known.contains(plain(java))) {
                wrong.add(cpp + " = " + java);
            }
        });
        assertEquals(List.of(), wrong);
    }
}
