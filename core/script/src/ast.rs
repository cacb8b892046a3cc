//! The syntax tree. Expressions are stored in one vector and refer to each other by index, so that dropping and
//! copying a tree needs no recursion.

use crate::source::{Source, Span};
use std::sync::Arc;

/// An identifier.
pub type Name = Arc<str>;

/// A list of statements.
pub type Block = Vec<Stmt>;

/// The index of an expression in its [`Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub(crate) u32);

/// A parsed file or string.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text that was parsed.
    pub source: Source,
    /// The classes and functions, in order.
    pub items: Vec<Item>,
    pub(crate) exprs: Vec<Expr>,
}

/// What takes the place of an expression that is not part of the module.
static MISSING: Expr = Expr { kind: ExprKind::None, span: Span { start: 0, end: 0 } };

impl Module {
    /// The expression with this index, which must come from this module.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0 as usize).unwrap_or(&MISSING)
    }

    /// The indices of all expressions, operands before what they are part of.
    pub fn expr_ids(&self) -> impl ExactSizeIterator<Item = ExprId> {
        (0..self.exprs.len()).map(|index| ExprId(index as u32))
    }

    /// The chain of first operands from `id` down: `a + b + c` has `[a + b + c, a + b, a]`, `x.y().z` has
    /// `[x.y().z, x.y(), x.y, x]`. Nesting is limited, the length of such chains is not: code that visits
    /// expressions goes over them in a loop.
    pub fn chain(&self, id: ExprId) -> Vec<ExprId> {
        let mut chain = vec![id];
        let mut current = id;
        while let Some(first) = self.expr(current).kind.first_operand() {
            chain.push(first);
            current = first;
        }
        chain
    }

    /// The dotted name that an expression is (`torch.nn.Linear`).
    pub fn dotted(&self, id: ExprId) -> Option<String> {
        let chain = self.chain(id);
        let mut name = String::new();
        for &part in chain.iter().rev() {
            match &self.expr(part).kind {
                ExprKind::Name(first) if name.is_empty() => name.push_str(first),
                ExprKind::Attribute { name: attribute, .. } if !name.is_empty() => {
                    name.push('.');
                    name.push_str(attribute);
                }
                _ => return None,
            }
        }
        Some(name)
    }

    /// The functions at the top level.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }

    /// The classes.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.items.iter().filter_map(|item| match item {
            Item::Class(class) => Some(class),
            _ => None,
        })
    }
}

/// A part of a module.
#[derive(Clone, Debug)]
pub enum Item {
    /// `class ...`
    Class(Class),
    /// `def ...`
    Function(Function),
    /// `op_version_set = 1`, which old files begin with.
    Version(i64, Span),
}

/// What a class is, by its base class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// No base class.
    Plain,
    /// `Module`.
    Module,
    /// `NamedTuple`.
    NamedTuple,
    /// `Enum`.
    Enum,
    /// `Interface`, or the decorator `torch.jit.interface`.
    Interface,
    /// `ModuleInterface`.
    ModuleInterface,
    /// `Exception`.
    Exception,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name, without the module.
    pub name: Name,
    /// By its base class.
    pub kind: ClassKind,
    /// The base class as written.
    pub base: Option<ExprId>,
    /// Decorators, without `@`.
    pub decorators: Vec<ExprId>,
    /// Attributes and methods in order.
    pub members: Vec<Member>,
    /// From `class` to the name.
    pub span: Span,
}

impl Class {
    /// The names in a list such as `__parameters__`; empty if the class has none.
    pub fn names(&self, field: &str) -> &[Name] {
        let list = self.members.iter().find_map(|member| match member {
            Member::Names { field: name, names, .. } if &**name == field => Some(names.as_slice()),
            _ => None,
        });
        list.unwrap_or_default()
    }

    /// The method of this name.
    pub fn method(&self, name: &str) -> Option<&Function> {
        self.members.iter().find_map(|member| match member {
            Member::Method(method) if &*method.name == name => Some(method),
            _ => None,
        })
    }
}

/// A part of a class.
#[derive(Clone, Debug)]
pub enum Member {
    /// `weight : Tensor`, `stride : Final[int] = 1`, or `__annotations__["0"] = T` for a name that is no identifier.
    Attribute {
        /// The name.
        name: Name,
        /// Its type.
        annotation: ExprId,
        /// The value of a constant, or the default of a field.
        value: Option<ExprId>,
        /// The whole line.
        span: Span,
    },
    /// `RED = 1`
    Value {
        /// The name.
        name: Name,
        /// The value.
        value: ExprId,
        /// The whole line.
        span: Span,
    },
    /// `__parameters__ = ["weight", ]` and similar lists.
    Names {
        /// The name of the list.
        field: Name,
        /// The strings in it.
        names: Vec<Name>,
        /// The whole line.
        span: Span,
    },
    /// A method.
    Method(Function),
}

/// A function or method.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// Decorators, without `@`.
    pub decorators: Vec<ExprId>,
    /// The parameters, with `self` for methods.
    pub params: Vec<Param>,
    /// The annotation of the result, also from a type comment.
    pub returns: Option<ExprId>,
    /// The statements.
    pub body: Block,
    /// From `def` to the colon.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// Its annotation, also from a type comment.
    pub annotation: Option<ExprId>,
    /// The default.
    pub default: Option<ExprId>,
    /// Whether it comes after `*`.
    pub keyword_only: bool,
    /// The parameter with annotation and default.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The statement; of a compound one, its first line.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An expression.
    Expr(ExprId),
    /// `a = b = value`, `a: int = value`, `a: int`
    Assign {
        /// Tuples, lists, names, attributes, subscripts and starred names.
        targets: Vec<ExprId>,
        /// The annotation, also from a type comment.
        annotation: Option<ExprId>,
        /// Absent in a declaration only.
        value: Option<ExprId>,
    },
    /// `a += value`
    AugAssign {
        /// A name, attribute or subscript.
        target: ExprId,
        /// The operator.
        op: BinaryOp,
        /// The right-hand side.
        value: ExprId,
    },
    /// `if`, with all `elif`
    If {
        /// Conditions and their blocks.
        branches: Vec<(ExprId, Block)>,
        /// The block of `else`, empty without one.
        otherwise: Block,
    },
    /// `while`
    While {
        /// The condition.
        condition: ExprId,
        /// The block.
        body: Block,
    },
    /// `for target in iter`
    For {
        /// The loop variables.
        target: ExprId,
        /// A tuple if several values are written.
        iter: ExprId,
        /// The block.
        body: Block,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `pass`
    Pass,
    /// `return`
    Return(Option<ExprId>),
    /// `raise`
    Raise(ExprId),
    /// `assert`
    Assert {
        /// The condition.
        test: ExprId,
        /// The message.
        message: Option<ExprId>,
    },
    /// `with a as b, c`
    With {
        /// The contexts and the names they are bound to.
        items: Vec<(ExprId, Option<ExprId>)>,
        /// The block.
        body: Block,
    },
    /// `del`
    Delete(Vec<ExprId>),
    /// A function inside a function.
    Function(Box<Function>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its range in the source.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An identifier. `inf`, `nan`, `infj`, `nanj` and `CONSTANTS` are identifiers that files define.
    Name(Name),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// `2j`
    Imaginary(f64),
    /// `True` or `False`
    Bool(bool),
    /// `None`
    None,
    /// `...`
    Ellipsis,
    /// A string, in bytes: files may hold strings that are not UTF-8.
    Str(Box<[u8]>),
    /// `f"..."`
    Format(Vec<Part>),
    /// `-a`, `not a`
    Unary(UnaryOp, ExprId),
    /// `a + b`
    Binary(BinaryOp, ExprId, ExprId),
    /// `a and b`, `a or b`
    Logical(LogicalOp, ExprId, ExprId),
    /// `a < b <= c`
    Compare(ExprId, Vec<(CompareOp, ExprId)>),
    /// `then if condition else otherwise`
    Ternary {
        /// The condition.
        condition: ExprId,
        /// If it is true.
        then: ExprId,
        /// If it is false.
        otherwise: ExprId,
    },
    /// `f(a, *b, c=d)`
    Call {
        /// What is called.
        function: ExprId,
        /// Positional arguments, some of them starred.
        args: Vec<ExprId>,
        /// Keyword arguments.
        keywords: Vec<(Name, ExprId)>,
    },
    /// `a.name`
    Attribute {
        /// The object.
        value: ExprId,
        /// The name.
        name: Name,
    },
    /// `a[i, 1:2]`
    Subscript {
        /// What is indexed.
        value: ExprId,
        /// The indices, at least one.
        index: Vec<ExprId>,
    },
    /// `1:2:3`, in subscripts only
    Slice([Option<ExprId>; 3]),
    /// `*a`
    Starred(ExprId),
    /// `[a, b]`
    List(Vec<ExprId>),
    /// `(a, b)`
    Tuple(Vec<ExprId>),
    /// `{a: b}`
    Dict(Vec<(ExprId, ExprId)>),
    /// `[a for b in c if d]`, also as a generator in parentheses; a generator is evaluated to a list, as in PyTorch.
    ListComp(ExprId, Vec<Clause>),
    /// `{a: b for c in d}`
    DictComp(ExprId, ExprId, Vec<Clause>),
}

impl ExprKind {
    fn first_operand(&self) -> Option<ExprId> {
        match self {
            ExprKind::Binary(_, first, _)
            | ExprKind::Logical(_, first, _)
            | ExprKind::Call { function: first, .. }
            | ExprKind::Attribute { value: first, .. }
            | ExprKind::Subscript { value: first, .. } => Some(*first),
            _ => None,
        }
    }
}

/// A part of an f-string.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Literal bytes.
    Text(Vec<u8>),
    /// `{value}`
    Value(ExprId),
}

/// `for target in iter if condition`
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The variables.
    pub target: ExprId,
    /// What is iterated over.
    pub iter: ExprId,
    /// The conditions.
    pub conditions: Vec<ExprId>,
}

macro_rules! operators {
    ($(#[$meta:meta])* $Name:ident { $($Variant:ident $text:literal $precedence:literal)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Name { $(#[doc = concat!("`", $text, "`")] $Variant,)* }

        impl $Name {
            /// The operator as written.
            pub fn symbol(self) -> &'static str {
                match self { $($Name::$Variant => $text,)* }
            }

            /// How strongly it binds; higher binds tighter.
            pub(crate) const fn precedence(self) -> u8 {
                match self { $($Name::$Variant => $precedence,)* }
            }
        }
    };
}

operators! {
    /// An operator of two operands.
    BinaryOp {
        BitOr "|" 5 BitXor "^" 6 BitAnd "&" 7 LeftShift "<<" 8 RightShift ">>" 8 Add "+" 9 Sub "-" 9 Mul "*" 10
        Div "/" 10 FloorDiv "//" 10 Mod "%" 10 MatMul "@" 10 Pow "**" 12
    }
}

operators! {
    /// An operator of one operand.
    UnaryOp { Not "not " 3 Neg "-" 11 Pos "+" 11 Invert "~" 11 }
}

operators! {
    /// `and` and `or`.
    LogicalOp { Or "or" 1 And "and" 2 }
}

operators! {
    /// A comparison.
    CompareOp {
        Less "<" 4 LessEqual "<=" 4 Greater ">" 4 GreaterEqual ">=" 4 Equal "==" 4 NotEqual "!=" 4 Is "is" 4
        IsNot "is not" 4 In "in" 4 NotIn "not in" 4
    }
}
