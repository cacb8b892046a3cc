//! Operators that PyTorch writes in TorchScript: each stands for other operators.

use super::environment::Compiler;
use super::matching::Arguments;
use crate::graph::ValueId;
use crate::schema::Schema;
use rushlight_base::Result;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

type Rewrite = fn(&mut Compiler<'_>, &[ValueId]) -> Result<ValueId>;
type Row = (Arc<Schema>, Rewrite);

/// The operator `name` with the inputs in another order.
macro_rules! swapped {
    ($name:literal) => {
        |compiler, inputs| compiler.operator($name, &[inputs[1], inputs[0]])
    };
}

macro_rules! same {
    ($name:literal) => {
        |compiler, inputs| compiler.operator($name, inputs)
    };
}

/// Operators between a number and a tensor, for each type of number.
const WITH_NUMBER: [(&str, Rewrite); 8] = [
    ("mul", swapped!("aten::mul")),
    ("add", swapped!("aten::add")),
    ("ne", swapped!("aten::ne")),
    ("eq", swapped!("aten::eq")),
    ("sub", |compiler, inputs| {
        let negative = compiler.operator("aten::neg", &[inputs[1]])?;
        compiler.operator("aten::add", &[negative, inputs[0]])
    }),
    ("div", |compiler, inputs| {
        let inverse = compiler.operator("aten::reciprocal", &[inputs[1]])?;
        compiler.operator("aten::mul", &[inverse, inputs[0]])
    }),
    ("lt", swapped!("aten::gt")),
    ("gt", swapped!("aten::lt")),
];

/// Others, by schema.
const OTHERS: [(&str, Rewrite); 13] = [
    ("aten::le(float a, Tensor b) -> Tensor", swapped!("aten::ge")),
    ("aten::le(int a, Tensor b) -> Tensor", swapped!("aten::ge")),
    ("aten::ge(float a, Tensor b) -> Tensor", swapped!("aten::le")),
    ("aten::ge(int a, Tensor b) -> Tensor", swapped!("aten::le")),
    ("aten::floordiv(Tensor self, Tensor other) -> Tensor", same!("aten::floor_divide")),
    ("aten::floordiv(Tensor self, Scalar other) -> Tensor", same!("aten::floor_divide")),
    ("aten::floordiv(Scalar self, Tensor other) -> Tensor", same!("aten::floor_divide")),
    ("prim::T(Tensor a) -> Tensor", same!("aten::numpy_T")),
    ("prim::H(Tensor a) -> Tensor", same!("aten::matrix_H")),
    ("prim::mT(Tensor a) -> Tensor", same!("aten::mT")),
    ("prim::mH(Tensor a) -> Tensor", same!("aten::mH")),
    ("prim::shape(Tensor a) -> int[]", same!("aten::size")),
    ("prim::ndim(Tensor a) -> int", same!("aten::dim")),
];

/// `x.float()`: the tensor with the dtype of this number.
macro_rules! cast {
    ($dtype:literal) => {
        |compiler, inputs| {
            let dtype = compiler.int($dtype)?;
            let no = compiler.bool(false)?;
            let none = compiler.none()?;
            compiler.operator("aten::to", &[inputs[0], dtype, no, no, none])
        }
    };
}

/// The methods of tensors that convert.
const CASTS: [(&str, Rewrite); 12] = [
    ("byte", cast!(0)),
    ("char", cast!(1)),
    ("short", cast!(2)),
    ("int", cast!(3)),
    ("long", cast!(4)),
    ("half", cast!(5)),
    ("float", cast!(6)),
    ("double", cast!(7)),
    ("cfloat", cast!(9)),
    ("cdouble", cast!(10)),
    ("bool", cast!(11)),
    ("bfloat16", cast!(15)),
];

static ROWS: OnceLock<HashMap<String, Vec<Row>>> = OnceLock::new();

/// The schemas of this name with what they stand for.
pub(super) fn rewrites(name: &str) -> Vec<Row> {
    let rows = ROWS.get_or_init(|| {
        let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
        let mut add = |text: &str, rewrite: Rewrite| {
            if let Ok(schema) = Schema::parse(text) {
                rows.entry(schema.name.to_string()).or_default().push((schema.without_namespace().into(), rewrite));
            }
        };
        for (name, rewrite) in WITH_NUMBER {
            for number in ["float", "int", "complex"] {
                if number != "complex" || !matches!(name, "lt" | "gt") {
                    add(&format!("aten::{name}({number} a, Tensor b) -> Tensor"), rewrite);
                }
            }
        }
        for (name, dtype) in CASTS {
            add(&format!("aten::{name}(Tensor self) -> Tensor"), dtype);
        }
        OTHERS.iter().for_each(|(text, rewrite)| add(text, *rewrite));
        rows
    });
    rows.get(name).cloned().unwrap_or_default()
}

impl Compiler<'_> {
    /// Calls an operator with positional arguments.
    pub(super) fn operator(&mut self, name: &str, inputs: &[ValueId]) -> Result<ValueId> {
        self.builtin(name, &Arguments::of(inputs))
    }
}
