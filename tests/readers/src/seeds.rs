//! Initial inputs: the recorded files of `tests/data`, and their parts.

use crate::READERS;
use rushlight_base::random::Generator;
use rushlight_io::{Entry, pt, safetensors as safetensors_files};
use rushlight_tensor::dispatch::by_name;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The folder of this crate.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Writes the seeds of every reader, and the fuzzer's earlier findings, into folders of their names.
pub fn write_all(to: &Path) -> std::io::Result<()> {
    for reader in &READERS {
        let folder = to.join(reader.name);
        fs::create_dir_all(&folder)?;
        let inputs = (reader.seeds)().into_iter().chain(regressions(reader.name));
        for (number, input) in inputs.enumerate() {
            fs::write(folder.join(format!("seed{number}")), input)?;
        }
    }
    Ok(())
}

/// The fuzzer's findings in a reader, since fixed.
pub fn regressions(reader: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("regressions").join(reader);
    files_in(&folder).iter().map(|path| read(path)).collect()
}

/// The recorded files, those that mean harm last.
fn recorded() -> Vec<PathBuf> {
    ["io", "malicious"].iter().flat_map(|name| files_in(&folder().join("../data").join(name))).collect()
}

/// The files of a folder, sorted; none if the folder does not exist.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn recorded_as(wanted: impl Fn(&str, &[u8]) -> bool) -> Vec<Vec<u8>> {
    let files = recorded().into_iter().map(|path| (path.to_string_lossy().into_owned(), read(&path)));
    files.filter(|(name, bytes)| wanted(name, bytes)).map(|(_, bytes)| bytes).collect()
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
}

/// `.pt` archives.
pub fn archives() -> Vec<Vec<u8>> {
    recorded_as(|name, bytes| name.ends_with(".pt") && is_archive(bytes))
}

/// `.pt` files of before PyTorch 1.6.
pub fn streams() -> Vec<Vec<u8>> {
    recorded_as(|name, bytes| name.ends_with(".pt") && !is_archive(bytes))
}

/// Modules that PyTorch saved.
pub fn modules() -> Vec<Vec<u8>> {
    let module = folder().join("../../core/script/tests/data/module.pt");
    files_in(&folder().join("../data/script")).iter().chain([&module]).map(|path| read(path)).collect()
}

/// Files of the lite interpreter.
pub fn lite() -> Vec<Vec<u8>> {
    let files = files_in(&folder().join("../data/script/lite"));
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "ptl"));
    files.map(|path| read(path)).collect()
}

/// The programs that `core/script/tests/language.rs` compiles: each begins with a line `=== name`.
pub fn programs() -> Vec<Vec<u8>> {
    let text = read(&folder().join("../../core/script/tests/data/language.txt"));
    let text = String::from_utf8(text).expect("programs in UTF-8");
    let program = |part: &str| part.split_once('\n').map(|(_, source)| source.as_bytes().to_vec());
    text.split("=== ").filter_map(program).collect()
}

/// Graphs that PyTorch printed: each begins with `graph(`.
pub fn graphs() -> Vec<Vec<u8>> {
    let graph = |part: &str| {
        let end = part.find("\n\n").unwrap_or(part.len());
        format!("graph({}", &part[..end]).into_bytes()
    };
    let files = files_in(&folder().join("../../core/script/tests/data/graphs"));
    let texts = files.iter().map(|path| String::from_utf8(read(path)).expect("graphs in UTF-8"));
    texts.flat_map(|text| text.split("graph(").skip(1).map(graph).collect::<Vec<_>>()).collect()
}

/// The pickles of the archives.
pub fn pickles() -> Vec<Vec<u8>> {
    let pickle = |archive: Vec<u8>| {
        let mut zip = ZipArchive::new(Cursor::new(archive)).ok()?;
        let at = zip.file_names_raw().position(|name| name.ends_with(b"/data.pkl"))?;
        let mut pickle = Vec::new();
        zip.by_index(at).ok()?.read_to_end(&mut pickle).ok()?;
        Some(pickle)
    };
    archives().into_iter().filter_map(pickle).collect()
}

/// The part of the archives' tensors that safetensors can store.
pub fn safetensors() -> Vec<Vec<u8>> {
    let writable = |entries: Vec<Entry>| safetensors_files::to_bytes(&entries, None).ok();
    let archives = archives().into_iter().filter_map(|archive| writable(pt::read(Cursor::new(archive)).ok()?.entries));
    let small = br#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}    "#;
    let small = [&(small.len() as u64).to_le_bytes()[..], small, &[0; 4]].concat();
    archives.chain([small]).collect()
}

/// NumPy's archives.
pub fn npz() -> Vec<Vec<u8>> {
    recorded_as(|name, _| name.ends_with(".npz"))
}

/// Signatures of built-in operators.
pub fn schemas() -> Vec<Vec<u8>> {
    let signatures = by_name::all().map(|op| op.signature());
    let built_in: Vec<Vec<u8>> = signatures.map(|signature| format!("my::{signature}").into_bytes()).collect();
    assert!(built_in.len() > 100);
    built_in
}

/// Equations, after the operands that they are for.
pub fn equations() -> Vec<Vec<u8>> {
    let equations: [&[u8]; 6] = [
        b"\x08\x02ij,jk->ik",
        b"\x07\x01ii",
        b"\x00\x01...->...",
        b"\x00\x01i...->...i",
        b"\x1b\x02,->",
        b"\x04\x02bij,jk",
    ];
    equations.map(<[u8]>::to_vec).to_vec()
}

/// Names of devices, dtypes and operators.
pub fn names() -> Vec<Vec<u8>> {
    let names =
        ["cpu", "cuda:1", "meta", "float32", "complex64", "add.Tensor", "aten::sum", "rushlight::sum.dim_IntList"];
    names.map(|name| name.as_bytes().to_vec()).to_vec()
}

/// States of a generator.
pub fn generator_states() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(7);
    generator.random();
    vec![generator.get_state().to_vec()]
}

/// A matrix of floats, with strides and without; a byte that says `bool`.
pub fn dlpack() -> Vec<Vec<u8>> {
    vec![
        vec![2, 32, 1, 0, 1, 1, 2, 0, 8, 3, 4, 1, 1, 1, 1, 4, 1, 0, 0, 0, 0],
        vec![2, 64, 1, 0, 1, 1, 3, 1, 0, 2, 2, 2],
        vec![6, 8, 1, 0, 0, 1, 1, 0, 1, 5, 1, 1, 1, 1, 1, 2],
    ]
}
