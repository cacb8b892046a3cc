package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.Linear;

/** Cases that would crash the JVM if a handle or memory were freed while in use. */
class NativeSafetyTest {
    private static final int SIZE = 1 << 20;

    @AfterEach
    void restore() {
        Torch.setCacheLimit(1L << 30);
    }

    /** Without a cache, freed memory is unmapped, and reading it ends the process. */
    private static void keepsItsMemory(Tensor tensor, Consumer<Tensor> change) {
        Torch.setCacheLimit(0);
        ByteBuffer buffer = tensor.toBuffer();
        change.accept(tensor);
        FloatBuffer floats = buffer.asFloatBuffer();
        for (int i = 0; i < SIZE; i++) {
            assertEquals(1, floats.get(i));
            floats.put(i, 2);
        }
        assertEquals(2, floats.get(SIZE - 1));
    }

    @Test
    void aBufferKeepsTheMemoryThatItsTensorGivesUp() {
        try (Scope scope = new Scope()) {
            assert scope != null;
            Tensor data = Torch.ones(SIZE);
            keepsItsMemory(data, tensor -> tensor.setData(Torch.zeros(4)));
            assertArrayEquals(new float[4], data.toFloatArray());
            Tensor grown = Torch.ones(SIZE);
            keepsItsMemory(grown, tensor -> tensor.resize_(new long[] {16L * SIZE}));
            assertEquals(1, grown.get(0).item().floatValue());
            try (Linear linear = new Linear(1024, 1024)) {
                keepsItsMemory(linear.weight().detach().fill_(1), weight -> linear.to(DType.FLOAT64));
                linear.to(DType.FLOAT32);
                keepsItsMemory(linear.weight(), weight -> linear.to(DType.FLOAT64), 1);
            }
        }
    }

    private static void keepsItsMemory(Tensor weight, Consumer<Tensor> change, float value) {
        try (NoGrad off = new NoGrad()) {
            assert off != null;
            weight.fill_(value);
        }
        keepsItsMemory(weight, change);
    }

    @Test
    void theMemoryOfABufferIsFreedWithIt() throws InterruptedException {
        long before = Leaks.live();
        bufferOfAClosedTensor();
        Leaks.collect(before);
        try (Tensor meta = Torch.ones(new long[] {2}, TensorOptions.of(Device.META))) {
            long live = Leaks.live();
            assertThrows(NotImplementedException.class, meta::toBuffer);
            assertEquals(live, Leaks.live());
        }
    }

    private static void bufferOfAClosedTensor() {
        ByteBuffer buffer;
        try (Tensor tensor = Torch.ones(4)) {
            buffer = tensor.toBuffer();
        }
        assertEquals(1, buffer.getFloat(12));
    }

    @Test
    void onlyMemoryThatCanBeWrittenBecomesATensor(@TempDir Path folder) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        Path file = Files.write(folder.resolve("mapped"), new byte[16]);
        try (FileChannel channel = FileChannel.open(file)) {
            for (Buffer readOnly : List.of(bytes.asReadOnlyBuffer(), bytes.asFloatBuffer().asReadOnlyBuffer(),
                channel.map(FileChannel.MapMode.READ_ONLY, 0, 16))) {
                RushlightException error = assertThrows(TensorValueException.class, () -> Tensor.fromBuffer(readOnly, DType.FLOAT32, 4));
                assertTrue(error.getMessage().contains("can be written"), error.getMessage());
            }
        }
    }

    @Test
    void aViewOfAnotherByteOrderIsRefused() {
        ByteOrder foreign = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        ByteBuffer bytes = ByteBuffer.allocateDirect(16).order(foreign);
        for (Buffer view : List.of(bytes.asShortBuffer(), bytes.asCharBuffer(), bytes.asIntBuffer(), bytes.asLongBuffer(),
            bytes.asFloatBuffer(), bytes.asDoubleBuffer())) {
            RushlightException error = assertThrows(TensorValueException.class, () -> Tensor.fromBuffer(view, DType.FLOAT32, 4));
            assertTrue(error.getMessage().contains("are " + foreign + ", those of tensors " + ByteOrder.nativeOrder()), error.getMessage());
            assertTrue(error.getMessage().contains("ByteOrder.nativeOrder()"), error.getMessage());
        }
        // Bytes have no byte order.
        try (Tensor tensor = Tensor.fromBuffer(bytes, DType.UINT8, 16)) {
            assertEquals(0, tensor.sum().item().intValue());
        }
    }

    /** One thread repeatedly uses objects that another one closes. */
    private static <T extends AutoCloseable> void closedMeanwhile(Supplier<T> make, Consumer<T> use) throws Exception {
        AtomicReference<T> shared = new AtomicReference<>(make.get());
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        Thread user = new Thread(() -> {
            while (!done.get()) {
                try {
                    use.accept(shared.get());
                } catch (IllegalStateException e) {
                    if (!e.getMessage().contains("is closed")) {
                        wrong.set(e);
                    }
                } catch (RuntimeException e) {
                    wrong.set(e);
                }
            }
        });
        user.start();
        long end = System.nanoTime() + 1_000_000_000L;
        while (System.nanoTime() < end) {
            shared.getAndSet(make.get()).close();
        }
        done.set(true);
        user.join();
        shared.get().close();
        assertEquals(null, wrong.get());
    }

    @Test
    void aGeneratorThatIsClosedInUseStaysUntilTheCallEnds() throws Exception {
        long before = Leaks.live();
        closedMeanwhile(() -> new Generator(1), generator -> {
            generator.initialSeed();
            generator.manualSeed(3);
            Torch.rand(new long[] {64}, generator).close();
            ((Tensor) Library.call("aten::randperm.generator", new Object[] {8}, Map.of("generator", generator))[0]).close();
        });
        Leaks.collect(before);
    }

    @Test
    void aNodeThatIsClosedInUseStaysUntilTheCallEnds() throws Exception {
        long before = Leaks.live();
        try (Tensor leaf = Torch.ones(2).requiresGrad_(true)) {
            closedMeanwhile(() -> {
                try (Tensor product = leaf.mul(2)) {
                    return product.gradNode();
                }
            }, node -> {
                node.name();
                node.sequenceNumber();
                node.nextEdges().forEach(edge -> {
                    if (edge.node() != null) {
                        edge.node().close();
                    }
                });
                node.registerHook((gave, took) -> null).close();
            });
        }
        Leaks.collect(before);
    }

    /** The native side takes its own reference to the result of a kernel, not the one of the generator. */
    @Test
    void aKernelMayReturnItsGenerator() {
        Leaks.none(() -> {
            try (Library library = new Library("safety"); Generator generator = new Generator(5)) {
                library.define("same(Generator g) -> Generator");
                library.implement("same", Library.Key.COMPOSITE, arguments -> arguments.get(0));
                for (int i = 0; i < 3; i++) {
                    try (Generator same = (Generator) Library.call("safety::same", generator)[0]) {
                        assertEquals(5, same.initialSeed());
                    }
                }
                assertEquals(5, generator.initialSeed());
            }
        });
    }

    /** A closed result is an error that leaks no reference to the other results. */
    @Test
    void aClosedResultOfACallbackLeaksNothing() {
        Leaks.none(() -> {
            Tensor closed = Torch.ones(1);
            closed.close();
            try (Library library = new Library("safety")) {
                library.define("two(Tensor x) -> (Tensor, Tensor)");
                library.implement("two", Library.Key.COMPOSITE, arguments -> new Object[] {arguments.tensor(0), closed});
                assertThrows(IllegalStateException.class, () -> Library.call("safety::two", Torch.ones(1)));
            }
            Tensor x = Torch.ones(1).requiresGrad_(true);
            try (Node node = x.mul(2).gradNode(); Tensor y = x.mul(2); Node other = y.gradNode()) {
                assertNotEquals(null, node);
                other.registerHook((gave, took) -> new Tensor[] {gave[0], closed}).close();
                other.registerPrehook(took -> new Tensor[] {closed});
                assertThrows(IllegalStateException.class, y::backward);
            }
        });
    }

    /** The tensors that are protected are those that are used, even if another thread modifies the array meanwhile. */
    @Test
    void anArrayThatChangesDuringTheCallIsSafe() throws Exception {
        Tensor[] list = {Torch.ones(8), Torch.ones(8)};
        closedMeanwhile(() -> list[1] = Torch.ones(8), open -> Torch.cat(list, 0).close());
        assertFalse(list[0].isClosed());
        list[0].close();
    }
}
