//! With the feature `cuda-embedded`, lists the files of kernels for `include_bytes!`.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=ptx");
    if env::var_os("CARGO_FEATURE_CUDA_EMBEDDED").is_none() {
        return;
    }
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("ptx");
    let mut rows: Vec<String> = fs::read_dir(&folder)
        .expect("core/cuda/ptx is part of the repository")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .map(|path| format!("({:?}, include_bytes!({path:?})),", path.file_stem().unwrap_or_default()))
        .collect();
    rows.sort();
    let text = format!("pub(super) const FILES: &[(&str, &[u8])] = &[{}];\n", rows.join("\n"));
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("kernels.rs"), text).expect("writing");
}
