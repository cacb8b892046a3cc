package org.pytorch;

import org.rushlight.Torch;

/** Process-wide settings: the part of PyTorch's class that does not need Android. */
public final class PyTorchAndroid {
    private PyTorchAndroid() {}

    /**
     * Sets the number of threads that an operator uses.
     *
     * @param numThreads the number, at least 1
     * @throws IllegalArgumentException if it is less than 1
     */
    public static void setNumThreads(int numThreads) {
        if (numThreads < 1) {
            throw new IllegalArgumentException("numThreads is " + numThreads + ", and must be at least 1");
        }
        Torch.setNumThreads(numThreads);
    }
}
