//! Operators whose meaning has changed since the version that a file was written for. Each row names an operator, the
//! last version that had the old meaning, the schema of that time, and a function of [`SOURCE`] that computes what the
//! operator computed then. Calls in the code of old files become calls of these functions.

use crate::schema::Schema;
use crate::source::Source;
use rushlight_base::Result;
use std::sync::Arc;

/// The module of the functions: a program finds them as if its archive held them, and saves them with its own code.
pub(crate) const PATH: &str = "__torch__.rushlight.upgrade";

/// The versions of the operators of this library: those of PyTorch 2.7.
pub(crate) const CURRENT: u64 = 10;

/// What the names of sources of an archive begin with.
pub(crate) const ARCHIVED: &str = "code/";

/// A changed operator.
pub(crate) struct Row {
    operator: &'static str,
    /// The last version with the old meaning.
    last: u64,
    schema: &'static str,
    function: &'static str,
}

const fn row(operator: &'static str, last: u64, schema: &'static str, function: &'static str) -> Row {
    Row { operator, last, schema, function }
}

/// The changes up to PyTorch 2.7: division rounds no longer (4), `full` infers integral dtypes (5), `linspace` (8) and
/// `logspace` (9) need a number of steps, `gelu` has a second form (10). Further operators had another schema in these
/// versions but the same meaning where it was accepted, and need no row: the forms of `div` with a rounding mode and
/// `full` with `out`.
const ROWS: [Row; 11] = [
    row("aten::div.Tensor", 3, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor", "div"),
    row("aten::div.Scalar", 3, "aten::div.Scalar(Tensor self, Scalar other) -> Tensor", "div_number"),
    row("aten::div_.Tensor", 3, "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "div_in_place"),
    row(
        "aten::div_.Scalar",
        3,
        "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
        "div_number_in_place",
    ),
    row("aten::div.out", 3, "aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", "div_out"),
    row(
        "aten::full",
        4,
        "aten::full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "full",
    ),
    row(
        "aten::linspace",
        7,
        "aten::linspace(Scalar start, Scalar end, int? steps=None, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "linspace",
    ),
    row(
        "aten::linspace.out",
        7,
        "aten::linspace.out(Scalar start, Scalar end, int? steps=None, *, Tensor(a!) out) -> Tensor(a!)",
        "linspace_out",
    ),
    row(
        "aten::logspace",
        8,
        "aten::logspace(Scalar start, Scalar end, int? steps=None, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "logspace",
    ),
    row(
        "aten::logspace.out",
        8,
        "aten::logspace.out(Scalar start, Scalar end, int? steps=None, float base=10.0, *, Tensor(a!) out) -> Tensor(a!)",
        "logspace_out",
    ),
    row("aten::gelu", 9, "aten::gelu(Tensor self) -> Tensor", "gelu"),
];

/// The functions. They call operators by names that have no row.
const SOURCE: &str = r#"
def div(a: Tensor, b: Tensor) -> Tensor:
  if torch.is_floating_point(a) or torch.is_complex(a) or torch.is_floating_point(b) or torch.is_complex(b):
    return torch.true_divide(a, b)
  return torch.divide(a, b, rounding_mode="trunc")

def div_number(a: Tensor, b: number) -> Tensor:
  if torch.is_floating_point(a) or torch.is_complex(a) or isinstance(b, float):
    return torch.true_divide(a, b)
  return torch.divide(a, b, rounding_mode="trunc")

def div_in_place(a: Tensor, b: Tensor) -> Tensor:
  if torch.is_floating_point(a) or torch.is_complex(a) or torch.is_floating_point(b) or torch.is_complex(b):
    return a.true_divide_(b)
  return a.divide_(b, rounding_mode="trunc")

def div_number_in_place(a: Tensor, b: number) -> Tensor:
  if torch.is_floating_point(a) or torch.is_complex(a) or isinstance(b, float):
    return a.true_divide_(b)
  return a.divide_(b, rounding_mode="trunc")

def div_out(a: Tensor, b: Tensor, out: Tensor) -> Tensor:
  inexact = torch.is_floating_point(a) or torch.is_complex(a) or torch.is_floating_point(b) or torch.is_complex(b)
  if inexact or torch.is_floating_point(out) or torch.is_complex(out):
    return torch.true_divide(a, b, out=out)
  return torch.divide(a, b, rounding_mode="trunc", out=out)

def full(size: List[int], value: number, dtype: Optional[int], layout: Optional[int], device: Optional[Device],
         pin_memory: Optional[bool]) -> Tensor:
  if dtype is None and not isinstance(value, complex):
    return torch.full(size, float(value), dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
  return torch.full(size, value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)

def linspace(start: number, end: number, steps: Optional[int], dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  count = 100 if steps is None else steps
  return torch.linspace(start, end, count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)

def linspace_out(start: number, end: number, steps: Optional[int], out: Tensor) -> Tensor:
  count = 100 if steps is None else steps
  return torch.linspace(start, end, count, out=out)

def logspace(start: number, end: number, steps: Optional[int], base: float, dtype: Optional[int],
             layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  count = 100 if steps is None else steps
  return torch.logspace(start, end, count, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)

def logspace_out(start: number, end: number, steps: Optional[int], base: float, out: Tensor) -> Tensor:
  count = 100 if steps is None else steps
  return torch.logspace(start, end, count, base, out=out)

def gelu(a: Tensor) -> Tensor:
  return torch.gelu(a, approximate="none")
"#;

impl Row {
    /// The qualified name of the function. Its arguments are those of the old schema, by position.
    pub(crate) fn function(&self) -> String {
        format!("{PATH}.{}", self.function)
    }

    /// The schema that the operator had.
    pub(crate) fn old_schema(&self) -> Result<Arc<Schema>> {
        Schema::parse(self.schema).map(Arc::new)
    }
}

/// [`find`] for files of the lite interpreter, in which PyTorch leaves `full` as it is.
pub(crate) fn find_lite(name: &str, overload: &str, version: u64) -> Option<&'static Row> {
    find(name, overload, version).filter(|row| row.function != "full")
}

/// The row of an operator in a file of this version, if it has the old meaning.
pub(crate) fn find(name: &str, overload: &str, version: u64) -> Option<&'static Row> {
    if version >= CURRENT {
        return None;
    }
    ROWS.iter().find(|row| {
        let (known, suffix) = row.operator.split_once('.').unwrap_or((row.operator, ""));
        known == name && suffix == overload && version <= row.last
    })
}

/// The source code of the functions.
pub(crate) fn source() -> Result<Source> {
    Source::new("upgrade.py", SOURCE)
}
