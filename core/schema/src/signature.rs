//! The parts of a signature. Parsing is in `parse.rs`, printing in `print.rs`.

/// An operator's name, arguments and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// `my` of `my::op(...)`; empty where the text names none (the declarations of Rushlight itself).
    pub namespace: String,
    /// `add` of `add.Tensor(...)`.
    pub name: String,
    /// `Tensor` of `add.Tensor(...)`; empty for the default overload.
    pub overload: String,
    /// Positional arguments first, then those behind `*`.
    pub arguments: Vec<Argument>,
    /// Empty for `-> ()`.
    pub returns: Vec<Return>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name, as keyword arguments spell it.
    pub name: String,
    /// The type, with its alias annotation.
    pub ty: Type,
    /// The value when a call leaves the argument out.
    pub default: Option<Default>,
    /// Stands behind `*`: given by name only.
    pub kwarg_only: bool,
}

/// One return value.
#[derive(Clone, Debug, PartialEq)]
pub struct Return {
    /// The name, where the signature gives one (`-> (Tensor values, Tensor indices)`).
    pub name: Option<String>,
    /// The type, with its alias annotation.
    pub ty: Type,
}

/// The type of an argument or return: `Tensor(a!)`, `int[2]?`, `Tensor?[]`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What one element is.
    pub base: BaseType,
    /// `Tensor(a!)`: which memory this may share with others, and whether it is written.
    pub alias: Option<Alias>,
    /// A list of elements rather than one.
    pub list: Option<ListType>,
    /// May be None (of the whole, as in `int[]?`).
    pub optional: bool,
}

/// The list part of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListType {
    /// `int[2]`: a single value given stands for so many.
    pub size: Option<usize>,
    /// `Tensor?[]`: each element may be None.
    pub optional_elements: bool,
}

/// The kinds of values that operators take and return. `SymInt` is read as `int`.
#[allow(missing_docs, reason = "each is the PyTorch type of that name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    Tensor,
    Scalar,
    Int,
    Float,
    Bool,
    Str,
    ScalarType,
    Layout,
    Device,
    MemoryFormat,
    Generator,
    Dimname,
    Storage,
    QScheme,
    Stream,
}

/// An alias annotation: `(a)`, `(a!)`, `(a|b)`, `(a -> *)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The alias sets before the call.
    pub sets: Vec<String>,
    /// The memory is written.
    pub write: bool,
    /// The alias sets after the call, where they differ (`*` is the wildcard).
    pub after: Vec<String>,
}

/// A default value.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// None
    None,
    /// True or False
    Bool(bool),
    /// An integer; it may stand for a float, a Scalar or every element of a sized list too.
    Int(i64),
    /// A real number
    Float(f64),
    /// A string
    Str(String),
    /// A list in brackets
    List(Vec<Default>),
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
        if self.overload.is_empty() { self.name.clone() } else { format!("{}.{}", self.name, self.overload) }
    }

    /// The arguments that a call may give by position.
    pub fn positional(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| !argument.kwarg_only)
    }

    /// The argument of this name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    /// Does the call write into any argument?
    pub fn writes(&self) -> bool {
        self.arguments.iter().any(Argument::is_written)
    }
}

impl Argument {
    /// Does the call write into this argument (`Tensor(a!)`)?
    pub fn is_written(&self) -> bool {
        self.ty.is_written()
    }
}

impl Type {
    /// A plain type: no alias, no list, not optional.
    pub const fn plain(base: BaseType) -> Type {
        Type { base, alias: None, list: None, optional: false }
    }

    /// Is memory of this type written (`Tensor(a!)`)?
    pub fn is_written(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.write)
    }

    /// Is this a single, not optional `base`?
    pub fn is(&self, base: BaseType) -> bool {
        self.base == base && self.list.is_none() && !self.optional
    }

    /// Is this a list?
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }
}

impl BaseType {
    /// Every base type.
    pub const ALL: [BaseType; 15] = [
        BaseType::Tensor,
        BaseType::Scalar,
        BaseType::Int,
        BaseType::Float,
        BaseType::Bool,
        BaseType::Str,
        BaseType::ScalarType,
        BaseType::Layout,
        BaseType::Device,
        BaseType::MemoryFormat,
        BaseType::Generator,
        BaseType::Dimname,
        BaseType::Storage,
        BaseType::QScheme,
        BaseType::Stream,
    ];

    /// The name in the grammar.
    pub const fn name(self) -> &'static str {
        match self {
            BaseType::Tensor => "Tensor",
            BaseType::Scalar => "Scalar",
            BaseType::Int => "int",
            BaseType::Float => "float",
            BaseType::Bool => "bool",
            BaseType::Str => "str",
            BaseType::ScalarType => "ScalarType",
            BaseType::Layout => "Layout",
            BaseType::Device => "Device",
            BaseType::MemoryFormat => "MemoryFormat",
            BaseType::Generator => "Generator",
            BaseType::Dimname => "Dimname",
            BaseType::Storage => "Storage",
            BaseType::QScheme => "QScheme",
            BaseType::Stream => "Stream",
        }
    }

    /// The base type of this name (`SymInt` is `int`).
    pub fn from_name(name: &str) -> Option<BaseType> {
        if name == "SymInt" {
            return Some(BaseType::Int);
        }
        BaseType::ALL.into_iter().find(|base| base.name() == name)
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
