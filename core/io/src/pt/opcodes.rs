//! The opcodes of pickles that are written, protocol 2: checkpoints and TorchScript archives use the same ones.

use super::STORAGES;
use crate::entry::Entry;
use rushlight_base::{DType, Result, err};
use std::collections::HashMap;

/// A pickle under construction. Each method writes what its name says; the caller keeps the order that a pickle needs.
pub struct Pickler {
    bytes: Vec<u8>,
    memo: u32,
    /// The storages that were written, by key.
    storages: HashMap<String, u32>,
}

impl Default for Pickler {
    fn default() -> Pickler {
        Pickler::new()
    }
}

impl Pickler {
    /// A pickle without values.
    pub fn new() -> Pickler {
        Pickler { bytes: b"\x80\x02".to_vec(), memo: 0, storages: HashMap::new() }
    }

    /// The whole pickle.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(b'.');
        self.bytes
    }

    // ---- values --------------------------------------------------------------------------------------------

    /// None.
    pub fn none(&mut self) {
        self.bytes.push(b'N');
    }

    /// A bool.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(if value { 0x88 } else { 0x89 });
    }

    /// An integer.
    pub fn int(&mut self, value: i64) {
        if let Ok(small) = i32::try_from(value) {
            self.bytes.push(b'J');
            self.bytes.extend(small.to_le_bytes());
        } else {
            self.bytes.extend([0x8a, 8]);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    /// A float.
    pub fn float(&mut self, value: f64) {
        self.bytes.push(b'G');
        self.bytes.extend(value.to_be_bytes());
    }

    /// A string. Python wants UTF-8; PyTorch's reader takes any bytes.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let text = text.as_ref();
        let length =
            u32::try_from(text.len()).map_err(|_| err!(Value, "a string of {} bytes is too long", text.len()))?;
        self.bytes.push(b'X');
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(text);
        Ok(())
    }

    /// A class or function, by its module and name.
    pub fn global(&mut self, module: &str, name: &str) {
        self.bytes.extend(format!("c{module}\n{name}\n").bytes());
    }

    /// A tuple of integers.
    pub fn ints(&mut self, values: &[i64]) {
        self.mark();
        for value in values {
            self.int(*value);
        }
        self.tuple();
    }

    /// An empty `OrderedDict`.
    pub fn empty_ordered_dict(&mut self) {
        self.global("collections", "OrderedDict");
        self.empty_tuple();
        self.reduce();
    }

    // ---- containers ----------------------------------------------------------------------------------------

    /// The start of the items of a tuple, list or dict.
    pub fn mark(&mut self) {
        self.bytes.push(b'(');
    }

    /// A tuple of the values since the mark.
    pub fn tuple(&mut self) {
        self.bytes.push(b't');
    }

    /// `()`
    pub fn empty_tuple(&mut self) {
        self.bytes.push(b')');
    }

    /// `[]`
    pub fn empty_list(&mut self) {
        self.bytes.push(b']');
    }

    /// Appends the values since the mark to the list below it.
    pub fn append_items(&mut self) {
        self.bytes.push(b'e');
    }

    /// `{}`
    pub fn empty_dict(&mut self) {
        self.bytes.push(b'}');
    }

    /// Adds the keys and values since the mark to the dict below it.
    pub fn set_items(&mut self) {
        self.bytes.push(b'u');
    }

    // ---- calls and memo ------------------------------------------------------------------------------------

    /// Calls a global with the tuple above it.
    pub fn reduce(&mut self) {
        self.bytes.push(b'R');
    }

    /// An object of the class below, without arguments.
    pub fn new_object(&mut self) {
        self.empty_tuple();
        self.bytes.push(0x81);
    }

    /// Gives the value at the top to the object below it.
    pub fn build(&mut self) {
        self.bytes.push(b'b');
    }

    /// Replaces a persistent id by what it stands for.
    pub fn persistent(&mut self) {
        self.bytes.push(b'Q');
    }

    /// Remembers the value at the top. Returns the number for [`recall`](Pickler::recall).
    pub fn remember(&mut self) -> u32 {
        let number = self.memo;
        self.memo += 1;
        self.numbered(b'q', b'r', number);
        number
    }

    /// A value that was remembered.
    pub fn recall(&mut self, number: u32) {
        self.numbered(b'h', b'j', number);
    }

    fn numbered(&mut self, short: u8, long: u8, number: u32) {
        if let Ok(small) = u8::try_from(number) {
            self.bytes.extend([short, small]);
        } else {
            self.bytes.push(long);
            self.bytes.extend(number.to_le_bytes());
        }
    }

    // ---- tensors -------------------------------------------------------------------------------------------

    /// The reference to a storage. `class` names a typed storage, without one it is untyped. PyTorch reads a storage
    /// once only if later references recall the first.
    pub fn storage(&mut self, entry: &Entry, class: Option<&str>, key: &str) -> Result<()> {
        if let Some(&number) = self.storages.get(key) {
            self.recall(number);
            return Ok(());
        }
        let numel = entry.storage.bytes() / entry.dtype.size();
        self.mark();
        self.text("storage")?;
        match class {
            Some(class) => self.global("torch", class),
            None => self.global("torch.storage", "UntypedStorage"),
        }
        self.text(key)?;
        self.text("cpu")?;
        self.int(if class.is_some() { numel } else { numel * entry.dtype.size() } as i64);
        self.tuple();
        self.persistent();
        let number = self.remember();
        self.storages.insert(key.to_owned(), number);
        Ok(())
    }

    /// A strided tensor over the storage `key`.
    pub fn tensor(&mut self, entry: &Entry, key: &str) -> Result<()> {
        let class = storage_class(entry.dtype);
        self.global("torch._utils", if class.is_some() { "_rebuild_tensor_v2" } else { "_rebuild_tensor_v3" });
        self.mark();
        self.storage(entry, class, key)?;
        self.geometry(entry);
        self.bool(entry.requires_grad);
        self.empty_ordered_dict();
        if class.is_none() {
            self.global("torch", entry.dtype.name());
        }
        if entry.conjugate || entry.negative {
            self.lazy_bits(entry)?;
        }
        self.tuple();
        self.reduce();
        Ok(())
    }

    /// Offset, sizes and strides.
    pub fn geometry(&mut self, entry: &Entry) {
        self.int(entry.offset as i64);
        self.ints(&entry.sizes);
        self.ints(&entry.strides);
    }

    fn lazy_bits(&mut self, entry: &Entry) -> Result<()> {
        self.empty_dict();
        self.mark();
        for (name, on) in [("conj", entry.conjugate), ("neg", entry.negative)] {
            if on {
                self.text(name)?;
                self.bool(true);
            }
        }
        self.set_items();
        Ok(())
    }
}

/// The class of the typed storages of a dtype.
pub fn storage_class(dtype: DType) -> Option<&'static str> {
    STORAGES.iter().find(|row| row.1 == dtype).map(|row| row.0)
}
