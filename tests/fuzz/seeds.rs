//! `seeds FOLDER`: writes the seeds of every reader into a folder of its name, and prints the names.

use rushlight_readers::{READERS, seeds};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("usage: seeds FOLDER");
    seeds::write_all(Path::new(&folder))?;
    READERS.iter().for_each(|reader| println!("{}", reader.name));
    Ok(())
}
