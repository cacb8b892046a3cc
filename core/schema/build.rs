//! Embeds the declarations: `families.rs` lists every file of `ops/` with its text.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=ops");
    let variable = |name: &str| env::var(name).map_err(io::Error::other);
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("ops");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        files.extend(name.strip_suffix(".toml").map(str::to_owned));
    }
    files.sort();
    let mut text = String::from("&[\n");
    for family in files {
        let path = folder.join(format!("{family}.toml"));
        text.push_str(&format!("    ({family:?}, include_str!({:?})),\n", path.display().to_string()));
    }
    text.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("families.rs"), text)
}
