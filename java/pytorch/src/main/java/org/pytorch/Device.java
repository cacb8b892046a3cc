package org.pytorch;

/** The device that runs a module. */
public enum Device {
    /** The CPU. */
    CPU(1),
    /** A GPU through Vulkan, which PyTorch has on Android. Modules are not loaded to it. */
    VULKAN(2);

    final int jniCode;

    Device(int jniCode) {
        this.jniCode = jniCode;
    }
}
