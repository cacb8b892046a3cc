//! Writes `schema.json`, the declarations as data (`src/declared.rs` includes it).

fn main() -> Result<(), String> {
    opgen::write_schema()
}
