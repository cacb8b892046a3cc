//! Writes the methods of the operators, and their examples for the tests.

fn main() -> Result<(), String> {
    opgen::write_crate("bindings/rust")
}
