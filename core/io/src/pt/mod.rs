//! PyTorch's `.pt` files (`torch.save`, `torch.load`): a zip archive with a pickle and raw storages.
//!
//! `archive` reads the records, `pickle` reads the object graph without executing anything, `flatten` converts it to
//! named leaves, `read` loads the storages they refer to, `write` creates a file that `torch.load(path,
//! weights_only=True)` reads as a state dict, `opcodes` and `records` write pickles and archives, also those of
//! TorchScript, `values` encodes other values as tensors, `nested` reads and writes a file as one value with its nested
//! parts. Supported are archives of PyTorch 1.6 (2020) and later,
//! little-endian, as PyTorch writes them, and the streams that it wrote before (`legacy`).

mod archive;
mod flatten;
mod inflate;
mod legacy;
mod nested;
mod opcodes;
mod pickle;
mod read;
mod records;
mod values;
mod write;

pub use archive::Archive;
pub use flatten::Leaf;
pub use nested::{load_value, read_value, save_value, value_to_bytes};
pub use opcodes::{Pickler, storage_class};
pub use pickle::Kind;
pub(crate) use read::is_pt;
pub use read::{Checkpoint, list, load, read, visit};
pub use records::Records;
pub use write::{save, to_bytes, write};

use rushlight_base::DType;

/// Classes of typed storages in module `torch`. The unsigned dtypes above 8 bits have none: PyTorch names
/// their dtype next to an untyped storage.
const STORAGES: [(&str, DType); 12] = [
    ("ByteStorage", DType::U8),
    ("CharStorage", DType::I8),
    ("ShortStorage", DType::I16),
    ("IntStorage", DType::I32),
    ("LongStorage", DType::I64),
    ("HalfStorage", DType::F16),
    ("FloatStorage", DType::F32),
    ("DoubleStorage", DType::F64),
    ("ComplexFloatStorage", DType::C64),
    ("ComplexDoubleStorage", DType::C128),
    ("BoolStorage", DType::Bool),
    ("BFloat16Storage", DType::BF16),
];
