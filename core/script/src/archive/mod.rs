//! TorchScript archives: the zip container, its pickles, source code, extra files.
//!
//! `pickle` reads the structure of a pickle, `build` creates values of it with the classes of the program, `custom`
//! those of classes that are not written in TorchScript, `layout` lists the attributes of objects. Nothing in an archive is executed by reading it.

mod build;
pub(crate) mod custom;
mod layout;
mod pickle;

pub(crate) use build::{Built, Named, Source as Classes};
pub use custom::State;
pub(crate) use layout::Layout;

use crate::program::Program;
use crate::runtime::Environment;
use crate::runtime::value::Value;
use crate::source::Source;
use crate::types::{Resolver, Type};
use crate::upgrade::ARCHIVED;
use rushlight_base::{Result, Storage, bail, ensure, err};
use rushlight_io::pt;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No archive has a larger pickle.
const MAX_PICKLE: u64 = 64 << 20;
/// No archive has a larger file of source code.
const MAX_CODE: u64 = 64 << 20;
/// Extra files of a larger size are not read.
const MAX_EXTRA: u64 = 1 << 30;

/// How often all of the records may be read.
const READS: u64 = 4;

/// The versions of the archive format that are read.
const VERSIONS: std::ops::RangeInclusive<u64> = 1..=10;

trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// An open archive.
pub struct Archive {
    records: Mutex<pt::Archive<Box<dyn ReadSeek>>>,
    version: u64,
    /// The whole file, mapped: the storages of tensors are parts of it.
    mapping: Option<Storage>,
}

impl Archive {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| err!(Io, "cannot open {}: {error}", path.display()))?;
        Archive::from_reader(BufReader::new(file)).map_err(|error| error.context(path.display()))
    }

    /// Opens a file, whose tensors are not read but mapped. Changes of tensors stay in memory.
    pub fn open_mapped(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let mut archive = Archive::open(path)?;
        let name = path.to_str().ok_or_else(|| err!(Io, "the name {} is not UTF-8", path.display()))?;
        let length = std::fs::metadata(path)?.len();
        let length = usize::try_from(length).map_err(|_| err!(Io, "a file of {length} bytes is too large"))?;
        archive.mapping = Some(Storage::of_file(name, false, length)?);
        Ok(archive)
    }

    /// An archive in memory.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Archive> {
        Archive::from_reader(Cursor::new(bytes))
    }

    /// An archive of any source that can seek.
    pub fn from_reader(mut source: impl Read + Seek + Send + 'static) -> Result<Archive> {
        let length = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut records = pt::Archive::open(Box::new(source) as Box<dyn ReadSeek>, length.saturating_mul(READS))?;
        records.check_byte_order()?;
        let name = [".data/version", "version"].into_iter().find(|name| records.has(name));
        let name = name.ok_or_else(|| err!(Io, "not a TorchScript archive: it has no version"))?;
        let version = records.record(name, 32)?;
        let text = version.trim_ascii();
        let version = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        let version = version.ok_or_else(|| err!(Io, "the version '{}' is no number", text.escape_ascii()))?;
        ensure!(
            VERSIONS.contains(&version),
            Io,
            "Attempted to read a PyTorch file with version {version}, but the maximum supported version for reading is {}. \
             Your PyTorch installation may be too old.",
            VERSIONS.end()
        );
        Ok(Archive { records: Mutex::new(records), version, mapping: None })
    }

    fn records(&self) -> MutexGuard<'_, pt::Archive<Box<dyn ReadSeek>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the operators that the file was written for.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether the archive holds TorchScript: constants and code, not only tensors.
    pub fn is_script(&self) -> bool {
        self.records().has("constants.pkl")
    }

    /// Whether the archive has code for the lite interpreter.
    pub fn is_lite(&self) -> bool {
        self.has("bytecode.pkl")
    }

    /// Whether the archive has source code.
    pub fn has_source(&self) -> bool {
        self.records().names().any(|name| name.starts_with(ARCHIVED))
    }

    /// Whether the archive has a record.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.records().has(name)
    }

    /// The names of all records.
    pub fn names(&self) -> Vec<String> {
        self.records().names().map(str::to_owned).collect()
    }

    /// An extra file that was saved with the module.
    pub fn extra_file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let name = format!("extra/{name}");
        let mut records = self.records();
        if records.has(&name) { records.compressed_record(&name, MAX_EXTRA).map(Some) } else { Ok(None) }
    }

    /// The source code of a module such as `__torch__.foo`.
    pub(crate) fn code(&self, path: &str) -> Result<Option<Source>> {
        let name = format!("{ARCHIVED}{}.py", path.replace('.', "/"));
        let mut records = self.records();
        if !records.has(&name) {
            return Ok(None);
        }
        let text = records.compressed_record(&name, MAX_CODE)?;
        drop(records);
        let text = String::from_utf8(text).map_err(|_| err!(Io, "record '{name}' is not UTF-8"))?;
        Source::new(&name, &text).map(Some)
    }

    /// A storage of the folder `data` or `constants`.
    pub(crate) fn storage(&self, folder: &str, key: &str, of_bools: bool) -> Result<Storage> {
        let name = format!("{folder}/{key}");
        let mut records = self.records();
        // The bytes of bools have to be changed.
        if let Some(mapping) = self.mapping.as_ref().filter(|_| !of_bools)
            && let Some(storage) = records.mapped_storage(&name, mapping)?
        {
            return Ok(storage);
        }
        records.storage(&name, of_bools)
    }

    /// The value of a pickle: `data` or `constants`.
    pub(crate) fn value(&self, name: &str, kind: Option<&Type>, classes: &dyn Classes) -> Result<Built> {
        let name = format!("{name}.pkl");
        let bytes = self.records().compressed_record(&name, MAX_PICKLE)?;
        build::build(&pickle::read(&bytes, &name)?, kind, classes).map_err(|error| error.context(&name))
    }

    /// The attributes of the objects in a pickle, by class.
    pub(crate) fn layouts(&self, name: &str) -> Result<Vec<Layout>> {
        let name = format!("{name}.pkl");
        let bytes = self.records().compressed_record(&name, MAX_PICKLE)?;
        layout::layouts(&pickle::read(&bytes, &name)?).map_err(|error| error.context(&name))
    }

    /// The value of a file without code, such as `torch.save` writes.
    pub(crate) fn plain_value(&self) -> Result<Value> {
        let built = self.value("data", None, &Loose { archive: Some(self), tensors: &[], program: None })?;
        Ok(built.value)
    }

    /// The qualified name of the class of the object that a pickle holds.
    pub(crate) fn root_class(&self, name: &str) -> Result<Option<String>> {
        let name = format!("{name}.pkl");
        let bytes = self.records().compressed_record(&name, MAX_PICKLE)?;
        let pickle = pickle::read(&bytes, &name)?;
        Ok(match pickle.root {
            pickle::Item::Node(number) => match pickle.nodes.get(number) {
                Some(pickle::Node::Part(pickle::Part::Object { module, name, .. })) => Some(format!("{module}.{name}")),
                _ => None,
            },
            _ => None,
        })
    }
}

/// The value of a pickle whose tensors are in a table. Objects have the classes of a program, and their `__setstate__` is
/// called.
pub(crate) fn unpickle(bytes: &[u8], tensors: Vec<Value>, program: &Arc<Program>) -> Result<Value> {
    let source = Loose { archive: None, tensors: &tensors, program: Some(program) };
    let built = build::build(&pickle::read(bytes, "the pickle")?, None, &source)?;
    for (object, state) in built.states {
        let method = format!("{}.__setstate__", object.class().name);
        let environment = Environment::new(program.clone());
        program.call_in(&method, Some(object.into()), vec![state], Vec::new(), &environment)?;
    }
    Ok(built.value)
}

/// What a pickle without a module of its own refers to.
struct Loose<'a> {
    archive: Option<&'a Archive>,
    tensors: &'a [Value],
    program: Option<&'a Arc<Program>>,
}

impl Resolver for Loose<'_> {
    fn resolve(&self, name: &str) -> Option<Type> {
        self.program.and_then(|program| program.resolve(name))
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        self.program.is_some_and(|program| program.implements(name, interface))
    }
}

impl Classes for Loose<'_> {
    fn named(&self, name: &str) -> Result<Named> {
        match self.program {
            Some(program) => program.named(name),
            None => bail!(Io, "the file has an object of {name}, but no code"),
        }
    }

    fn storage(&self, key: &str, of_bools: bool) -> Result<Storage> {
        match self.archive {
            Some(archive) => archive.storage("data", key, of_bools),
            None => bail!(Io, "the pickle has a tensor, but there are no storages"),
        }
    }

    fn tensor(&self, index: usize) -> Result<Value> {
        self.tensors.get(index).cloned().ok_or_else(|| err!(Io, "there is no tensor with the number {index}"))
    }
}
