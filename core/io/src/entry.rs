//! A named tensor of a file: its name, layout, and bytes.

use rushlight_base::{DType, Device, DimVec, Layout, Result, Storage, contiguous_strides, ensure, err, numel};
use std::borrow::Cow;
use std::io::Read;

/// Maximum number of dimensions of a tensor in a file (PyTorch's limit is 64).
const MAX_DIMS: usize = 64;

/// One tensor of a file. Entries that share memory (tied weights, views) share the storage.
#[derive(Clone)]
pub struct Entry {
    /// The key in the state dict; keys of nested dicts are joined by dots.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes.
    pub sizes: DimVec,
    /// Strides, in elements.
    pub strides: DimVec,
    /// Offset of the first element, in elements from the start of the storage.
    pub offset: usize,
    /// The bytes, on the host; bytes of `bool` are 0 and 1. For an entry that was only listed, their number, on the
    /// meta device.
    pub storage: Storage,
    /// Whether the tensor requires a gradient.
    pub requires_grad: bool,
    /// Whether the conj bit is set.
    pub conjugate: bool,
    /// Whether the neg bit is set.
    pub negative: bool,
    /// For a sparse tensor, whose values the other fields describe: its layout, sizes and indices.
    pub sparse: Option<Box<SparseEntry>>,
}

/// A sparse tensor of a file, besides its values.
#[derive(Clone)]
pub struct SparseEntry {
    /// COO, CSR or CSC.
    pub layout: Layout,
    /// Sizes of the tensor.
    pub sizes: DimVec,
    /// Whether coordinates are sorted and distinct.
    pub coalesced: bool,
    /// The coordinates; or compressed indices and plain ones.
    pub indices: Vec<Entry>,
}

impl Entry {
    /// A row-major tensor that fills `storage` from its start.
    pub fn contiguous(name: impl Into<String>, dtype: DType, sizes: &[i64], storage: Storage) -> Result<Entry> {
        let entry = Entry {
            name: name.into(),
            dtype,
            sizes: DimVec::from_slice(sizes),
            strides: contiguous_strides(sizes),
            offset: 0,
            storage,
            requires_grad: false,
            conjugate: false,
            negative: false,
            sparse: None,
        };
        entry.check()?;
        Ok(entry)
    }

    /// Fails unless every element is inside the storage.
    pub fn check(&self) -> Result<()> {
        if let Some(sparse) = &self.sparse {
            sparse.indices.iter().try_for_each(Entry::check)?;
        }
        self.check_geometry().map_err(|error| error.context(format_args!("tensor '{}'", self.name)))
    }

    /// Fails unless the bytes are loaded, and every element is inside them.
    pub(crate) fn check_data(&self) -> Result<()> {
        let device = self.storage.device();
        ensure!(device == Device::CPU, Io, "tensor '{}': its data is not on the host but on {device}", self.name);
        if let Some(sparse) = &self.sparse {
            sparse.indices.iter().try_for_each(Entry::check_data)?;
        }
        self.check()
    }

    fn check_geometry(&self) -> Result<()> {
        ensure!(
            self.sizes.len() == self.strides.len() && self.sizes.len() <= MAX_DIMS,
            Io,
            "{} sizes with {} strides",
            self.sizes.len(),
            self.strides.len()
        );
        ensure!(self.strides.iter().all(|&stride| stride >= 0), Io, "a stride is negative: {:?}", self.strides);
        // Also ensures that the sizes are not negative and the byte count does not overflow.
        let elements = numel(&self.sizes).map_err(|error| err!(Io, "{error}"))?;
        let fits_memory = elements.checked_mul(self.dtype.size() as i64).is_some();
        ensure!(fits_memory, Io, "{elements} elements of {} are too many", self.dtype);
        let end = if elements == 0 { Some(self.offset) } else { self.end() };
        let available = self.storage.bytes() / self.dtype.size();
        ensure!(
            end.is_some_and(|end| end <= available),
            Io,
            "sizes {:?} with strides {:?} at offset {} reach beyond the {available} elements of its storage",
            self.sizes,
            self.strides,
            self.offset
        );
        Ok(())
    }

    /// One past the last element; `None` where that overflows.
    fn end(&self) -> Option<usize> {
        let mut last = self.offset;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let reach = usize::try_from(size - 1).ok()?.checked_mul(usize::try_from(stride).ok()?)?;
            last = last.checked_add(reach)?;
        }
        last.checked_add(1)
    }

    /// Number of elements of an entry that [`Entry::check`] has passed.
    fn numel(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// The elements in row-major order: borrowed if they are stored so, else gathered.
    pub fn row_major(&self) -> Result<Cow<'_, [u8]>> {
        ensure!(self.sparse.is_none(), Io, "tensor '{}' is sparse: it has no elements in row-major order", self.name);
        self.check_data()?;
        ensure!(
            !self.conjugate && !self.negative,
            Io,
            "tensor '{}' has a pending conjugation or negation: resolve it first",
            self.name
        );
        let size = self.dtype.size();
        let bytes = storage_bytes(&self.storage);
        let count = self.numel();
        if count == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        if self.lies_row_major() {
            return Ok(Cow::Borrowed(&bytes[self.offset * size..(self.offset + count) * size]));
        }
        let mut gathered = crate::reserve(count * size)?;
        self.for_each_element(|at| gathered.extend_from_slice(&bytes[at * size..(at + 1) * size]));
        Ok(Cow::Owned(gathered))
    }

    fn lies_row_major(&self) -> bool {
        let mut step = 1;
        self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let fits = size == 1 || stride == step;
            step *= size;
            fits
        })
    }

    /// Calls `visit` with the offset of each element, in row-major order.
    fn for_each_element(&self, mut visit: impl FnMut(usize)) {
        let mut index = DimVec::from_elem(0, self.sizes.len());
        let mut at = self.offset as i64;
        loop {
            visit(at as usize);
            let mut dim = self.sizes.len();
            loop {
                if dim == 0 {
                    return;
                }
                dim -= 1;
                index[dim] += 1;
                at += self.strides[dim];
                if index[dim] < self.sizes[dim] {
                    break;
                }
                at -= self.strides[dim] * self.sizes[dim];
                index[dim] = 0;
            }
        }
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Entry('{}', {}, {:?}, {} bytes)", self.name, self.dtype, self.sizes, self.storage.bytes())
    }
}

/// The bytes of a host storage, to be copied out.
pub(crate) fn storage_bytes(storage: &Storage) -> &[u8] {
    if storage.bytes() == 0 || storage.data().is_null() {
        return &[];
    }
    // SAFETY: a host storage has `bytes` readable bytes as long as it lives, which the borrow ensures. A racing write
    // on another thread gives a file with wrong values, as everywhere in Rushlight.
    unsafe { std::slice::from_raw_parts(storage.data(), storage.bytes()) }
}

/// A new host storage of `bytes` bytes, filled by `fill`. The caller has checked `bytes` against the input.
pub fn filled_storage(bytes: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Storage> {
    let storage = Storage::allocate(bytes)?;
    if bytes > 0 {
        // SAFETY: the new, unshared storage has `bytes` writable bytes, which are zeroed before a slice of them is
        // created.
        let slice = unsafe {
            storage.data().write_bytes(0, bytes);
            std::slice::from_raw_parts_mut(storage.data(), bytes)
        };
        fill(slice)?;
    }
    Ok(storage)
}

/// Bytes that are zeroed and then read: in between they stay in the cache.
const PART: usize = 256 << 10;

/// A new host storage with the next `bytes` bytes of `source`; with `of_bools` each byte becomes 0 or 1. The caller has
/// checked `bytes` against the input.
pub(crate) fn read_storage(source: &mut (impl Read + ?Sized), bytes: usize, of_bools: bool) -> Result<Storage> {
    let storage = Storage::allocate(bytes)?;
    for start in (0..bytes).step_by(PART) {
        let length = PART.min(bytes - start);
        // SAFETY: the new, unshared storage has `bytes` writable bytes, and the part ends at most there; its bytes are
        // zeroed before a slice of them is created.
        let part = unsafe {
            let at = storage.data().add(start);
            at.write_bytes(0, length);
            std::slice::from_raw_parts_mut(at, length)
        };
        source.read_exact(part)?;
        if of_bools {
            normalise_bools(part);
        }
    }
    Ok(storage)
}

/// Normalizes the bytes of a `bool` storage to 0 and 1: every other value is undefined behaviour in a kernel.
pub fn normalise_bools(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = u8::from(*byte != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: u8) -> Storage {
        filled_storage(count.into(), |bytes| {
            bytes.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value);
            Ok(())
        })
        .unwrap()
    }

    #[test]
    fn strided_elements_are_gathered_in_order() {
        let mut entry = Entry::contiguous("x", DType::U8, &[2, 3], numbers(6)).unwrap();
        assert!(matches!(entry.row_major().unwrap(), Cow::Borrowed(&[0, 1, 2, 3, 4, 5])));
        entry.sizes = DimVec::from_slice(&[3, 2]);
        entry.strides = DimVec::from_slice(&[1, 3]);
        assert_eq!(*entry.row_major().unwrap(), [0, 3, 1, 4, 2, 5]);
        entry.strides = DimVec::from_slice(&[0, 1]);
        assert_eq!(*entry.row_major().unwrap(), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn geometry_beyond_the_storage_is_rejected() {
        assert!(Entry::contiguous("x", DType::F32, &[2], numbers(7)).is_err());
        assert!(Entry::contiguous("x", DType::F32, &[i64::MAX, 4], numbers(8)).is_err());
        let mut entry = Entry::contiguous("x", DType::U8, &[6], numbers(6)).unwrap();
        entry.offset = usize::MAX;
        assert!(entry.check().is_err());
        entry.offset = 0;
        entry.strides[0] = i64::MAX;
        assert!(entry.check().is_err());
        entry.strides[0] = -1;
        assert!(entry.check().is_err());
    }
}
