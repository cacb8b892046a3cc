//! The parts of a signature. Parsing is in `parse.rs`, printing in `print.rs`.
//!
//! Names and lists are borrowed or owned: the rows of the operator table are constants, which borrow; a parsed text owns.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// A name.
pub type Name = Cow<'static, str>;

/// A list.
pub type List<T> = Cow<'static, [T]>;

/// An operator's name, arguments and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// `my` of `my::op(...)`; empty if the signature has no namespace (the declarations of Rushlight).
    pub namespace: Name,
    /// `add` of `add.Tensor(...)`.
    pub name: Name,
    /// `Tensor` of `add.Tensor(...)`; empty for the default overload.
    pub overload: Name,
    /// Positional arguments first, then those after `*`.
    pub arguments: List<Argument>,
    /// Empty for `-> ()`.
    pub returns: List<Return>,
    /// Takes any number of further arguments (`...`).
    pub is_vararg: bool,
    /// Returns any number of further values (`...`).
    pub is_varret: bool,
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name, also for keyword arguments.
    pub name: Name,
    /// The type, with its alias annotation.
    pub ty: Type,
    /// The default value.
    pub default: Option<Default>,
    /// Declared after `*`: keyword-only.
    pub kwarg_only: bool,
}

/// One return value.
#[derive(Clone, Debug, PartialEq)]
pub struct Return {
    /// The name, if the signature has one (`-> (Tensor values, Tensor indices)`).
    pub name: Option<Name>,
    /// The type, with its alias annotation.
    pub ty: Type,
}

/// The type of an argument or return: `Tensor(a!)`, `int[2]?`, `Tensor?[]`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type of one element.
    pub base: BaseType,
    /// The types or the name that belong to `base`: `Dict(str, int)`, `t`.
    pub detail: Detail,
    /// `Tensor(a!)`: which memory this may share with others, and whether it is written.
    pub alias: Option<Alias>,
    /// Whether this is a list of elements, and its properties.
    pub list: Option<ListType>,
    /// Whether the argument may be None (the whole of `int[]?`).
    pub optional: bool,
}

/// What completes a base type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The base type is complete.
    #[default]
    None,
    /// The name of a type variable or of a class.
    Name(Name),
    /// The types in parentheses: key and value of a dict, the elements of a tuple, the element of a nested list.
    Types(List<Type>),
}

/// The list part of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListType {
    /// `int[2]`: a single given value is repeated this many times.
    pub size: Option<usize>,
    /// `Tensor?[]`: each element may be None.
    pub optional_elements: bool,
}

macro_rules! base_types {
    ($($(#[doc = $doc:literal])? $variant:ident = $name:literal),* $(,)?) => {
        /// The kinds of values that operators take and return. `SymInt` is read as `int`, `number` as `Scalar`.
        #[allow(missing_docs, reason = "each is the PyTorch type of that name")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BaseType { $($(#[doc = $doc])? $variant),* }

        impl BaseType {
            /// Every base type.
            pub const ALL: &[BaseType] = &[$(BaseType::$variant),*];

            /// The name in the grammar. Empty for a tuple, a nested list, a type variable and a class.
            pub const fn name(self) -> &'static str {
                match self { $(BaseType::$variant => $name),* }
            }
        }
    };
}

base_types! {
    Tensor = "Tensor",
    Scalar = "Scalar",
    Int = "int",
    Float = "float",
    Bool = "bool",
    Str = "str",
    Complex = "complex",
    ScalarType = "ScalarType",
    Layout = "Layout",
    Device = "Device",
    MemoryFormat = "MemoryFormat",
    Generator = "Generator",
    Dimname = "Dimname",
    Storage = "Storage",
    QScheme = "QScheme",
    Stream = "Stream",
    NoneType = "NoneType",
    Any = "Any",
    AnyEnum = "AnyEnumType",
    AnyClass = "AnyClassType",
    AnyList = "AnyListType",
    AnyTuple = "AnyTupleType",
    PyObject = "PyObject",
    Capsule = "Capsule",
    /// `Dict(str, t)`
    Dict = "Dict",
    /// `Future(t)`
    Future = "Future",
    /// `Await(t)`
    Await = "Await",
    /// `RRef(t)`
    RRef = "RRef",
    /// `Union[int, Tensor]`
    Union = "Union",
    /// `(int, Tensor)`
    Tuple = "",
    /// The inner list of `int[][]`
    List = "",
    /// `t`, `tVal`: any type, but the same everywhere in the signature
    Variable = "",
    /// `__torch__.torch.classes.quantized.Conv2dPackedParamsBase`
    Class = "",
}

/// An alias annotation: `(a)`, `(a!)`, `(a|b)`, `(a -> *)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The alias sets before the call.
    pub sets: List<Name>,
    /// The memory is written.
    pub write: bool,
    /// The alias sets after the call, if they differ (`*` is the wildcard).
    pub after: List<Name>,
}

/// A default value.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// None
    None,
    /// True or False
    Bool(bool),
    /// An integer; it may also stand for a float, a Scalar or every element of a sized list.
    Int(i64),
    /// A real number
    Float(f64),
    /// A string
    Str(Name),
    /// A list in brackets
    List(List<Default>),
    /// A named constant of c10
    Constant(Constant),
}

/// The named constants that defaults use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// `at::Reduction::Mean`, an int
    Mean,
    /// `at::Reduction::Sum`, an int
    Sum,
    /// The dtype int64
    Long,
    /// The dtype float32
    Float,
    /// The dtype float64
    Double,
    /// The dtype bool
    Bool,
    /// The layout strided
    Strided,
    /// The row-major memory format
    ContiguousFormat,
    /// The memory format of the input
    PreserveFormat,
}

impl Signature {
    /// `name` or `name.overload`, without the namespace.
    pub fn full_name(&self) -> String {
        if self.overload.is_empty() {
            self.name.clone().into_owned()
        } else {
            format!("{}.{}", self.name, self.overload)
        }
    }

    /// [`full_name`](Signature::full_name) with the namespace, if there is one: `prim::device`.
    pub fn qualified_name(&self) -> String {
        let name = self.full_name();
        if self.namespace.is_empty() { name } else { format!("{}::{name}", self.namespace) }
    }

    /// The arguments that a call may give by position.
    pub fn positional(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| !argument.kwarg_only)
    }

    /// The argument of this name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    /// Whether the call writes into any argument.
    pub fn writes(&self) -> bool {
        self.arguments.iter().any(Argument::is_written)
    }
}

impl Argument {
    /// Whether the call writes into this argument (`Tensor(a!)`).
    pub fn is_written(&self) -> bool {
        self.ty.is_written()
    }
}

impl Type {
    /// A plain type: no alias, no list, not optional.
    pub const fn plain(base: BaseType) -> Type {
        Type { base, detail: Detail::None, alias: None, list: None, optional: false }
    }

    /// Whether memory of this type is written (`Tensor(a!)`).
    pub fn is_written(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.write)
    }

    /// The types in parentheses: key and value of a dict, the elements of a tuple.
    pub fn inner(&self) -> &[Type] {
        match &self.detail {
            Detail::Types(types) => types,
            Detail::None | Detail::Name(_) => &[],
        }
    }

    /// The type of an element, if this is a list.
    pub fn element(&self) -> Option<Type> {
        let list = self.list?;
        Some(match (self.base, self.inner()) {
            (BaseType::List, [inner]) => Type { optional: list.optional_elements, ..inner.clone() },
            _ => Type { list: None, optional: list.optional_elements, ..self.clone() },
        })
    }

    /// Whether this is a single, not optional `base`.
    pub fn is(&self, base: BaseType) -> bool {
        self.base == base && self.list.is_none() && !self.optional
    }

    /// Whether this is a list.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }
}

impl BaseType {
    /// The base type of this name. `SymInt` and `int64_t` are `int`, `number` is `Scalar`.
    pub fn from_name(name: &str) -> Option<BaseType> {
        match name {
            "" => None,
            "SymInt" | "int64_t" => Some(BaseType::Int),
            "SymFloat" => Some(BaseType::Float),
            "SymBool" => Some(BaseType::Bool),
            "number" => Some(BaseType::Scalar),
            name => BaseType::ALL.iter().copied().find(|base| base.name() == name),
        }
    }

    /// How many types follow in parentheses: `None` if none do.
    pub(crate) fn parameters(self) -> Option<RangeInclusive<usize>> {
        match self {
            BaseType::Dict => Some(2..=2),
            BaseType::Future | BaseType::Await | BaseType::RRef => Some(1..=1),
            BaseType::Union => Some(1..=usize::MAX),
            _ => None,
        }
    }
}

impl Constant {
    /// Every constant.
    pub const ALL: [Constant; 9] = [
        Constant::Mean,
        Constant::Sum,
        Constant::Long,
        Constant::Float,
        Constant::Double,
        Constant::Bool,
        Constant::Strided,
        Constant::ContiguousFormat,
        Constant::PreserveFormat,
    ];

    /// The name in the grammar.
    pub const fn name(self) -> &'static str {
        match self {
            Constant::Mean => "Mean",
            Constant::Sum => "Sum",
            Constant::Long => "long",
            Constant::Float => "float",
            Constant::Double => "double",
            Constant::Bool => "bool",
            Constant::Strided => "strided",
            Constant::ContiguousFormat => "contiguous_format",
            Constant::PreserveFormat => "preserve_format",
        }
    }

    /// The constant of this name.
    pub fn from_name(name: &str) -> Option<Constant> {
        Constant::ALL.into_iter().find(|constant| constant.name() == name)
    }

    /// The type it is a value of.
    pub const fn base(self) -> BaseType {
        match self {
            Constant::Mean | Constant::Sum => BaseType::Int,
            Constant::Long | Constant::Float | Constant::Double | Constant::Bool => BaseType::ScalarType,
            Constant::Strided => BaseType::Layout,
            Constant::ContiguousFormat | Constant::PreserveFormat => BaseType::MemoryFormat,
        }
    }

    /// Its frozen number in c10.
    pub const fn value(self) -> i64 {
        match self {
            Constant::Mean => 1,
            Constant::Sum => 2,
            Constant::Long => 4,
            Constant::Float => 6,
            Constant::Double => 7,
            Constant::Bool => 11,
            Constant::Strided | Constant::ContiguousFormat => 0,
            Constant::PreserveFormat => 1,
        }
    }
}
