/** PyTorch's Java API for saved models, over Rushlight. */
module org.pytorch {
    requires org.rushlight;
    requires static org.jspecify;

    exports org.pytorch;
}
