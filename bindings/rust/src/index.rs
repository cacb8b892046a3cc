//! Indexing: `x.i((0, 1..3, &rows))`.
//!
//! Positions, ranges and new dimensions create a view; tensors and masks are passed to the operators `index` and `index_put_`.

use crate::{DType, Device, Result, Scalar, Tensor};
use rushlight_base::{bail, ensure};
use rushlight_tensor::{Options, Tensor as Core, ops};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// An entry of an index, which [`Tensor::i`] takes one or a tuple of.
#[derive(Clone, Debug)]
pub enum Index {
    /// The position in a dimension, which it removes; negative numbers count from the end.
    At(i64),
    /// A range of a dimension; negative numbers count from the end.
    Slice {
        /// The first position
        start: Option<i64>,
        /// The position after the last one
        end: Option<i64>,
        /// The distance of positions
        step: i64,
    },
    /// A new dimension of size 1.
    NewAxis,
    /// As many whole dimensions as the other entries leave over.
    Ellipsis,
    /// All or nothing, in a new dimension.
    Bool(bool),
    /// Integers: positions. Bool: a mask over as many dimensions as it has.
    Tensor(Tensor),
}

/// A new dimension of size 1, in an index.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// As many whole dimensions as the other entries of an index leave over.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

macro_rules! entries {
    ($($type:ty: $value:pat => $entry:expr;)*) => {$(
        impl From<$type> for Index {
            fn from($value: $type) -> Index {
                $entry
            }
        }

        impl IntoIndex for $type {
            fn into_index(self) -> Vec<Index> {
                vec![self.into()]
            }
        }
    )*};
}

fn slice(start: Option<i64>, end: Option<i64>) -> Index {
    Index::Slice { start, end, step: 1 }
}

/// The end of a range that includes `last`: after -1 comes the end of the dimension.
fn after(last: i64) -> Option<i64> {
    if last == -1 { None } else { last.checked_add(1) }
}

entries! {
    i64: position => Index::At(position);
    Range<i64>: range => slice(Some(range.start), Some(range.end));
    RangeFrom<i64>: range => slice(Some(range.start), None);
    RangeTo<i64>: range => slice(None, Some(range.end));
    RangeInclusive<i64>: range => slice(Some(*range.start()), after(*range.end()));
    RangeToInclusive<i64>: range => slice(None, after(range.end));
    RangeFull: _ => slice(None, None);
    NewAxis: _ => Index::NewAxis;
    Ellipsis: _ => Index::Ellipsis;
    bool: all => Index::Bool(all);
    Tensor: tensor => Index::Tensor(tensor);
    &Tensor: tensor => Index::Tensor(tensor.clone());
}

/// An index: one entry, a tuple of up to six, or a list.
pub trait IntoIndex {
    /// The entries in order.
    fn into_index(self) -> Vec<Index>;
}

impl IntoIndex for Index {
    fn into_index(self) -> Vec<Index> {
        vec![self]
    }
}

impl IntoIndex for Vec<Index> {
    fn into_index(self) -> Vec<Index> {
        self
    }
}

impl IntoIndex for &[Index] {
    fn into_index(self) -> Vec<Index> {
        self.to_vec()
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Into<Index>),*> IntoIndex for ($($name,)*) {
            #[allow(non_snake_case, reason = "the names of types are also those of values")]
            fn into_index(self) -> Vec<Index> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    )*};
}

tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F));

impl Tensor {
    /// The part of the tensor that an index selects, as in Python's `x[0, 1:3, rows]`. Without tensors in the index it is a
    /// view.
    ///
    /// An entry is a position, a range, [`NewAxis`], [`Ellipsis`], a boolean, a tensor of positions or a mask;
    /// [`Index::Slice`] has steps.
    ///
    /// ```
    /// # use rushlight::{Ellipsis, NewAxis, Tensor};
    /// let x = Tensor::arange(12)?.reshape([3, 4])?;
    /// assert_eq!(x.i((1, 2..))?.to_vec::<i64>()?, [6, 7]);
    /// assert_eq!(x.i((Ellipsis, -1))?.to_vec::<i64>()?, [3, 7, 11]);
    /// assert_eq!(x.i((.., NewAxis, 0))?.sizes(), [3, 1]);
    /// let rows = Tensor::try_from([2i64, 0])?;
    /// assert_eq!(x.i((&rows, 1))?.to_vec::<i64>()?, [9, 1]);
    /// assert_eq!(x.i(x.gt_scalar(9)?)?.to_vec::<i64>()?, [10, 11]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// Raises an error if a position is out of range, or if there are more entries than dimensions.
    pub fn i(&self, index: impl IntoIndex) -> Result<Tensor> {
        let selected = Selected::new(&self.0, &index.into_index())?;
        if selected.places.is_empty() {
            return Ok(Tensor(selected.view));
        }
        ops::index_tensor(&selected.view, &selected.places()).map(Tensor)
    }

    /// Writes `value`, broadcast, into the part of the tensor that an index selects.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::zeros([2, 2])?;
    /// x.set((.., 1), &Tensor::try_from([1.0f32, 2.0])?)?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.0, 1.0, 0.0, 2.0]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// Raises an error if the index is not valid ([`i`](Tensor::i)), or if the value cannot be broadcast.
    pub fn set(&self, index: impl IntoIndex, value: &Tensor) -> Result<()> {
        let selected = Selected::new(&self.0, &index.into_index())?;
        let least = if selected.places.is_empty() { selected.view.ndim() } else { 0 };
        let mut value = value.0.clone();
        while value.ndim() > least && value.sizes().first() == Some(&1) {
            value = ops::squeeze_dim(&value, 0)?;
        }
        selected.write(&value)
    }

    /// Writes a number into the part of the tensor that an index selects.
    ///
    /// # Errors
    /// Raises an error if the index is not valid ([`i`](Tensor::i)).
    pub fn set_scalar(&self, index: impl IntoIndex, value: impl Into<Scalar>) -> Result<()> {
        let selected = Selected::new(&self.0, &index.into_index())?;
        if selected.places.is_empty() {
            return ops::fill_scalar_(&selected.view, value.into());
        }
        let options = Options::of(self.dtype()).on(self.device());
        selected.write(&ops::full(&[], value.into(), options)?)
    }
}

/// The view that the plain entries create, and the tensors for its dimensions.
struct Selected {
    view: Core,
    /// The dimension of the view to which the next entry applies.
    dim: i64,
    /// For each dimension of the view up to the last tensor, the tensor that indexes it; a mask is listed once.
    places: Vec<Option<Core>>,
    /// Number of dimensions without an entry in that list because a preceding mask covers them.
    behind_masks: i64,
}

impl Selected {
    fn new(tensor: &Core, index: &[Index]) -> Result<Selected> {
        let (ndim, consumed) = (tensor.ndim() as i64, consumed(index)?);
        let rest = ndim - consumed;
        ensure!(rest >= 0, Index, "too many indices for tensor of dimension {ndim}");
        let mut selected = Selected { view: tensor.clone(), dim: 0, places: Vec::new(), behind_masks: 0 };
        for entry in index {
            selected.apply(entry, rest)?;
        }
        Ok(selected)
    }

    fn apply(&mut self, entry: &Index, rest: i64) -> Result<()> {
        match entry {
            Index::At(position) => self.view = ops::select_int(&self.view, self.dim, *position)?,
            Index::Slice { start: None, end: None, step: 1 } => self.dim += 1,
            Index::Slice { start, end, step } => {
                self.view = ops::slice_tensor(&self.view, self.dim, *start, *end, *step)?;
                self.dim += 1;
            }
            Index::NewAxis => {
                self.view = ops::unsqueeze(&self.view, self.dim)?;
                self.dim += 1;
            }
            Index::Ellipsis => self.dim += rest,
            Index::Bool(all) => self.all_or_nothing(*all)?,
            Index::Tensor(tensor) => self.at(&tensor.0)?,
        }
        Ok(())
    }

    fn at(&mut self, tensor: &Core) -> Result<()> {
        let (ndim, dtype) = (tensor.ndim() as i64, tensor.dtype());
        match (is_mask(tensor), ndim) {
            (true, 0) => self.all_or_nothing(tensor.item()?.to_bool())?,
            (true, _) => self.index(tensor.clone(), ndim),
            (false, 0) if dtype.is_integral(false) => {
                self.view = ops::select_int(&self.view, self.dim, tensor.item()?.to_i64())?;
            }
            (false, _) => self.index(tensor.clone(), 1),
        }
        Ok(())
    }

    /// Keeps a tensor for `index`, which covers some dimensions of the view.
    fn index(&mut self, tensor: Core, dims: i64) {
        while (self.places.len() as i64) + self.behind_masks < self.dim {
            self.places.push(None);
        }
        self.places.push(Some(tensor));
        self.dim += dims;
        self.behind_masks += dims - 1;
    }

    /// A boolean is an index into a new dimension of size 1.
    fn all_or_nothing(&mut self, all: bool) -> Result<()> {
        self.view = ops::unsqueeze(&self.view, self.dim)?;
        let places = ops::zeros(&[i64::from(all)], Options::of(DType::I64).on(Device::CPU))?;
        self.index(places, 1);
        Ok(())
    }

    fn places(&self) -> Vec<Option<&Core>> {
        self.places.iter().map(Option::as_ref).collect()
    }

    fn write(&self, value: &Core) -> Result<()> {
        if self.places.is_empty() {
            ops::copy_(&self.view, value, false)
        } else {
            ops::index_put_(&self.view, &self.places(), value, false)
        }
    }
}

fn is_mask(tensor: &Core) -> bool {
    matches!(tensor.dtype(), DType::Bool | DType::U8)
}

/// The number of dimensions that the entries index.
fn consumed(index: &[Index]) -> Result<i64> {
    if index.iter().filter(|entry| matches!(entry, Index::Ellipsis)).count() > 1 {
        bail!(Index, "an index can only have a single ellipsis ('...')");
    }
    let dims = |entry: &Index| match entry {
        Index::At(_) | Index::Slice { .. } => 1,
        Index::NewAxis | Index::Ellipsis | Index::Bool(_) => 0,
        Index::Tensor(tensor) if is_mask(&tensor.0) => tensor.ndim() as i64,
        Index::Tensor(_) => 1,
    };
    Ok(index.iter().map(dims).sum())
}
