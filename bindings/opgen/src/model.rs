//! What the declarations mean, after `load.rs` has read and checked them: families of operators, each with its
//! forms, its parameters as every face sees them, its kernels and its derivative. Emitters read only this.

use crate::types::Kind;
use rushlight_schema::{Argument, Default, Signature};

/// One file of declarations: a cargo feature, and a file (or folder) of generated code in every face.
#[derive(Debug)]
pub struct Family {
    /// `pointwise`: the feature is `op-pointwise`.
    pub name: String,
    /// One line on the family.
    pub doc: String,
    /// `core/schema/ops/pointwise.toml`, as the first line of generated files names it.
    pub source: String,
    /// Why every build contains the code of this family (its feature then cuts only the operator table and the faces).
    pub required: Option<String>,
    /// Optional families whose operators this one calls.
    pub needs: Vec<String>,
    /// In the order of the file.
    pub ops: Vec<Op>,
}

/// One entry: an operator with all its forms.
#[derive(Debug)]
pub struct Op {
    /// The declared form first, then in-place, then out.
    pub forms: Vec<Form>,
    /// What computes it.
    pub body: Body,
    /// Of a composite: the function that writes its in-place form, if it is not a copy.
    pub composite_inplace: Option<String>,
    /// Of a composite: the function that writes its out form, if it is not a copy.
    pub composite_out: Option<String>,
    /// How it is differentiated; empty for operators that are not (or are composites of others).
    pub derivative: Vec<Formula>,
    /// `MulBackward0`: what `grad_fn` shows.
    pub node: String,
    /// The dtypes it takes.
    pub dtypes: Dtypes,
    /// What the autocast layer does with it.
    pub autocast: Autocast,
    /// How vmap batches it.
    pub batching: Batching,
    /// What a kernel of this operator does when an output overlaps an input.
    pub overlap: Overlap,
    /// Which devices its tensors may live on.
    pub devices: Devices,
    /// Do the elements of arguments decide on the shape of the result?
    pub shape_by_data: ShapeByData,
    /// Known to derivatives and composites; the public faces reach it by name only.
    pub internal: bool,
    /// Draws random numbers.
    pub nondeterministic: bool,
    /// Arguments without default in C++, where overloads would be ambiguous (as in libtorch).
    pub cxx_required: Vec<String>,
    /// Version that brought it.
    pub since: String,
    /// What the documentation says.
    pub doc: Doc,
    /// Ways in which this operator is not as the others, each with its reason.
    pub exceptions: Vec<Exception>,
}

/// One callable form of an operator.
#[derive(Debug)]
pub struct Form {
    /// How results come back.
    pub kind: FormKind,
    /// In-place and out signatures are derived from the declared one.
    pub signature: Signature,
    /// Callable as a free function (`at::add(x, y)`).
    pub function: bool,
    /// Callable as a method (`x.add(y)`).
    pub method: bool,
}

/// How results of a form come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// New tensors (or views) are returned.
    Functional,
    /// `self` is written (or, for operators that exist in place only, every argument marked `(a!)`).
    InPlace,
    /// The arguments at the end are written.
    Out,
}

/// What computes an operator.
#[derive(Debug)]
pub enum Body {
    /// A shape rule and a kernel per device. In-place-only operators may have no rule.
    Kernel {
        /// `rules::arithmetic`
        shape: Option<String>,
        /// `pointwise::mul`
        cpu: String,
        /// The CUDA column
        cuda: Option<String>,
    },
    /// A rule that computes the geometry of a view.
    View(String),
    /// A function that calls other operators.
    Composite(String),
}

/// A line of the derivative: the gradient of some inputs.
#[derive(Debug)]
pub struct Formula {
    /// The argument or, for a joint formula (`"input, weight" = "..."`), the arguments.
    pub inputs: Vec<String>,
    /// Rust over `Expr`, in the schema's names.
    pub text: String,
}

impl Formula {
    /// What an input gets: "zero", an error that nothing is implemented ("refused"), or a "formula".
    pub fn kind(&self) -> &'static str {
        let text = self.text.trim();
        let is_word = |word: &str| word.chars().all(|character| character.is_alphanumeric() || character == '_');
        if text.strip_suffix(".zeros()").is_some_and(is_word) {
            "zero"
        } else if text.starts_with("formulas::not_implemented(") || text.starts_with("formulas::no_formula(") {
            "refused"
        } else {
            "formula"
        }
    }
}

/// The texts for people.
#[derive(Debug)]
pub struct Doc {
    /// One sentence.
    pub summary: String,
    /// A definition in ASCII.
    pub formula: String,
    /// `(N, C) -> (N)`
    pub shapes: String,
    /// What goes wrong when.
    pub errors: String,
    /// `add([1, 2], 3) -> [4, 5]`
    pub example: Option<String>,
    /// A page or paper (`internal` for internal operators).
    pub source: String,
}

/// A field that admits a deviation, with its reason.
#[derive(Debug)]
pub struct Exception {
    /// `copied_form`, ...
    pub field: &'static str,
    /// Why
    pub reason: String,
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $(#[doc = $meaning:literal] $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = $meaning] $variant),* }

        impl $name {
            /// Every choice, as the declarations spell it.
            pub const CHOICES: &'static [(&'static str, $name)] = &[$(($text, $name::$variant)),*];

            /// As the declarations spell it.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// In words.
            #[allow(dead_code, reason = "the reference speaks of some")]
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => $meaning.trim_ascii()),* }
            }
        }
    };
}

choices! {
    /// The dtypes that an operator takes.
    Dtypes {
        /// Every dtype
        All = "all",
        /// All but bool
        Number = "number",
        /// All but complex
        Real = "real",
        /// Neither bool nor complex
        RealNumber = "real_number",
        /// Floating point
        Float = "float",
        /// Floating point and complex
        FloatComplex = "float_complex",
        /// Integers and bool
        IntegralBool = "integral_bool",
        /// Integers
        Integral = "integral",
    }
}

choices! {
    /// What the autocast layer does with an operator.
    Autocast {
        /// Leaves it alone
        None = "none",
        /// Casts to the lower precision
        Lower = "lower",
        /// Casts to float32
        Fp32 = "fp32",
        /// Casts to the widest dtype among the arguments
        Promote = "promote",
    }
}

choices! {
    /// How vmap batches an operator.
    Batching {
        /// By a loop
        None = "none",
        /// The batch dimension broadcasts
        Pointwise = "pointwise",
        /// Dimensions shift by one
        Reduction = "reduction",
        /// A view of the batch
        View = "view",
    }
}

choices! {
    /// Do the elements of arguments decide on the shape of the result? Then the meta device cannot tell it.
    ShapeByData {
        /// Shapes follow from shapes
        Never = "never",
        /// For some arguments, such as a mask among indices
        Sometimes = "sometimes",
        /// In every call
        Always = "always",
    }
}

choices! {
    /// Which devices the tensors of a call may live on.
    Devices {
        /// All on one (numbers on the host may join)
        Same = "same",
        /// On any: the operator moves data between devices, or only looks at what a tensor is like; its rule refuses what it cannot do
        Any = "any",
    }
}

choices! {
    /// What a kernel does when an output overlaps an input.
    Overlap {
        /// Element i of the output depends on element i of the inputs only: the same memory is fine, a partial overlap is an error.
        Elementwise = "elementwise",
        /// The result is computed in a temporary.
        Temporary = "temporary",
    }
}

/// An argument as the faces see it: like the schema's, but the tail dtype, layout, device, pin_memory is one.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The schema's name (`options` for the tail).
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The schema's default.
    pub default: Option<Default>,
    /// Marked `(a!)`.
    pub written: bool,
    /// Index of the (first) schema argument.
    pub index: usize,
}

/// What a form returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing: in-place and out forms (by name they return what they wrote), and `-> ()`.
    Nothing,
    /// One tensor.
    Tensor,
    /// So many tensors.
    Tensors(usize),
    /// A list of tensors.
    TensorList,
}

impl Family {
    /// The cargo feature: `op-pointwise`.
    pub fn feature(&self) -> String {
        format!("op-{}", self.name)
    }
}

impl Op {
    /// The declared form.
    pub fn primary(&self) -> &Form {
        &self.forms[0]
    }

    /// The form of this kind.
    pub fn form(&self, kind: FormKind) -> Option<&Form> {
        self.forms.iter().find(|form| form.kind == kind)
    }

    /// Name with overload of the declared form: `mul.Tensor`.
    pub fn name(&self) -> String {
        self.primary().signature.full_name()
    }

    /// Is this a view of its first argument?
    pub fn is_view(&self) -> bool {
        matches!(self.body, Body::View(_))
    }

    /// Is this computed by other operators?
    pub fn is_composite(&self) -> bool {
        matches!(self.body, Body::Composite(_))
    }

    /// Of a composite: the function that writes this form itself.
    pub fn writer(&self, form: &Form) -> Option<&str> {
        match form.kind {
            FormKind::Functional => None,
            FormKind::InPlace => self.composite_inplace.as_deref(),
            FormKind::Out => self.composite_out.as_deref(),
        }
    }

    /// Is this form made by copying the result of another?
    pub fn is_copied(&self, form: &Form) -> bool {
        let own = std::ptr::eq(form, self.primary());
        self.is_composite() && !own && form.kind != FormKind::Functional && self.writer(form).is_none()
    }

    /// Does it have a derivative of its own?
    pub fn is_differentiable(&self) -> bool {
        !self.derivative.is_empty()
    }

    /// Does a formula give this argument's gradient?
    pub fn has_gradient(&self, argument: &str) -> bool {
        self.derivative.iter().any(|formula| formula.inputs.iter().any(|input| input == argument))
    }

    /// Names of the outputs as formulas use them: the signature's, else `result` or `result0`, `result1`, ...
    pub fn output_names(&self) -> Vec<String> {
        let returns = &self.primary().signature.returns;
        let single = returns.len() == 1;
        let default = |index: usize| if single { "result".to_string() } else { format!("result{index}") };
        returns.iter().enumerate().map(|(index, ret)| ret.name.clone().unwrap_or_else(|| default(index))).collect()
    }
}

impl Form {
    /// The arguments as faces see them.
    pub fn parameters(&self) -> Vec<Parameter> {
        let arguments = &self.signature.arguments;
        let mut parameters = Vec::with_capacity(arguments.len());
        let mut index = 0;
        while let Some(argument) = arguments.get(index) {
            let options = is_options_tail(&arguments[index..]);
            let (name, kind) = if options {
                ("options".to_string(), Kind::Options)
            } else {
                // `load.rs` has refused every type without a kind.
                (argument.name.clone(), Kind::of(&argument.ty).unwrap_or(Kind::Tensor))
            };
            parameters.push(Parameter {
                name,
                kind,
                default: argument.default.clone(),
                written: argument.is_written(),
                index,
            });
            index += if options { 4 } else { 1 };
        }
        parameters
    }

    /// The parameters without the written ones at the end of an out form.
    pub fn inputs(&self) -> Vec<Parameter> {
        let out = self.kind == FormKind::Out;
        self.parameters().into_iter().filter(|parameter| !(out && parameter.written)).collect()
    }

    /// The written parameters.
    pub fn written(&self) -> Vec<Parameter> {
        self.parameters().into_iter().filter(|parameter| parameter.written).collect()
    }

    /// What the typed function returns.
    pub fn returns(&self) -> Returns {
        match (self.kind, self.signature.returns.as_slice()) {
            (FormKind::InPlace | FormKind::Out, _) | (_, []) => Returns::Nothing,
            (_, [single]) if single.ty.is_list() => Returns::TensorList,
            (_, [_]) => Returns::Tensor,
            (_, several) => Returns::Tensors(several.len()),
        }
    }
}

/// Do the arguments begin with dtype, layout, device, pin_memory?
pub fn is_options_tail(arguments: &[Argument]) -> bool {
    const TAIL: [&str; 4] = ["dtype", "layout", "device", "pin_memory"];
    arguments.len() >= 4
        && TAIL.iter().zip(arguments).all(|(name, argument)| argument.name == *name && argument.kwarg_only)
}
