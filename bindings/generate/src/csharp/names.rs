//! Names and types: what C# writes for a C type, and how a parameter of each type is passed.
//!
//! | C | C# |
//! |---|---|
//! | `const rlt_tensor *` | `TensorHandle`; `TensorHandle.None` is NULL |
//! | `rlt_tensor **` | `out TensorHandle`, or `IntPtr[]` if it is an array that the caller frees |
//! | `rlt_tensor *` of a function that frees it | `IntPtr` |
//! | `const T *` with a length after it | `T[]`, pinned for the call; `null` is NULL |
//! | another `const T *` | `T*` |
//! | `T *` | `out T`, `ref T` for structs that begin with their size |
//! | `const char *` | `string` |
//! | `const rlt_tensor *const *` | `IntPtr[]` |
//! | a pointer to a function | a delegate |

use rushlight_abi::{Function, Interface, Parameter};
use std::collections::BTreeMap;

/// Functions that free a handle and return a status. Those that return nothing are recognized.
const FREE_WITH_STATUS: [&str; 1] = ["rlt_op_unregister"];

/// A type of the headers.
pub enum Type {
    /// A handle with the function that frees it, if there is one.
    Handle(Option<String>),
    /// A struct, with its fields.
    Struct(Vec<Parameter>),
    /// A union, with its fields.
    Union(Vec<Parameter>),
    /// A pointer to a function: what it returns and its parameters.
    Delegate(String, Vec<Parameter>),
}

/// The types of the headers by their C names.
pub struct Types(pub BTreeMap<String, Type>);

impl Types {
    /// Reads the definitions.
    pub fn of(interface: &Interface) -> Result<Types, String> {
        let mut types = BTreeMap::new();
        for (name, definition) in &interface.types {
            let ty = match (definition.split_once('{'), definition.split_once("(*")) {
                (Some((head, rest)), _) => {
                    let body = rest.rsplit_once('}').ok_or_else(|| format!("{name} does not end"))?.0;
                    let fields = body.split(';').map(str::trim).filter(|field| !field.is_empty());
                    let fields = fields.map(rushlight_abi::parameter).collect();
                    if head.starts_with("union") { Type::Union(fields) } else { Type::Struct(fields) }
                }
                (None, Some((returns, rest))) => {
                    let list = rest.split_once(")(").and_then(|(_, list)| list.strip_suffix(')'));
                    let list = list.ok_or_else(|| format!("{name} is no pointer to a function"))?;
                    Type::Delegate(returns.trim().into(), rushlight_abi::parameters(list))
                }
                (None, None) => Type::Handle(freed_by(interface, name)),
            };
            types.insert(name.clone(), ty);
        }
        Ok(Types(types))
    }

    /// The opaque types.
    pub fn handles(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().filter_map(|(name, ty)| match ty {
            Type::Handle(free) => Some((name.as_str(), free.as_deref())),
            _ => None,
        })
    }

    /// Whether the function frees its argument, which is passed as an address then.
    pub fn takes_address(&self, function: &Function) -> bool {
        FREE_WITH_STATUS.contains(&function.name.as_str())
            || self.handles().any(|(_, free)| free == Some(function.name.as_str()))
    }

    /// What a function or delegate returns.
    pub fn returned(&self, ty: &str) -> Result<String, String> {
        if ty.ends_with('*') { Ok("IntPtr".into()) } else { self.value(ty) }
    }

    /// A type that is passed by value.
    pub fn value(&self, ty: &str) -> Result<String, String> {
        let ty = bare(ty);
        Ok(match ty {
            "void" => "void".into(),
            "int32_t" => "int".into(),
            "uint32_t" => "uint".into(),
            "int64_t" => "long".into(),
            "uint64_t" => "ulong".into(),
            "size_t" => "UIntPtr".into(),
            "double" => "double".into(),
            _ => match self.0.get(ty) {
                Some(Type::Struct(_) | Type::Union(_)) => type_name(ty),
                _ => return Err(format!("C# has no type for {ty}")),
            },
        })
    }

    /// A field of a struct or a parameter of a delegate: pointers are addresses.
    pub fn plain(&self, ty: &str) -> Result<String, String> {
        let is_delegate = matches!(self.0.get(bare(ty)), Some(Type::Delegate(..)));
        if ty.contains('*') || is_delegate { Ok("IntPtr".into()) } else { self.value(ty) }
    }

    /// A parameter of a function.
    pub fn parameter(&self, function: &Function, index: usize) -> Result<String, String> {
        let Parameter { ty, name } = &function.parameters[index];
        let declared = match self.pointer(function, index) {
            Some(declared) => declared?,
            None if ty.contains("(*)") => delegate_of(&function.name, name),
            None => match self.0.get(bare(ty)) {
                Some(Type::Delegate(..)) => type_name(bare(ty)),
                _ => self.value(ty)?,
            },
        };
        Ok(format!("{declared} {}", identifier(name)))
    }

    /// A parameter that is a pointer, but not one to a function.
    fn pointer(&self, function: &Function, index: usize) -> Option<Result<String, String>> {
        let ty = function.parameters[index].ty.as_str();
        let (pointee, stars) = (bare(ty), ty.matches('*').count());
        if stars == 0 || ty.contains("(*)") {
            return None;
        }
        let is_handle = matches!(self.0.get(pointee), Some(Type::Handle(_)));
        let constant = ty.starts_with("const ");
        let text = match (pointee, stars, constant) {
            ("char", 1, true) => "[MarshalAs(UnmanagedType.LPUTF8Str)] string".into(),
            ("char", 2, true) if ty == "const char *const *" => {
                "[In, MarshalAs(UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPUTF8Str)] string[]".into()
            }
            ("void", 1, _) => "IntPtr".into(),
            // An address that another library defines.
            (_, 1, _) if pointee.starts_with("DL") => "IntPtr".into(),
            (_, 1, _) if is_handle && self.takes_address(function) => "IntPtr".into(),
            (_, 1, _) if is_handle => type_name(pointee) + "Handle",
            (_, 2, true) if is_handle => "IntPtr[]".into(),
            (_, 2, false) if is_handle && is_array_of_results(&function.parameters[index].name) => {
                "[In, Out] IntPtr[]".into()
            }
            (_, 2, false) if is_handle => format!("out {}Handle", type_name(pointee)),
            (_, 2, _) => "out IntPtr".into(),
            (_, 1, true) if has_length(&function.parameters, index) => return Some(self.array(pointee, "")),
            (_, 1, true) => return Some(self.value(pointee).map(|ty| ty + "*")),
            (_, 1, false) if has_length(&function.parameters, index) => {
                return Some(self.array(pointee, "[In, Out] "));
            }
            (_, 1, false) => {
                let how =
                    if self.begins_with_size(pointee) || self.takes_address_of_value(function) { "ref" } else { "out" };
                return Some(self.value(pointee).map(|ty| format!("{how} {ty}")));
            }
            _ => return Some(Err(format!("{}: C# has no type for {ty}", function.name))),
        };
        Some(Ok(text))
    }

    fn array(&self, pointee: &str, attributes: &str) -> Result<String, String> {
        Ok(format!("{attributes}{}[]", self.value(pointee)?))
    }

    /// Whether the caller sets the size of the struct before the call.
    fn begins_with_size(&self, name: &str) -> bool {
        let Some(Type::Struct(fields)) = self.0.get(name) else { return false };
        fields.first().is_some_and(|field| field.name == "struct_size")
    }

    /// Whether the function releases a struct, which it reads and writes.
    fn takes_address_of_value(&self, function: &Function) -> bool {
        function.returns == "void"
    }
}

/// The function that frees a handle of this type: it returns nothing and has no other parameter.
fn freed_by(interface: &Interface, name: &str) -> Option<String> {
    let frees = |function: &&Function| {
        let [parameter] = &function.parameters[..] else { return false };
        function.returns == "void" && parameter.ty == format!("{name} *")
    };
    Some(interface.functions.iter().find(frees)?.name.clone())
}

/// `rlt_tensor` of `const rlt_tensor *const *`
pub fn bare(ty: &str) -> &str {
    let ty = ty.trim_start_matches("const ").trim_start_matches("struct ");
    ty.split([' ', '*']).next().unwrap_or_default()
}

/// Whether the length of the array follows: `dim_len` of `dim`, or `n_outputs`, `ndim` and similar of several arrays.
fn has_length(parameters: &[Parameter], index: usize) -> bool {
    let mut rest =
        parameters[index + 1..].iter().skip_while(|next| next.ty.starts_with("const ") && next.ty.contains('*'));
    let Some(length) = rest.next().filter(|next| next.ty == "int64_t") else { return false };
    match length.name.strip_suffix("_len") {
        Some(of) => of == parameters[index].name,
        None => {
            let name = length.name.as_str();
            name.starts_with("n_") || matches!(name, "ndim" | "len") || name.ends_with("_capacity")
        }
    }
}

/// Whether an output is an array of the caller, for a handle of each argument: its length is that of the inputs.
fn is_array_of_results(name: &str) -> bool {
    name == "grads"
}

/// `TensorOptions` of `rlt_tensor_options`
pub fn type_name(name: &str) -> String {
    pascal(name.strip_prefix("rlt_").unwrap_or(name))
}

/// The delegate of a parameter or field without a named type: `TensorFromBlobDeleter`
pub fn delegate_of(owner: &str, name: &str) -> String {
    type_name(owner) + &pascal(name)
}

fn pascal(name: &str) -> String {
    let mut text = String::new();
    for word in name.split('_').filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        text.push_str(&first.to_uppercase());
        text.push_str(rest);
    }
    text
}

/// A name of a parameter or field, with the sign of C# before a keyword.
pub fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("@{name}") } else { name.to_owned() }
}

/// The keywords of C# that may be a name in C.
const KEYWORDS: [&str; 60] = [
    "abstract",
    "as",
    "base",
    "bool",
    "byte",
    "catch",
    "checked",
    "class",
    "decimal",
    "delegate",
    "event",
    "explicit",
    "false",
    "finally",
    "fixed",
    "foreach",
    "implicit",
    "in",
    "interface",
    "internal",
    "is",
    "lock",
    "namespace",
    "new",
    "null",
    "object",
    "operator",
    "out",
    "override",
    "params",
    "private",
    "protected",
    "public",
    "readonly",
    "ref",
    "sbyte",
    "sealed",
    "stackalloc",
    "string",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "uint",
    "ulong",
    "unchecked",
    "unsafe",
    "ushort",
    "using",
    "virtual",
    "char",
    "const",
    "continue",
    "default",
    "else",
    "enum",
    "extern",
    "float",
    "return",
];
