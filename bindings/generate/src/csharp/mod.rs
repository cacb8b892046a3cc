//! `csharp/Native.cs`: declarations of the C functions for C# (P/Invoke), and two programs that compare the layouts of
//! structs in C and C#.
//!
//! The declarations come from the headers, which `tests/abi` reads back. `names` has the C# names and the types of
//! parameters, `functions` the functions and handles, `structs` the constants, structs and delegates, `layout` the
//! comparison. `examples/csharp` has a hand-written layer over them.

mod functions;
mod layout;
mod names;
mod structs;

use names::Types;
use opgen::emit::{OutFile, header};
use rushlight_abi::Interface;
use std::path::Path;

/// The files, below the folder of generated files.
pub fn files(root: &Path) -> Result<Vec<OutFile>, String> {
    let include = root.join("include");
    let interface = rushlight_abi::read(&include).map_err(|error| format!("{}: {error}", include.display()))?;
    Ok(vec![
        OutFile { path: "csharp/Native.cs".into(), text: native(&interface)? },
        OutFile { path: "csharp/layout.c".into(), text: layout::c_program(&interface)? },
        OutFile { path: "csharp/Layout.cs".into(), text: layout::csharp_program(&interface)? },
    ])
}

/// `Native.cs`
fn native(interface: &Interface) -> Result<String, String> {
    let types = Types::of(interface)?;
    let mut text = format!("// {}\n", header("include/rushlight"));
    text.push_str(OPENING);
    text.push_str(&structs::handles(&types));
    text.push_str(&structs::structs(&types)?);
    text.push_str(&structs::delegates(interface, &types)?);
    text.push_str(&structs::constants(interface, &types)?);
    text.push_str(&functions::class(interface, &types)?);
    Ok(text + "}\n")
}

/// The beginning of the file.
const OPENING: &str = r#"
// The C functions of Rushlight for C#. docs/guides/csharp.md describes the rules; the headers in include/rushlight
// document each function, struct and constant.
using System;
using System.Runtime.InteropServices;

namespace Rushlight.Interop {
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn interface() -> Interface {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        rushlight_abi::read(&root.join("include")).unwrap()
    }

    /// The declaration of a function, without its documentation.
    fn declared(text: &str, name: &str) -> String {
        let marker = format!(" {name}(");
        text.lines().find(|line| line.contains(&marker)).unwrap_or_default().trim().to_owned()
    }

    #[test]
    fn every_function_is_declared_once() {
        let interface = interface();
        let text = native(&interface).unwrap();
        let declarations = text.matches("public static extern ").count();
        assert_eq!(declarations, interface.functions.len());
        for function in &interface.functions {
            assert!(!declared(&text, &function.name).is_empty(), "{}", function.name);
        }
    }

    #[test]
    fn arguments_have_the_types_of_the_rules() {
        let text = native(&interface()).unwrap();
        let expected = [
            "public static extern int rlt_tensor_add_Tensor(TensorHandle self, TensorHandle other, Scalar* alpha, \
             out TensorHandle out0);",
            "public static extern int rlt_tensor_amin(TensorHandle self, long[] dim, long dim_len, int keepdim, \
             out TensorHandle out0);",
            "public static extern int rlt_tensor_argmin(TensorHandle self, long* dim, int keepdim, out TensorHandle out0);",
            "public static extern int rlt_tensor_cat(IntPtr[] tensors, long tensors_len, long dim, out TensorHandle out0);",
            "public static extern int rlt_tensor_from_blob(IntPtr data, long[] sizes, long[] strides, long ndim, \
             TensorOptions* options, TensorFromBlobDeleter deleter, IntPtr ctx, out TensorHandle @out);",
            "public static extern int rlt_tensor_geometry(TensorHandle tensor, out IntPtr sizes, out IntPtr strides, \
             out long ndim);",
            "public static extern int rlt_op_call([MarshalAs(UnmanagedType.LPUTF8Str)] string name, \
             [MarshalAs(UnmanagedType.LPUTF8Str)] string overload, Value[] args, long n_args, NamedValue[] kwargs, \
             long n_kwargs, [In, Out] Value[] outs, long outs_capacity, out long n_outs);",
            "public static extern int rlt_memory_get_stats(ref MemoryStats stats);",
            "public static extern void rlt_tensor_free(IntPtr tensor);",
            "public static extern int rlt_op_unregister(IntPtr op);",
            "public static extern IntPtr rlt_last_error_message();",
        ];
        for declaration in expected {
            let name = declaration.split('(').next().unwrap().rsplit(' ').next().unwrap();
            assert_eq!(declared(&text, name), declaration);
        }
    }

    #[test]
    fn structs_and_constants_are_those_of_the_headers() {
        let text = native(&interface()).unwrap();
        for part in [
            "public partial struct Scalar {\n        public int tag;\n        public int reserved;\n        public long i;\n",
            "[FieldOffset(0)] public IntPtr tensors;",
            "public Payload @as;",
            "public fixed byte name[256];",
            "public const int RLT_ERROR_OUT_OF_MEMORY = 6;",
            "public static TensorOptions RLT_TENSOR_OPTIONS_INIT { get { return new TensorOptions { \
             struct_size = (UIntPtr)sizeof(TensorOptions), dtype = -1, ",
            "public delegate int OpCallback(IntPtr ctx, IntPtr args, long n_args, IntPtr outs, long n_outs);",
            "public delegate IntPtr AllocatorAllocate(IntPtr ctx, UIntPtr size, UIntPtr alignment);",
            "protected override bool ReleaseHandle() { Native.rlt_record_function_end(handle); return true; }",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }

    /// A handle that a function frees must not be freed again by its finalizer.
    #[test]
    fn functions_that_free_a_handle_take_its_address() {
        let interface = interface();
        let types = Types::of(&interface).unwrap();
        for function in &interface.functions {
            if function.comment.contains("frees the handle") {
                assert!(types.takes_address(function), "{}", function.name);
            }
        }
    }
}
