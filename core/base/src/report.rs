//! What kernels of a device report of elements that are errors. The host passes a [`Watch`]; the first thread that meets
//! such an element writes the [`Record`] of its device, which the host reads when it next waits for the stream. The
//! kernels include this file (`core/cuda/kernels`).

/// What is wrong with an element.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// An index beyond a dimension. The numbers are its size and which it is.
    Index = 1,
    /// An index of a slice beyond a dimension. The numbers are its size and which it is.
    Slice = 2,
    /// An index beyond the rows of a table. The first number is how many there are.
    Row = 3,
    /// An index beyond the elements of a tensor. The first number is how many there are.
    Element = 4,
    /// A target that is no class.
    Target = 5,
    /// An integer divided by zero.
    Division = 6,
    /// A probability outside [0, 1], by the bits of a double.
    Probability = 7,
    /// A mean of a Poisson distribution that is negative or NaN.
    Rate = 8,
    /// A label of a row with several that is no class.
    Label = 9,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 9] = [
        Mistake::Index,
        Mistake::Slice,
        Mistake::Row,
        Mistake::Element,
        Mistake::Target,
        Mistake::Division,
        Mistake::Probability,
        Mistake::Rate,
        Mistake::Label,
    ];
}

/// Where a kernel reports an element that is an error, and as what.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The address of the device's record.
    pub at: u64,
    /// A [`Mistake`].
    pub mistake: u32,
    /// The number of the operator (`backend::operator_name`).
    pub operator: u32,
    /// What the mistake says that they are.
    pub numbers: [i64; 2],
}

impl Watch {
    /// For a kernel that reports nothing.
    pub const NONE: Watch = Watch { at: 0, mistake: 0, operator: 0, numbers: [0; 2] };
}

/// The first report since the host has read the last one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// 0: nothing was reported.
    pub taken: u32,
    /// The fields of the watch.
    pub mistake: u32,
    /// The number of the operator.
    pub operator: u32,
    /// Unused.
    pub reserved: u32,
    /// The element.
    pub found: i64,
    /// What the mistake says that they are.
    pub numbers: [i64; 2],
}
