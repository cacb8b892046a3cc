//! Tensors of examples: flat elements with sizes and dtype.

use super::literal::{DType, Literal, is_integer};

/// A literal as a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorLiteral {
    /// Row-major, as written.
    pub elements: Vec<Element>,
    /// Empty for a single number.
    pub sizes: Vec<usize>,
    /// The dtype.
    pub dtype: DType,
    /// Whether only dtype and shape are known. There are no elements then.
    pub shape_only: bool,
}

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// `true`
    Bool(bool),
    /// `-1.5`
    Real(String),
    /// `1+2j`
    Complex(String, String),
}

impl Element {
    /// The real and the imaginary part.
    pub fn parts(&self) -> (f64, f64) {
        let value = |text: &str| text.parse().unwrap_or(f64::NAN);
        match self {
            Element::Bool(flag) => (f64::from(u8::from(*flag)), 0.0),
            Element::Real(text) => (value(text), 0.0),
            Element::Complex(re, im) => (value(re), value(im)),
        }
    }
}

impl TensorLiteral {
    /// Flattens a literal.
    pub fn of(literal: &Literal) -> Result<TensorLiteral, String> {
        let mut tensor =
            TensorLiteral { elements: Vec::new(), sizes: Vec::new(), dtype: DType::Float32, shape_only: false };
        match literal {
            Literal::Shape(dtype, sizes) => {
                tensor.dtype = dtype.unwrap_or(DType::Float32);
                tensor.shape_only = !sizes.contains(&0);
                tensor.sizes.clone_from(sizes);
            }
            Literal::Typed(dtype, inner) => {
                tensor.gather(inner, 0)?;
                tensor.dtype = *dtype;
            }
            plain => {
                tensor.gather(plain, 0)?;
                tensor.dtype = tensor.natural_dtype();
            }
        }
        tensor.check()?;
        Ok(tensor)
    }

    fn gather(&mut self, literal: &Literal, depth: usize) -> Result<(), String> {
        let element = match literal {
            Literal::List(items) => {
                if self.sizes.len() == depth && self.elements.is_empty() {
                    self.sizes.push(items.len());
                } else if self.sizes.get(depth) != Some(&items.len()) {
                    return Err("a tensor with rows of different lengths".into());
                }
                return items.iter().try_for_each(|item| self.gather(item, depth + 1));
            }
            Literal::Bool(flag) => Element::Bool(*flag),
            Literal::Number(text) => Element::Real(text.clone()),
            Literal::Complex(re, im) => Element::Complex(re.clone(), im.clone()),
            other => return Err(format!("a tensor cannot hold {other:?}")),
        };
        if self.sizes.len() != depth {
            return Err("a tensor with rows of different lengths".into());
        }
        self.elements.push(element);
        Ok(())
    }

    fn natural_dtype(&self) -> DType {
        let any = |test: fn(&Element) -> bool| self.elements.iter().any(test);
        if any(|element| matches!(element, Element::Complex(..))) {
            DType::Complex64
        } else if any(|element| matches!(element, Element::Bool(_))) {
            DType::Bool
        } else if self.elements.is_empty() || any(|element| matches!(element, Element::Real(text) if !is_integer(text)))
        {
            DType::Float32
        } else {
            DType::Int64
        }
    }

    /// Whether the dtype can represent the elements.
    fn check(&self) -> Result<(), String> {
        for element in &self.elements {
            let fits = match element {
                Element::Bool(_) => self.dtype == DType::Bool,
                Element::Real(text) => {
                    self.dtype != DType::Bool && (is_integer(text) || self.dtype.is_float() || self.dtype.is_complex())
                }
                Element::Complex(..) => self.dtype.is_complex(),
            };
            if !fits {
                return Err(format!("a {} tensor cannot hold {element:?}", self.dtype.name()));
            }
        }
        Ok(())
    }

    /// Whether the zero function would return this.
    pub fn is_zero(&self) -> bool {
        // NaN differs from 0.
        self.elements.iter().all(|element| element.parts() == (0.0, 0.0))
    }

    /// Whether both have the same dtype, shape and values. NaN equals NaN.
    pub fn equals(&self, other: &TensorLiteral) -> bool {
        let same = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan());
        let elements = self.elements.iter().zip(&other.elements);
        self.dtype == other.dtype
            && self.sizes == other.sizes
            && self.shape_only == other.shape_only
            && elements.map(|(x, y)| (x.parts(), y.parts())).all(|(x, y)| same(x.0, y.0) && same(x.1, y.1))
    }

    /// The format of the test programs: `float32[2,1] 1.5 2`, `int64[3] ?` if only the shape is known. A complex number
    /// is two numbers, a boolean 0 or 1.
    pub fn packed(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let mut text = format!("{}[{}]", self.dtype.name(), sizes.join(","));
        if self.shape_only {
            text.push_str(" ?");
        }
        for element in &self.elements {
            text.push(' ');
            text.push_str(&match element {
                Element::Bool(flag) => u8::from(*flag).to_string(),
                Element::Real(re) if self.dtype.is_complex() => format!("{re} 0"),
                Element::Real(text) => text.clone(),
                Element::Complex(re, im) => format!("{re} {im}"),
            });
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::literal::Reader;
    use super::*;

    fn tensor(text: &str) -> Result<TensorLiteral, String> {
        TensorLiteral::of(&Reader { rest: text }.literal()?)
    }

    #[test]
    fn tensors_have_sizes_and_dtypes() {
        let cases = [
            ("[1, 2]", "int64[2] 1 2"),
            ("[[1, 2.5]]", "float32[1,2] 1 2.5"),
            ("3", "int64[] 3"),
            ("1e3", "float32[] 1e3"),
            ("[1, nan, -inf]", "float32[3] 1 nan -inf"),
            ("[true, false]", "bool[2] 1 0"),
            ("[1+2j, 3.5]", "complex64[2] 1 2 3.5 0"),
            ("float64(2)", "float64[] 2"),
            ("int8[[1], [-2]]", "int8[2,1] 1 -2"),
            ("[]", "float32[0]"),
            ("[[], []]", "float32[2,0]"),
            ("int64[]", "int64[0]"),
            ("int64 shape [0, 3]", "int64[0,3]"),
            ("shape [2, 3]", "float32[2,3] ?"),
        ];
        for (text, packed) in cases {
            assert_eq!(tensor(text).unwrap().packed(), packed, "{text}");
        }
        for text in
            ["[[1], 2]", "[1, [2]]", "[[1], [2, 3]]", "[true, 1]", "int8[1.5]", "bool[1]", "[None]", "float64[1j]"]
        {
            assert!(tensor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zeros_and_equal_tensors_are_found() {
        let zero = |text: &str| tensor(text).unwrap().is_zero();
        assert!(zero("[0.0, -0.0]") && zero("[false]") && zero("shape [2]") && zero("[]") && zero("0j"));
        assert!(!zero("[0.0, 1.0]") && !zero("nan") && !zero("1e-9") && !zero("2j"));
        let equal = |left: &str, right: &str| tensor(left).unwrap().equals(&tensor(right).unwrap());
        assert!(equal("[1.0, nan]", "[1.00, nan]") && equal("[]", "shape [0]"));
        assert!(!equal("[1.0]", "[1]") && !equal("[1]", "1") && !equal("[1+2j]", "[1-2j]") && !equal("[1.0]", "[2.0]"));
    }
}
