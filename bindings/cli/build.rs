//! Lists the archives of golden cases that `rushlight verify` has inside: every one in `tests/data/golden`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/golden").canonicalize()?;
    println!("cargo::rerun-if-changed={}", golden.display());
    let entries = std::fs::read_dir(&golden)?.map(|entry| Ok(entry?.path()));
    let mut archives = entries.collect::<std::io::Result<Vec<PathBuf>>>()?;
    archives.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    archives.sort();
    let mut text = format!("const OWN: [&[u8]; {}] = [\n", archives.len());
    for archive in &archives {
        writeln!(text, "    include_bytes!({archive:?}),")?;
    }
    text.push_str("];\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("golden.rs"), text)?;
    Ok(())
}
