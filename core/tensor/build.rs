//! Writes the generated code of the operators (`src/ops/mod.rs` and `src/autograd/expr` include it).

fn main() -> Result<(), String> {
    opgen::write_crate("core/tensor")
}
