/** A program on the module path. */
module app {
    requires org.rushlight;
}
