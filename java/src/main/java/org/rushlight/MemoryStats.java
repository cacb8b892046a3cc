package org.rushlight;

/**
 * Memory statistics of the native side.
 *
 * <pre>{@code
 * MemoryStats stats = Torch.memoryStats();
 * System.out.println(stats.peak() >= stats.allocated()); // true
 * }</pre>
 *
 * @param liveHandles number of handles owned by Java
 * @param allocated bytes in use
 * @param peak maximum number of bytes in use since the program started or {@link Torch#resetPeakMemory} was called
 * @param reserved bytes obtained from the system: in use or cached
 */
public record MemoryStats(long liveHandles, long allocated, long peak, long reserved) {}
