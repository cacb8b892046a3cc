//! FlatBuffers: tables and vectors in a buffer that refer to each other by offsets. Every read is checked against the
//! buffer, so no pass over the whole buffer has to come first. (The crates for this format offer checked reads only
//! through code that they generate from the text of a schema.)
//!
//! A table begins with the distance back to its description, which has for each field the distance from the table; 0
//! stands for a field that is absent. Strings, vectors and tables in a field are forward distances from there.

use rushlight_base::{Result, bail, ensure, err};

/// A buffer of which a limited number of bytes is read: parts may be referred to many times.
pub(super) struct Buffer<'a> {
    bytes: &'a [u8],
    budget: std::cell::Cell<usize>,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Buffer<'a> {
        let budget = bytes.len().saturating_mul(64).saturating_add(1 << 20);
        Buffer { bytes, budget: budget.into() }
    }

    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let bytes = at.checked_add(N).and_then(|end| self.bytes.get(at..end));
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| err!(Io, "the buffer of {} bytes ends before offset {at}", self.bytes.len()))
    }

    /// Where the distance at a place leads.
    fn follow(&self, at: usize) -> Result<usize> {
        let distance = u32::from_le_bytes(self.array(at)?) as usize;
        at.checked_add(distance).ok_or_else(|| err!(Io, "an offset of {distance} is too large"))
    }

    /// The table that the first bytes lead to.
    pub(super) fn root(&self) -> Result<Table<'_>> {
        self.table(0)
    }

    fn table(&self, at: usize) -> Result<Table<'_>> {
        let start = self.follow(at)?;
        let back = i32::from_le_bytes(self.array(start)?) as isize;
        let description = start.checked_add_signed(-back);
        let description = description.ok_or_else(|| err!(Io, "a table has its description outside of the buffer"))?;
        let length = u16::from_le_bytes(self.array(description)?) as usize;
        ensure!(length >= 4 && length.is_multiple_of(2), Io, "the description of a table has {length} bytes");
        Ok(Table { buffer: self, start, description, fields: (length - 4) / 2 })
    }

    fn vector(&self, at: usize, stride: usize) -> Result<Vector<'_>> {
        let place = self.follow(at)?;
        let len = u32::from_le_bytes(self.array(place)?) as usize;
        let start = place + 4;
        let end = len.checked_mul(stride).and_then(|bytes| start.checked_add(bytes));
        let is_inside = end.is_some_and(|end| end <= self.bytes.len());
        ensure!(is_inside, Io, "a vector of {len} elements is longer than the buffer");
        let left = self.budget.get().checked_sub(len * stride);
        self.budget.set(left.ok_or_else(|| err!(Io, "parts of the buffer are used too often"))?);
        Ok(Vector { buffer: self, start, len, stride })
    }
}

/// A table.
#[derive(Clone, Copy)]
pub(super) struct Table<'b> {
    buffer: &'b Buffer<'b>,
    start: usize,
    description: usize,
    fields: usize,
}

macro_rules! numbers {
    ($($name:ident: $kind:ty;)*) => {$(
        /// A number; 0 if the field is absent.
        pub(super) fn $name(&self, field: usize) -> Result<$kind> {
            match self.place(field)? {
                Some(at) => Ok(<$kind>::from_le_bytes(self.buffer.array(at)?)),
                None => Ok(<$kind>::default()),
            }
        }
    )*};
}

impl<'b> Table<'b> {
    /// Where a field is.
    fn place(&self, field: usize) -> Result<Option<usize>> {
        if field >= self.fields {
            return Ok(None);
        }
        match u16::from_le_bytes(self.buffer.array(self.description + 4 + 2 * field)?) {
            0 => Ok(None),
            distance => Ok(Some(self.start + distance as usize)),
        }
    }

    numbers! {
        u8: u8;
        i8: i8;
        u32: u32;
        i32: i32;
        f64: f64;
    }

    /// A number with another default than 0.
    pub(super) fn i32_or(&self, field: usize, default: i32) -> Result<i32> {
        if self.place(field)?.is_some() { self.i32(field) } else { Ok(default) }
    }

    /// A table.
    pub(super) fn table(&self, field: usize) -> Result<Option<Table<'b>>> {
        self.place(field)?.map(|at| self.buffer.table(at)).transpose()
    }

    /// A vector whose elements have `stride` bytes; empty if the field is absent.
    pub(super) fn vector(&self, field: usize, stride: usize) -> Result<Vector<'b>> {
        match self.place(field)? {
            Some(at) => self.buffer.vector(at, stride),
            None => Ok(Vector { buffer: self.buffer, start: 0, len: 0, stride }),
        }
    }

    /// A string, in bytes.
    pub(super) fn bytes(&self, field: usize) -> Result<&'b [u8]> {
        self.vector(field, 1)?.bytes()
    }

    /// A string.
    pub(super) fn str(&self, field: usize) -> Result<&'b str> {
        std::str::from_utf8(self.bytes(field)?).map_err(|_| err!(Io, "a string is not UTF-8"))
    }

    /// The bytes of a struct that the field leads to.
    pub(super) fn structure<const N: usize>(&self, field: usize) -> Result<[u8; N]> {
        match self.place(field)? {
            Some(at) => self.buffer.array(self.buffer.follow(at)?),
            None => bail!(Io, "a struct is missing"),
        }
    }
}

/// A vector.
#[derive(Clone, Copy)]
pub(super) struct Vector<'b> {
    buffer: &'b Buffer<'b>,
    start: usize,
    len: usize,
    stride: usize,
}

impl<'b> Vector<'b> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> Result<&'b [u8]> {
        let bytes = self.buffer.bytes.get(self.start..self.start + self.len * self.stride);
        bytes.ok_or_else(|| err!(Io, "a vector is longer than the buffer"))
    }

    /// The elements as bytes.
    pub(super) fn arrays<const N: usize>(&self) -> Result<impl Iterator<Item = [u8; N]> + use<'b, N>> {
        Ok(self.bytes()?.as_chunks::<N>().0.iter().copied())
    }

    /// The numbers of other parts of the file.
    pub(super) fn indices(&self) -> Result<impl Iterator<Item = usize> + use<'b>> {
        Ok(self.arrays()?.map(|bytes| u32::from_le_bytes(bytes) as usize))
    }

    fn place(&self, index: usize) -> Result<usize> {
        ensure!(index < self.len, Io, "a vector of {} elements has no element {index}", self.len);
        Ok(self.start + index * self.stride)
    }

    /// An element that is a table.
    pub(super) fn table(&self, index: usize) -> Result<Table<'b>> {
        self.buffer.table(self.place(index)?)
    }

    /// The elements, which are tables.
    pub(super) fn tables(self) -> impl Iterator<Item = Result<Table<'b>>> {
        (0..self.len).map(move |index| self.table(index))
    }

    /// The elements, which are strings.
    pub(super) fn strings(self) -> impl Iterator<Item = Result<&'b str>> {
        (0..self.len).map(move |index| {
            let bytes = self.buffer.vector(self.place(index)?, 1)?.bytes()?;
            std::str::from_utf8(bytes).map_err(|_| err!(Io, "a string is not UTF-8"))
        })
    }
}
