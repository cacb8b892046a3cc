//! The model of the declarations, after `load.rs` has read and checked them: families of operators, each with its
//! forms, its parameters in the bindings, its kernels and its derivative. Emitters read only the model.

use crate::types::{Kind, ResultKind};
use rushlight_schema::{Argument, Default, Signature};

/// One file of declarations: a cargo feature, and a file (or folder) of generated code in every binding.
#[derive(Debug)]
pub struct Family {
    /// `pointwise`: the feature is `op-pointwise`.
    pub name: String,
    /// One line of documentation.
    pub doc: String,
    /// The path `core/schema/ops/pointwise.toml` in the first line of generated files.
    pub source: String,
    /// The reason why every build contains the code of this family (its feature then controls only the operator table
    /// and the bindings).
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
    /// Its forms under other names.
    pub aliases: Vec<Alias>,
    /// What computes it.
    pub body: Body,
    /// For a composite: the function that writes its in-place form, if it is not a copy.
    pub composite_inplace: Option<String>,
    /// For a composite: the function that writes its out form, if it is not a copy.
    pub composite_out: Option<String>,
    /// The derivative; empty for operators that are not differentiable and for composites.
    pub derivative: Vec<Formula>,
    /// `MulBackward0`: the name in `grad_fn`.
    pub node: String,
    /// The supported dtypes.
    pub dtypes: Dtypes,
    /// The vmap rule.
    pub batching: Batching,
    /// How a kernel of this operator handles an output that overlaps an input.
    pub overlap: Overlap,
    /// Which dtypes the outputs of its out form may have.
    pub out_dtype: OutDtype,
    /// The supported devices of its tensors.
    pub devices: Devices,
    /// Whether the shape of the result depends on the values of the arguments.
    pub shape_by_data: ShapeByData,
    /// Used by derivatives and composites only; the bindings call it only by name.
    pub internal: bool,
    /// Whether it generates random numbers.
    pub nondeterministic: bool,
    /// Arguments without a default in C++, to keep overloads unambiguous (as in libtorch).
    pub cxx_required: Vec<String>,
    /// The version that added it.
    pub since: String,
    /// The documentation.
    pub doc: Doc,
    /// Deviations from the conventions of operators, each with its reason.
    pub exceptions: Vec<Exception>,
}

/// One callable form of an operator.
#[derive(Debug)]
pub struct Form {
    /// How the form returns its results.
    pub kind: FormKind,
    /// In-place and out signatures are derived from the declared one.
    pub signature: Signature,
    /// Whether it is a free function (`at::add(x, y)`).
    pub function: bool,
    /// Whether it is a method (`x.add(y)`).
    pub method: bool,
}

/// A form of an operator under another name: a row of the operator table, and functions that call the form.
#[derive(Debug)]
pub struct Alias {
    /// The form as it is called.
    pub form: Form,
    /// Which of the operator's forms it is.
    pub target: usize,
}

/// How a form returns its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// New tensors (or views) are returned.
    Functional,
    /// `self` is written (or, for operators that exist only in place, every argument marked `(a!)`).
    InPlace,
    /// The last arguments are written.
    Out,
}

/// The implementation of an operator.
#[derive(Debug)]
pub enum Body {
    /// A shape rule and a kernel per device. Operators that exist only in place may have no rule.
    Kernel {
        /// `ops::rules::arithmetic`
        shape: Option<String>,
        /// `ops::pointwise::mul`
        cpu: String,
    },
    /// A rule that computes the geometry of a view.
    View(String),
    /// A function that calls other operators.
    Composite(String),
    /// A call of an element-wise operator for each index of lists of tensors.
    Each {
        /// The full name of that operator.
        target: String,
        /// For each form the call in Rust, which `each.rs` writes when all families are known.
        calls: Vec<String>,
    },
}

/// An entry of the derivative: the gradient of some inputs.
#[derive(Debug)]
pub struct Formula {
    /// The argument or, for a joint formula (`"input, weight" = "..."`), the arguments.
    pub inputs: Vec<String>,
    /// Rust code over `Expr`, with the schema's names.
    pub text: String,
}

impl Formula {
    /// The gradient of an input: "zero", an error that it is not implemented ("rejected"), or a "formula".
    pub fn kind(&self) -> &'static str {
        let text = self.text.trim();
        let is_word = |word: &str| word.chars().all(|character| character.is_alphanumeric() || character == '_');
        if text.strip_suffix(".zeros()").is_some_and(is_word) {
            "zero"
        } else if text.starts_with("formulas::not_implemented(") || text.starts_with("formulas::no_formula(") {
            "rejected"
        } else {
            "formula"
        }
    }
}

/// The documentation of an operator.
#[derive(Debug)]
pub struct Doc {
    /// One sentence.
    pub summary: String,
    /// A definition in ASCII characters.
    pub formula: String,
    /// `(N, C) -> (N)`
    pub shapes: String,
    /// The errors and their conditions.
    pub errors: String,
    /// `add([1, 2], 3) -> [4, 5]`
    pub example: Option<String>,
    /// The range of x in the plot of the operator, and a third number for the second tensor (the target of a loss); empty:
    /// no plot.
    pub curve: Vec<f64>,
    /// A page or paper (`internal` for internal operators).
    pub source: String,
}

impl Doc {
    /// Whether the page of the operator shows its curve.
    pub fn has_curve(&self) -> bool {
        !self.curve.is_empty()
    }
}

/// A field that allows a deviation, with its reason.
#[derive(Debug)]
pub struct Exception {
    /// `copied_form`, ...
    pub field: &'static str,
    /// The reason
    pub reason: String,
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $(#[doc = $meaning:literal] $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = $meaning] $variant),* }

        impl $name {
            /// All values, as spelled in the declarations.
            pub const CHOICES: &'static [(&'static str, $name)] = &[$(($text, $name::$variant)),*];

            /// The spelling in the declarations.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The name of the variant, which an enum of the product shares.
            #[allow(dead_code, reason = "generated code names some")]
            pub fn variant(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant)),* }
            }

            /// The description.
            #[allow(dead_code, reason = "the reference speaks of some")]
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => $meaning.trim_ascii()),* }
            }
        }
    };
}

choices! {
    /// The dtypes that an operator supports.
    Dtypes {
        /// Every dtype
        All = "all",
        /// All except bool
        Number = "number",
        /// All except complex
        Real = "real",
        /// All except bool and complex
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
    /// How vmap applies an operator to a batch.
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
    /// Whether the shape of the result depends on the values of the arguments. The meta device cannot compute it then.
    ShapeByData {
        /// Shapes depend only on shapes
        Never = "never",
        /// For some arguments, such as a mask as index
        Sometimes = "sometimes",
        /// In every call
        Always = "always",
    }
}

choices! {
    /// The devices of the tensors of a call.
    Devices {
        /// All on the same device (CPU scalars are allowed)
        Same = "same",
        /// Any: the operator moves data between devices or reads only metadata; its rule rejects other combinations
        Any = "any",
    }
}

choices! {
    /// Which dtypes the outputs of an out form may have.
    OutDtype {
        /// Any that the result can be cast to
        Any = "any",
        /// That of the result
        Own = "own",
        /// Any if the argument `dtype` is not given: it is that of the output then
        Argument = "argument",
    }
}

choices! {
    /// How a kernel handles an output that overlaps an input.
    Overlap {
        /// Element i of the output depends only on element i of the inputs: a partial overlap is an error.
        Elementwise = "elementwise",
        /// The result is computed in a temporary.
        Temporary = "temporary",
        /// The kernel updates the first input where it is: only another input that overlaps requires a temporary.
        InPlace = "in_place",
        /// All elements of the output are the same number: they may share memory.
        Constant = "constant",
    }
}

/// An argument in the bindings: like that of the schema, but the last arguments dtype, layout, device and pin_memory
/// are one.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The schema's name (`options` for the tail).
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// The schema's default.
    pub default: Option<Default>,
    /// Marked `(a!)`.
    pub written: bool,
    /// Index of the (first) schema argument.
    pub index: usize,
}

/// The return type of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing: in-place and out forms (by name they return the written tensors), and `-> ()`.
    Nothing,
    /// One tensor.
    Tensor,
    /// This number of tensors.
    Tensors(usize),
    /// A list of tensors.
    TensorList,
    /// One value that is not a tensor.
    Value(ResultKind),
    /// Several values, not all tensors: such an operator is called by name only.
    Mixed(Mixed),
}

/// The kinds of several results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixed {
    kinds: [ResultKind; Mixed::MOST],
    count: usize,
}

impl Mixed {
    /// How many results an operator may have that are not all tensors.
    pub const MOST: usize = 5;

    /// The first [`MOST`](Mixed::MOST) of them; `load.rs` rejects more.
    fn new(kinds: impl Iterator<Item = ResultKind>) -> Mixed {
        let mut mixed = Mixed { kinds: [ResultKind::Value; Mixed::MOST], count: 0 };
        for (place, kind) in mixed.kinds.iter_mut().zip(kinds) {
            *place = kind;
            mixed.count += 1;
        }
        mixed
    }

    /// Each kind in order.
    pub fn kinds(&self) -> &[ResultKind] {
        &self.kinds[..self.count]
    }
}

impl Returns {
    /// Whether there are results, all of them tensors.
    pub fn are_tensors(self) -> bool {
        matches!(self, Returns::Tensor | Returns::Tensors(_) | Returns::TensorList)
    }

    /// The type in Rust.
    pub fn rust(self) -> String {
        match self {
            Returns::Nothing => "()".into(),
            Returns::Tensor => "Tensor".into(),
            Returns::Tensors(count) => format!("({})", vec!["Tensor"; count].join(", ")),
            Returns::TensorList => "Vec<Tensor>".into(),
            Returns::Value(kind) => kind.spelling().rust.into(),
            Returns::Mixed(mixed) => {
                let kinds: Vec<&str> = mixed.kinds().iter().map(|kind| kind.spelling().rust).collect();
                format!("({})", kinds.join(", "))
            }
        }
    }
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

    /// Whether this is a view of its first argument.
    pub fn is_view(&self) -> bool {
        matches!(self.body, Body::View(_))
    }

    /// Whether other operators compute this one.
    pub fn is_composite(&self) -> bool {
        matches!(self.body, Body::Composite(_) | Body::Each { .. })
    }

    /// For a composite: the function that writes this form.
    pub fn writer(&self, form: &Form) -> Option<&str> {
        match form.kind {
            FormKind::Functional => None,
            FormKind::InPlace => self.composite_inplace.as_deref(),
            FormKind::Out => self.composite_out.as_deref(),
        }
    }

    /// Whether this form copies the result of another.
    pub fn is_copied(&self, form: &Form) -> bool {
        let own = std::ptr::eq(form, self.primary());
        matches!(self.body, Body::Composite(_))
            && !own
            && form.kind != FormKind::Functional
            && self.writer(form).is_none()
    }

    /// Whether the CPU's kernel computes it on every device, from copies on the host.
    pub fn is_on_host(&self) -> bool {
        self.exceptions.iter().any(|exception| exception.field == "on_host")
    }

    /// Whether it has a derivative of its own.
    pub fn is_differentiable(&self) -> bool {
        !self.derivative.is_empty()
    }

    /// Whether a formula computes the gradient of this argument.
    pub fn has_gradient(&self, argument: &str) -> bool {
        self.derivative.iter().any(|formula| formula.inputs.iter().any(|input| input == argument))
    }

    /// The names of the outputs in formulas: those of the signature, or `result`, or `result0`, `result1`, ...
    pub fn output_names(&self) -> Vec<String> {
        let returns = &self.primary().signature.returns;
        let single = returns.len() == 1;
        let default = |index: usize| if single { "result".to_string() } else { format!("result{index}") };
        returns
            .iter()
            .enumerate()
            .map(|(index, ret)| ret.name.as_deref().map_or_else(|| default(index), str::to_owned))
            .collect()
    }
}

impl Form {
    /// Whether the form has no function in any language and is called by name.
    pub fn is_by_name_only(&self) -> bool {
        !self.function && !self.method
    }

    /// The arguments as bindings pass them.
    pub fn parameters(&self) -> Vec<Parameter> {
        let arguments = &self.signature.arguments;
        let mut parameters = Vec::with_capacity(arguments.len());
        let mut index = 0;
        while let Some(argument) = arguments.get(index) {
            let options = is_options_tail(&arguments[index..]);
            let (name, kind) = if options {
                ("options".to_string(), Kind::Options)
            } else {
                // `load.rs` rejects every type without a kind.
                (argument.name.to_string(), Kind::of(&argument.ty).unwrap_or(Kind::Tensor))
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

    /// The parameters without the results at the end of an out form.
    pub fn inputs(&self) -> Vec<Parameter> {
        let mut parameters = self.parameters();
        if self.kind == FormKind::Out {
            parameters.truncate(parameters.len() - self.signature.returns.len());
        }
        parameters
    }

    /// The written parameters; of an out form the results.
    pub fn written(&self) -> Vec<Parameter> {
        let skipped = if self.kind == FormKind::Out { self.inputs().len() } else { 0 };
        self.parameters().into_iter().skip(skipped).filter(|parameter| parameter.written).collect()
    }

    /// The return type of the typed function.
    pub fn returns(&self) -> Returns {
        match (self.kind, &self.signature.returns[..]) {
            (FormKind::InPlace | FormKind::Out, _) | (_, []) => Returns::Nothing,
            (_, [single]) => match ResultKind::of(&single.ty) {
                ResultKind::Tensor => Returns::Tensor,
                ResultKind::TensorList => Returns::TensorList,
                kind => Returns::Value(kind),
            },
            (_, several) if several.iter().all(|ret| ResultKind::of(&ret.ty) == ResultKind::Tensor) => {
                Returns::Tensors(several.len())
            }
            (_, several) => Returns::Mixed(Mixed::new(several.iter().map(|ret| ResultKind::of(&ret.ty)))),
        }
    }
}

/// Whether dtype, layout, device and pin_memory come next.
pub fn is_options_tail(arguments: &[Argument]) -> bool {
    const TAIL: [&str; 4] = ["dtype", "layout", "device", "pin_memory"];
    arguments.len() >= 4
        && TAIL.iter().zip(arguments).all(|(name, argument)| argument.name == *name && argument.kwarg_only)
}
