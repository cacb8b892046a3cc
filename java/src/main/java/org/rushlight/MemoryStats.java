package org.rushlight;

/**
 * What the native side holds.
 *
 * <pre>{@code
 * MemoryStats stats = Torch.memoryStats();
 * System.out.println(stats.peak() >= stats.allocated()); // true
 * }</pre>
 *
 * @param liveHandles handles given to Java and not yet freed
 * @param allocated bytes in use
 * @param peak highest number of bytes in use since the program began or {@link Torch#resetPeakMemory} was called
 * @param reserved bytes held of the system: those in use and those that are kept for the next tensor
 */
public record MemoryStats(long liveHandles, long allocated, long peak, long reserved) {}
