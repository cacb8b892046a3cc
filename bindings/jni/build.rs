//! Writes the JNI shims of the operators (`src/lib.rs` includes them).

fn main() -> Result<(), String> {
    opgen::write_crate("bindings/jni")
}
