//! Handles, structs, delegates and constants.

use super::names::{Type, Types, bare, delegate_of, identifier, type_name};
use rushlight_abi::{Interface, Parameter};
use std::fmt::Write;

/// A class for each opaque type. A handle is freed once: when it is disposed of, or by its finalizer.
pub fn handles(types: &Types) -> String {
    let mut text = String::new();
    for (name, free) in types.handles() {
        let Some(free) = free else { continue };
        let class = type_name(name) + "Handle";
        let _ = write!(
            text,
            r#"
    /// <summary>An <c>{name} *</c>, freed by <c>{free}</c> when it is disposed of or finalized.</summary>
    public sealed class {class} : SafeHandle {{
        /// <summary>NULL, for an optional argument.</summary>
        public static readonly {class} None = new {class}(IntPtr.Zero, false);
        /// <summary>NULL; a call with the handle as an output sets it.</summary>
        public {class}() : base(IntPtr.Zero, true) {{ }}
        /// <summary>A handle for an address; if it is not owned, it is not freed.</summary>
        public {class}(IntPtr address, bool owned) : base(IntPtr.Zero, owned) {{ SetHandle(address); }}
        /// <summary>Whether it is NULL.</summary>
        public override bool IsInvalid {{ get {{ return handle == IntPtr.Zero; }} }}
        /// <summary>Frees the handle.</summary>
        protected override bool ReleaseHandle() {{ Native.{free}(handle); return true; }}
        /// <summary>Frees the handle; NULL stays usable.</summary>
        protected override void Dispose(bool disposing) {{ if (!IsInvalid) base.Dispose(disposing); }}
    }}
"#
        );
    }
    text
}

/// The structs and unions.
pub fn structs(types: &Types) -> Result<String, String> {
    let mut text = String::new();
    for (name, ty) in &types.0 {
        let (fields, union) = match ty {
            Type::Struct(fields) => (fields, false),
            Type::Union(fields) => (fields, true),
            _ => continue,
        };
        let (layout, offset) = if union { ("Explicit", "[FieldOffset(0)] ") } else { ("Sequential", "") };
        let _ = writeln!(text, "\n    /// <summary><c>{name}</c></summary>\n    [StructLayout(LayoutKind.{layout})]");
        let is_unsafe = if fields.iter().any(|field| length(field).is_some()) { "unsafe " } else { "" };
        let _ = writeln!(text, "    public {is_unsafe}partial struct {} {{", type_name(name));
        for field in fields {
            let _ = writeln!(text, "        {offset}public {};", member(types, name, field)?);
        }
        text.push_str("    }\n");
    }
    Ok(text)
}

/// A field: `int tag`. A pointer to a function without a named type is an address of a delegate.
fn member(types: &Types, owner: &str, field: &Parameter) -> Result<String, String> {
    if let Some((name, length)) = length(field) {
        return match bare(&field.ty) {
            "char" => Ok(format!("fixed byte {}[{length}]", identifier(name))),
            other => Err(format!("{owner}: C# has no arrays of {other}")),
        };
    }
    Ok(format!("{} {}", types.plain(&field.ty)?, identifier(&field.name)))
}

/// The name and length of an array in a struct, `char name[256]`, which is read back as a type that ends in brackets.
pub fn length(field: &Parameter) -> Option<(&str, &str)> {
    let (declaration, length) = field.ty.strip_suffix(']')?.rsplit_once('[')?;
    Some((declaration.rsplit(' ').next()?, length))
}

/// A delegate for each type of a callback, and for each pointer to a function among fields and parameters.
pub fn delegates(interface: &Interface, types: &Types) -> Result<String, String> {
    let mut text = String::new();
    for function in &interface.functions {
        for parameter in &function.parameters {
            text.push_str(&unnamed(types, &function.name, parameter)?);
        }
    }
    for (name, ty) in &types.0 {
        match ty {
            Type::Delegate(returns, parameters) => {
                text.push_str(&delegate(types, name, &type_name(name), returns, parameters)?);
            }
            Type::Struct(fields) => {
                for field in fields {
                    text.push_str(&unnamed(types, name, field)?);
                }
            }
            _ => {}
        }
    }
    Ok(text)
}

/// The delegate of a field or parameter with the type `int32_t (*)(void *ctx)`; empty for others.
fn unnamed(types: &Types, owner: &str, parameter: &Parameter) -> Result<String, String> {
    let Some((returns, list)) = parameter.ty.split_once("(*)(") else { return Ok(String::new()) };
    let list = list.strip_suffix(')').ok_or_else(|| format!("{owner}: a pointer to a function does not end"))?;
    let what = format!("{} of {owner}", parameter.name);
    delegate(types, &what, &delegate_of(owner, &parameter.name), returns.trim(), &rushlight_abi::parameters(list))
}

fn delegate(types: &Types, what: &str, name: &str, returns: &str, parameters: &[Parameter]) -> Result<String, String> {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|parameter| Ok(format!("{} {}", types.plain(&parameter.ty)?, identifier(&parameter.name))))
        .collect::<Result<_, String>>()?;
    Ok(format!(
        "\n    /// <summary><c>{what}</c>. It must not throw.</summary>\n    \
         [UnmanagedFunctionPointer(CallingConvention.Cdecl)]\n    public delegate {} {name}({});\n",
        types.returned(returns)?,
        parameters.join(", ")
    ))
}

/// The constants, and structs with their initial values. Macros with parameters have no counterpart.
pub fn constants(interface: &Interface, types: &Types) -> Result<String, String> {
    let mut text =
        String::from("\n    /// <summary>The constants.</summary>\n    public static unsafe partial class Native {\n");
    for (name, value) in &interface.constants {
        if name.contains('(') {
            continue;
        }
        if let Some(values) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) {
            text.push_str(&initial(name, values, types)?);
        } else {
            let number: i32 = value.parse().map_err(|_| format!("{name} is no number: {value}"))?;
            let _ = writeln!(
                text,
                "        /// <summary><c>{name}</c></summary>\n        public const int {name} = {number};"
            );
        }
    }
    Ok(text + "    }\n")
}

/// A struct with its initial values: the first is its size.
fn initial(name: &str, values: &str, types: &Types) -> Result<String, String> {
    let unknown = || format!("{name} does not begin with the size of a struct");
    let mut values = values.split(',').map(str::trim);
    let first = values.next().ok_or_else(unknown)?;
    let ty = first.strip_prefix("sizeof(").and_then(|first| first.strip_suffix(')')).ok_or_else(unknown)?;
    let Some(Type::Struct(fields)) = types.0.get(ty) else { return Err(unknown()) };
    let class = type_name(ty);
    let mut members = vec![format!("{} = (UIntPtr)sizeof({class})", fields[0].name)];
    members.extend(fields[1..].iter().zip(values).map(|(field, value)| format!("{} = {value}", field.name)));
    if members.len() != fields.len() {
        return Err(format!("{name} has not as many values as {ty} has fields"));
    }
    Ok(format!(
        "        /// <summary><c>{name}</c></summary>\n        public static {class} {name} {{ get {{ return new {class} {{ {} }}; }} }}\n",
        members.join(", ")
    ))
}
