package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LibraryTest {
    @Test
    void operatorsOfPyTorchAreCalledByName() {
        Leaks.none(() -> {
            Tensor a = Tensor.of(1f, 2f);
            Tensor sum = (Tensor) Library.call("aten::add.Tensor", new Object[] {a, a}, Map.of("alpha", 3))[0];
            assertArrayEquals(new float[] {4, 8}, sum.toFloatArray());
            Object[] both = Library.call("max.dim", Tensor.of(new float[] {1, 5, 7, 2}, 2, 2), 1L);
            assertArrayEquals(new long[] {1, 0}, ((Tensor) both[1]).toLongArray());
            Tensor ones = (Tensor) Library.call("ones", new Object[] {new long[] {2, 3}}, Map.of("dtype", DType.FLOAT64, "device", Device.CPU))[0];
            assertEquals(DType.FLOAT64, ones.dtype());
            assertArrayEquals(new long[] {4}, ((Tensor) Library.call("cat", List.of(a, a))[0]).shape());
            assertEquals("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Library.schema("add.Tensor"));
            assertThrows(UnknownOperatorException.class, () -> Library.call("aten::no_such_operator"));
            assertThrows(TensorTypeException.class, () -> Library.call("relu", new Object()));
        });
    }

    @Test
    void anOperatorOfOthersHasTheirGradient() {
        Leaks.none(() -> {
            try (Library library = new Library("java_composite")) {
                library.define("scaled_add(Tensor self, Tensor other, float scale=2) -> Tensor")
                    .implement("scaled_add", Library.Key.COMPOSITE,
                        arguments -> arguments.tensor(0).add(arguments.tensor(1).mul(arguments.number(2))));
                Tensor a = Tensor.of(1f, 2f).requiresGrad_(true);
                Tensor b = Tensor.of(3f, 4f).requiresGrad_(true);
                Tensor y = (Tensor) Library.call("java_composite::scaled_add", a, b)[0];
                assertArrayEquals(new float[] {7, 10}, y.detach().toFloatArray());
                y.sum().backward();
                assertArrayEquals(new float[] {2, 2}, b.grad().toFloatArray());
                Tensor z = (Tensor) Library.call("java_composite::scaled_add", new Object[] {a, b}, Map.of("scale", 0.5))[0];
                assertArrayEquals(new float[] {2.5f, 4}, z.detach().toFloatArray());
                library.remove("scaled_add", Library.Key.COMPOSITE);
                assertThrows(NotImplementedException.class, () -> Library.call("java_composite::scaled_add", a, b));
            }
            assertThrows(UnknownOperatorException.class, () -> Library.call("java_composite::scaled_add", Torch.ones(1), Torch.ones(1)));
        });
    }

    /** Every kind of value reaches the kernel and comes back. */
    @Test
    void everyKindOfValueCrosses() {
        Leaks.none(() -> {
            try (Library library = new Library("java_values")) {
                Object[][] seen = {null};
                library.define("echo(Tensor x, Tensor[] list, Tensor? none, int[] ints, float[] floats, bool[] bools, str text, int i, float f,"
                    + " bool b, Scalar s, ScalarType d, Device e, MemoryFormat m) -> (Tensor, Tensor[], int, float, str, bool)");
                library.implement("echo", Library.Key.CPU, arguments -> {
                    seen[0] = new Object[arguments.size()];
                    Arrays.setAll(seen[0], arguments::get);
                    return new Object[] {
                        arguments.tensor(0).add(1), arguments.tensors(1), arguments.number(7), arguments.number(8), arguments.string(6), true,
                    };
                });
                Tensor x = Tensor.of(1f);
                Object[] results = Library.call("java_values::echo", x, new Tensor[] {x, x}, null, new long[] {1, -2}, new double[] {0.5},
                    new boolean[] {true, false}, "grün", 1L << 40, 2.5, false, Scalar.complex(1, 2), DType.BFLOAT16, Device.META,
                    MemoryFormat.CHANNELS_LAST);
                assertEquals(2, ((Tensor) results[0]).item().doubleValue());
                assertEquals(2, ((Tensor[]) results[1]).length);
                assertEquals(1L << 40, ((Scalar) results[2]).longValue());
                assertEquals(2.5, ((Scalar) results[3]).doubleValue());
                assertEquals("grün", results[4]);
                assertTrue(((Scalar) results[5]).booleanValue());
                assertNull(seen[0][2]);
                assertArrayEquals(new long[] {1, -2}, (long[]) seen[0][3]);
                assertArrayEquals(new double[] {0.5}, (double[]) seen[0][4]);
                assertArrayEquals(new boolean[] {true, false}, (boolean[]) seen[0][5]);
                assertEquals(Scalar.complex(1, 2), seen[0][10]);
                assertEquals(List.of(DType.BFLOAT16, Device.META, MemoryFormat.CHANNELS_LAST), Arrays.asList(seen[0]).subList(11, 14));
            }
        });
    }

    @Test
    void anAutogradKernelRecordsAFunctionOfItsOwn() {
        Leaks.none(() -> {
            try (Library library = new Library("java_autograd")) {
                library.define("half_gradient(Tensor x) -> Tensor")
                    .implement("half_gradient", Library.Key.CPU, arguments -> arguments.tensor(0).clone())
                    .implement("half_gradient", Library.Key.AUTOGRAD, arguments -> new AutogradFunction() {
                        @Override
                        protected Tensor[] forward(Context context, Tensor... inputs) {
                            return new Tensor[] {inputs[0].clone()};
                        }

                        @Override
                        protected Tensor[] backward(Context context, Tensor... grads) {
                            return new Tensor[] {grads[0].mul(0.5)};
                        }
                    }.apply(arguments.tensor(0))[0]);
                Tensor x = Tensor.of(3f).requiresGrad_(true);
                ((Tensor) Library.call("java_autograd::half_gradient", x)[0]).mul(8).backward();
                assertEquals(4, x.grad().item().doubleValue());
            }
        });
    }

    @Test
    void listsOfNumbersAreTakenInEveryForm() {
        Leaks.none(() -> {
            Tensor x = Tensor.of(1f, 2f);
            Object[] shapes = {new long[] {2, 1}, new int[] {2, 1}, List.of(2L, 1L), List.of(2, 1L), new Long[] {2L, 1L}, new Number[] {2, (short) 1}};
            for (Object shape : shapes) {
                assertArrayEquals(new long[] {2, 1}, ((Tensor) Library.call("aten::reshape", x, shape)[0]).shape(), shape.getClass().getName());
            }
            assertArrayEquals(new long[0], ((Tensor) Library.call("aten::reshape", x.sum(), List.of())[0]).shape());
            Tensor line = x.reshape(1, 1, 2);
            for (Object scales : new Object[] {new double[] {2}, new float[] {2}, List.of(2.0), List.of(2)}) {
                Tensor wide = (Tensor) Library.call("aten::upsample_nearest1d.vec", line, null, scales)[0];
                assertArrayEquals(new float[] {1, 1, 2, 2}, wide.toFloatArray());
            }
            assertEquals("reshape: argument 'shape' must be int, not float",
                assertThrows(TensorTypeException.class, () -> Library.call("aten::reshape", x, List.of(2.5, 1.0))).getMessage());
            assertEquals("reshape: argument 'shape' must be int[], not str[]",
                assertThrows(TensorTypeException.class, () -> Library.call("aten::reshape", x, List.of("a"))).getMessage());
            assertEquals("reshape: argument 'shape' must be int, not None",
                assertThrows(TensorTypeException.class, () -> Library.call("aten::reshape", x, Arrays.asList(1L, null))).getMessage());
        });
    }

    @Test
    void whatAKernelReturnsIsWhatItsSchemaSays() {
        Leaks.none(() -> {
            try (Library library = new Library("java_results")) {
                library.define("text(Tensor x) -> Tensor").implement("text", Library.Key.COMPOSITE, arguments -> "text");
                library.define("tensor(Tensor x) -> int").implement("tensor", Library.Key.COMPOSITE, arguments -> arguments.tensor(0));
                library.define("number(Tensor x) -> float").implement("number", Library.Key.COMPOSITE, arguments -> 3);
                Tensor x = Torch.ones(1);
                String text = assertThrows(TensorTypeException.class, () -> Library.call("java_results::text", x)).getMessage();
                assertTrue(text.startsWith("the kernel of operator java_results::text: result 0 must be Tensor, not str"), text);
                text = assertThrows(TensorTypeException.class, () -> Library.call("java_results::tensor", x)).getMessage();
                assertTrue(text.startsWith("the kernel of operator java_results::tensor: result 0 must be int, not Tensor"), text);
                assertEquals(3.0, ((Scalar) Library.call("java_results::number", x)[0]).doubleValue());
                assertEquals("the kernel of 'text' for CPU is null",
                    assertThrows(NullPointerException.class, () -> library.implement("text", Library.Key.CPU, null)).getMessage());
            }
        });
    }

    @Test
    void whatIsWrongIsSaid() {
        Leaks.none(() -> {
            try (Library library = new Library("java_errors")) {
                IllegalStateException broken = new IllegalStateException("broken kernel");
                library.define("fails(Tensor x) -> Tensor").implement("fails", Library.Key.COMPOSITE, arguments -> {
                    throw broken;
                });
                assertSame(broken, assertThrows(IllegalStateException.class, () -> Library.call("java_errors::fails", Torch.ones(1))));
                library.define("two(Tensor x) -> (Tensor, Tensor)")
                    .implement("two", Library.Key.COMPOSITE, arguments -> arguments.tensor(0));
                assertThrows(RushlightException.class, () -> Library.call("java_errors::two", Torch.ones(1)));
                library.define("odd(Tensor x) -> Tensor").implement("odd", Library.Key.COMPOSITE, arguments -> new Object[] {Torch.ones(1), new Object()});
                assertThrows(TensorTypeException.class, () -> Library.call("java_errors::odd", Torch.ones(1)));
                assertThrows(RushlightException.class, () -> library.define("fails(Tensor x) -> Tensor"));
                assertThrows(RuntimeException.class, () -> library.define("no schema"));
                assertThrows(UnknownOperatorException.class, () -> library.implement("other", Library.Key.CPU, arguments -> null));
            }
            Library closed = new Library("java_closed");
            closed.close();
            assertThrows(IllegalStateException.class, () -> closed.define("late(Tensor x) -> Tensor"));
            assertThrows(TensorValueException.class, () -> new Library("not a name"));
        });
    }

    @Test
    void resultsThatAreNotTensorsHaveTheirJavaTypes() {
        Leaks.none(() -> {
            Tensor x = Torch.zeros(2, 3);
            assertArrayEquals(new long[] {2, 3}, (long[]) Library.call("aten::size", x)[0]);
            assertEquals(3, ((Scalar) Library.call("size.int", x, -1)[0]).longValue());
            assertTrue(((Scalar) Library.call("is_floating_point", x)[0]).booleanValue());
            assertEquals(Device.CPU, Library.call("prim::device", x)[0]);
            assertEquals("cpu", Library.call("prim::type", Device.CPU)[0]);
            assertArrayEquals(new String[] {"a", "b"}, (String[]) Library.call("list", "ab")[0]);
            Object[] parts = Library.call("divmod.int", -7, 2);
            assertEquals(List.of(-4L, 1L), List.of(((Scalar) parts[0]).longValue(), ((Scalar) parts[1]).longValue()));
        });
    }

    @Test
    void listsTuplesAndDictsPassThroughKernels() {
        Leaks.none(() -> {
            try (Library library = new Library("java_values")) {
                library.define("echo(Any x) -> Any").implement("echo", Library.Key.COMPOSITE, arguments -> new Object[] {arguments.get(0)});
                library.define("typed(Dict(str, (int, str[])) x) -> int[][]")
                    .implement("typed", Library.Key.COMPOSITE, arguments -> List.of(new long[] {1}, new long[] {2, 3}));
                Tensor x = Torch.ones(2);
                Object[] tuple = (Object[]) Library.call("java_values::echo", new Object[] {new Object[] {1, "a", x}})[0];
                assertEquals("a", tuple[1]);
                assertArrayEquals(new float[] {1, 1}, ((Tensor) tuple[2]).toFloatArray());
                Map<?, ?> dict = (Map<?, ?>) Library.call("java_values::echo", Map.of("k", List.of(List.of("a"), "b")))[0];
                List<?> list = (List<?>) dict.get("k");
                assertArrayEquals(new String[] {"a"}, (String[]) list.get(0));
                assertEquals("b", list.get(1));
                Object[] entry = {7, List.of("a", "b")};
                List<?> rows = (List<?>) Library.call("java_values::typed", Map.of("k", entry))[0];
                assertArrayEquals(new long[] {2, 3}, (long[]) rows.get(1));
                assertThrows(TensorTypeException.class, () -> Library.call("java_values::typed", Map.of("k", "text")));
                Object[] cycle = new Object[1];
                cycle[0] = cycle;
                assertThrows(TensorTypeException.class, () -> Library.call("java_values::echo", new Object[] {cycle}));
            }
        });
    }
}
