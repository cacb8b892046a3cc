//! Two programs that print size and offsets of each struct, in C and in C#: their output must be the same.

use super::names::{Type, Types, identifier, type_name};
use super::structs::length;
use opgen::emit::header;
use rushlight_abi::{Interface, Parameter};
use std::fmt::Write;

/// The program in C.
pub fn c_program(interface: &Interface) -> Result<String, String> {
    let mut text = format!("/* {} */\n", header("include/rushlight"));
    text.push_str("#include <rushlight/rushlight.h>\n#include <stdio.h>\n\nint main(void) {\n");
    for (name, fields) in layouts(&Types::of(interface)?) {
        let _ = writeln!(text, "  printf(\"{name} %zu\\n\", sizeof({name}));");
        for field in fields {
            let _ = writeln!(text, "  printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));");
        }
    }
    Ok(text + "  return 0;\n}\n")
}

/// The method in C#.
pub fn csharp_program(interface: &Interface) -> Result<String, String> {
    let mut text = format!("// {}\n", header("include/rushlight"));
    text.push_str(
        "using System;\nusing System.Runtime.InteropServices;\nusing Rushlight.Interop;\n\n\
         static class Layout {\n    static void Main() {\n        Marshal.PrelinkAll(typeof(Native));\n",
    );
    for (name, fields) in layouts(&Types::of(interface)?) {
        let class = type_name(&name);
        let _ = writeln!(text, "        Console.WriteLine(\"{name} \" + Marshal.SizeOf(typeof({class})));");
        for field in fields {
            let member = identifier(&field).trim_start_matches('@').to_owned();
            let _ = writeln!(
                text,
                "        Console.WriteLine(\"{name}.{field} \" + Marshal.OffsetOf(typeof({class}), \"{member}\"));"
            );
        }
    }
    Ok(text + "    }\n}\n")
}

/// Each struct and union with the names of its fields.
fn layouts(types: &Types) -> Vec<(String, Vec<String>)> {
    let name_of = |field: &Parameter| length(field).map_or(field.name.as_str(), |(name, _)| name).to_owned();
    let fields = |ty: &Type| match ty {
        Type::Struct(fields) | Type::Union(fields) => Some(fields.iter().map(name_of).collect()),
        Type::Handle(_) | Type::Delegate(..) => None,
    };
    types.0.iter().filter_map(|(name, ty)| Some((name.clone(), fields(ty)?))).collect()
}
