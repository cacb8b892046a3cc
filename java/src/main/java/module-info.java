/** PyTorch's tensors, autograd, nn and optim on the JVM: one jar with a small native library. */
module org.rushlight {
    requires static org.jspecify;

    exports org.rushlight;
    exports org.rushlight.data;
    exports org.rushlight.inference;
    exports org.rushlight.nn;
    exports org.rushlight.optim;
    exports org.rushlight.training;
}
