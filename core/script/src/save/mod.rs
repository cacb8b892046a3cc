//! Saves modules as archives that `torch.jit.load` reads.
//!
//! The code in an archive is printed from the graphs of the methods, not copied from the source: graphs that passes have
//! changed are saved as they are. `program` prints classes and functions as they are named, `class` their headers,
//! `function` and `expression` their statements; `inline` decides what is part of an expression; `names` finds names;
//! `pickle` writes the attributes, `lite` the methods as code for the lite interpreter.

mod class;
mod constants;
mod expression;
mod function;
mod inline;
mod lite;
mod names;
mod pickle;
mod program;
mod types;

use crate::module::Module;
use crate::program::Program;
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use pickle::{Pickled, pickle, pickle_with_table};
use program::Printer;
use rushlight_base::{Result, ensure};
use rushlight_io::pt::Records;
use rushlight_tensor::Tensor;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// The folder of the records; its name has no meaning.
const ROOT: &str = "archive";
/// The version of the operators, as PyTorch counts them: those of PyTorch 2.7.
const VERSION: &[u8] = b"10\n";

/// The parts of an archive.
struct Contents {
    data: Pickled,
    constants: Pickled,
    /// Code for the lite interpreter.
    bytecode: Option<Pickled>,
    code: BTreeMap<String, String>,
}

impl Contents {
    fn of(module: &Module, lite: bool) -> Result<Contents> {
        let mut printer = Printer::new(module.program());
        let bytecode = match lite {
            true => Some(pickle(&lite::bytecode(module, &mut printer)?, &mut printer)?),
            false => None,
        };
        let data = pickle(&module.object().clone().into(), &mut printer)?;
        printer.print_pending()?;
        // An object among the constants may need more code, which may have more constants.
        let constants = loop {
            let count = printer.constants.len();
            let constants = pickle(&Tuple::new(printer.constants.clone()).into(), &mut printer)?;
            printer.print_pending()?;
            if printer.constants.len() == count {
                break constants;
            }
        };
        Ok(Contents { data, constants, bytecode, code: printer.into_files() })
    }

    fn write(&self, sink: impl Write + Seek, extra: &[(&str, &[u8])]) -> Result<()> {
        let mut records = Records::new(sink, ROOT);
        let mut identity = DefaultHasher::new();
        let mut record = |name: &str, bytes: &[u8]| {
            identity.write(name.as_bytes());
            identity.write(bytes);
            records.record(name, bytes)
        };
        record("data.pkl", &self.data.bytes)?;
        record("byteorder", b"little")?;
        record("constants.pkl", &self.constants.bytes)?;
        if let Some(bytecode) = &self.bytecode {
            record("bytecode.pkl", &bytecode.bytes)?;
        }
        for (path, code) in &self.code {
            record(&format!("code/{}.py", path.replace('.', "/")), code.as_bytes())?;
        }
        for (name, bytes) in extra {
            record(&format!("extra/{name}"), bytes)?;
        }
        record("version", VERSION)?;
        let identity = identity.finish();
        let bytecode = self.bytecode.iter().map(|pickled| ("bytecode", pickled));
        for (folder, pickled) in [("data", &self.data), ("constants", &self.constants)].into_iter().chain(bytecode) {
            for (key, (storage, dtype)) in pickled.storages.iter().enumerate() {
                records.storage(&format!("{folder}/{key}"), storage, *dtype)?;
            }
        }
        records.record(".data/serialization_id", format!("{identity:040}").as_bytes())?;
        records.finish()
    }

    /// About how many bytes the archive has.
    fn size(&self) -> usize {
        let pickled = || [&self.data, &self.constants].into_iter().chain(&self.bytecode);
        let storages = pickled().flat_map(|pickled| &pickled.storages);
        let code = self.code.values().map(String::len);
        let pickles = pickled().map(|pickled| pickled.bytes.len());
        let parts = storages.map(|(storage, _)| storage.bytes().saturating_add(128)).chain(code).chain(pickles);
        parts.fold(1 << 10, usize::saturating_add)
    }
}

/// Pickles a value; tensors go into a table.
pub(crate) fn value_with_table(value: &Value, program: &Arc<Program>, table: &mut Vec<Tensor>) -> Result<Vec<u8>> {
    pickle_with_table(value, &mut Printer::new(program), table)
}

/// A file with a value and its tensors, as `torch.save` writes it.
pub(crate) fn value_file(value: &Value, program: &Arc<Program>) -> Result<Vec<u8>> {
    let data = pickle(value, &mut Printer::new(program))?;
    let storages = data.storages.iter().map(|(storage, _)| storage.bytes().saturating_add(128));
    let size = storages.fold(data.bytes.len().saturating_add(1 << 10), usize::saturating_add);
    let mut bytes = Vec::new();
    rushlight_base::list::reserve(&mut bytes, size)?;
    let mut sink = Cursor::new(bytes);
    let mut records = Records::new(&mut sink, ROOT);
    records.record("data.pkl", &data.bytes)?;
    records.record("byteorder", b"little")?;
    records.record("version", b"3\n")?;
    for (key, (storage, dtype)) in data.storages.iter().enumerate() {
        records.storage(&format!("data/{key}"), storage, *dtype)?;
    }
    records.finish()?;
    Ok(sink.into_inner())
}

fn check_names(extra: &[(&str, &[u8])]) -> Result<()> {
    for (index, (name, _)) in extra.iter().enumerate() {
        ensure!(!name.is_empty(), Value, "an extra file has no name");
        let again = extra.iter().skip(index + 1).any(|(other, _)| other == name);
        ensure!(!again, Value, "two extra files are called '{name}'");
    }
    Ok(())
}

impl Module {
    /// Saves the module as a file that `torch.jit.load` reads, with extra files by name. An existing file is replaced
    /// atomically.
    pub fn save(&self, path: impl AsRef<Path>, extra: &[(&str, &[u8])]) -> Result<()> {
        self.save_file(path.as_ref(), extra, false)
    }

    /// Saves the module as a file that the lite interpreter reads, and `torch.jit.load` too.
    pub fn save_lite(&self, path: impl AsRef<Path>, extra: &[(&str, &[u8])]) -> Result<()> {
        self.save_file(path.as_ref(), extra, true)
    }

    fn save_file(&self, path: &Path, extra: &[(&str, &[u8])], lite: bool) -> Result<()> {
        check_names(extra)?;
        let contents = Contents::of(self, lite)?;
        rushlight_io::replace(path, |file| {
            let mut sink = BufWriter::new(OpenOptions::new().write(true).open(file)?);
            contents.write(&mut sink, extra)?;
            Ok(sink.flush()?)
        })
    }

    /// Writes the file to a sink that can seek.
    pub fn save_to(&self, sink: impl Write + Seek, extra: &[(&str, &[u8])]) -> Result<()> {
        check_names(extra)?;
        Contents::of(self, false)?.write(sink, extra)
    }

    /// The file in memory.
    pub fn to_bytes(&self, extra: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        self.contents(extra, false)
    }

    /// The file for the lite interpreter in memory.
    pub fn to_lite_bytes(&self, extra: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        self.contents(extra, true)
    }

    fn contents(&self, extra: &[(&str, &[u8])], lite: bool) -> Result<Vec<u8>> {
        check_names(extra)?;
        let contents = Contents::of(self, lite)?;
        let extra_size = extra.iter().fold(0, |sum: usize, (_, bytes)| sum.saturating_add(bytes.len()));
        let mut bytes = Vec::new();
        rushlight_base::list::reserve(&mut bytes, contents.size().saturating_add(extra_size))?;
        let mut sink = Cursor::new(bytes);
        contents.write(&mut sink, extra)?;
        Ok(sink.into_inner())
    }

    /// The code that [`save`](Module::save) writes, by the prefix of the names in it.
    pub fn printed_code(&self) -> Result<BTreeMap<String, String>> {
        Ok(Contents::of(self, false)?.code)
    }
}
