package org.rushlight;

/**
 * What the native side holds.
 *
 * @param liveHandles handles given to Java and not yet freed
 * @param allocated bytes in use
 * @param peak highest number of bytes in use so far
 */
public record MemoryStats(long liveHandles, long allocated, long peak) {}
