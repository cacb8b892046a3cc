//! Writes a C program that calls every function of the interface once for each of its pointer arguments, with NULL for
//! that one and valid values for all others: `null_arguments <include> > null_arguments.c`.
//!
//! For a pointer that must not be NULL, the call has to return `RLT_ERROR_NULL_POINTER` and name the function and the
//! argument. If NULL is allowed (by `?` in the schema, or by the list below), the call must not crash.

use rushlight_abi::{Function, Parameter, read};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Parameters that may be NULL in every function: contexts of callbacks, their deleters, and options.
const ALWAYS_NULLABLE: [&str; 3] = ["ctx", "deleter", "options"];

/// Other arguments of hand-written functions for which NULL is allowed by their documentation.
const NULLABLE: &[(&str, &[&str])] = &[
    ("rlt_set_last_error", &["message"]),
    ("rlt_set_last_error_carrying", &["message", "payload"]),
    ("rlt_set_allocator", &["allocator"]),
    ("rlt_set_log", &["log"]),
    ("rlt_module_to", &["device", "dtype"]),
    ("rlt_set_parallel_for", &["parallel_for"]),
    ("rlt_tensor_from_blob", &["strides"]),
    ("rlt_tensor_set_grad", &["grad"]),
    ("rlt_tensor_backward", &["gradient"]),
    ("rlt_saved_tensors_hooks_push", &["free_packed"]),
    ("rlt_saved_tensors_hooks_disable", &["message"]),
    ("rlt_gradgradcheck", &["grad_outputs"]),
    ("rlt_backward", &["gradients"]),
    ("rlt_grad", &["gradients"]),
    ("rlt_custom_function_record", &["differentiable"]),
    ("rlt_custom_function_attach", &["differentiable", "written"]),
    ("rlt_tensor_set_names", &["names"]),
    ("rlt_op_call", &["overload"]),
    ("rlt_op_find", &["overload"]),
    ("rlt_op_schema", &["overload"]),
    ("rlt_record_start", &["callback"]),
    ("rlt_profile_table", &["sort_by"]),
    ("rlt_add_callback", &["begin", "end"]),
    ("rlt_trace_finish", &["other"]),
    ("rlt_module_method_memory", &["unshared"]),
    ("rlt_module_new", &["script"]),
    ("rlt_module_register", &["type"]),
    ("rlt_module_run_v2", &["changed"]),
    ("rlt_script_run_v2", &["changed"]),
    ("rlt_type_parse", &["script"]),
    ("rlt_value_unpickle", &["table", "script"]),
];

/// Functions that return no status.
const NO_STATUS: &[&str] = &[
    "rlt_error_code",
    "rlt_error_message",
    "rlt_last_error_payload",
    "rlt_set_last_error",
    "rlt_set_last_error_carrying",
];

fn main() -> ExitCode {
    let Some(include) = std::env::args().nth(1) else { return ExitCode::FAILURE };
    let Ok(interface) = read(Path::new(&include)) else { return ExitCode::FAILURE };
    match std::io::stdout().write_all(program(&interface.functions).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn program(functions: &[Function]) -> String {
    let mut tests = String::new();
    let mut calls = 0;
    for function in functions {
        for (index, parameter) in function.parameters.iter().enumerate() {
            if is_pointer(parameter) {
                tests.push_str(&test(function, index));
                calls += 1;
            }
        }
    }
    format!(
        "/* Written by null_arguments from the headers. */\n#include \"null_arguments.h\"\n\n\
         int main(void) {{\n  setup();\n{tests}  return teardown({calls});\n}}\n"
    )
}

fn is_pointer(parameter: &Parameter) -> bool {
    parameter.ty.contains('*')
        || parameter.ty.ends_with("_hook")
        || [
            "rlt_deleter",
            "rlt_op_callback",
            "rlt_record_callback",
            "rlt_gradcheck_function",
            "rlt_call_begin",
            "rlt_call_end",
        ]
        .contains(&&*parameter.ty)
}

fn test(function: &Function, null: usize) -> String {
    let arguments: Vec<String> = function
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| if index == null { "NULL".into() } else { valid(function, index, parameter) })
        .collect();
    let call = format!("{}({})", function.name, arguments.join(", "));
    let name = function.parameters[null].name.as_str();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = if function.returns == "void" || NO_STATUS.contains(&&*function.name) {
        writeln!(text, "  (void){call};")
    } else if may_be_null(function, name) {
        writeln!(text, "  MAY_BE_NULL({call});")
    } else {
        writeln!(text, "  MUST_NOT_BE_NULL({call}, \"{}\", \"{name}\");", function.name)
    };
    text
}

fn may_be_null(function: &Function, parameter: &str) -> bool {
    if ALWAYS_NULLABLE.contains(&parameter) {
        return true;
    }
    if let Some((_, names)) = NULLABLE.iter().find(|(name, _)| *name == function.name) {
        return names.contains(&parameter);
    }
    if parameter == "generator" && !function.name.starts_with("rlt_generator_") {
        return true;
    }
    // The comment of a generated function holds its schema in backquotes.
    let comment = function.comment.replace('\n', " ");
    let schema = comment.split('`').rfind(|part| part.contains(") ->")).unwrap_or_default();
    let name = parameter.trim_end_matches('_');
    schema.split(['(', ',']).any(|argument| {
        let argument = argument.trim();
        let argument = argument.split(['=', ')']).next().unwrap_or_default();
        let named =
            argument.rsplit(' ').next().is_some_and(|last| last == parameter || last.eq_ignore_ascii_case(name));
        named && argument.split(' ').next().is_some_and(|ty| ty.ends_with('?'))
    })
}

/// A valid value for a parameter: a variable or function of null_arguments.h.
fn valid(function: &Function, index: usize, parameter: &Parameter) -> String {
    let name = parameter.name.as_str();
    let value = match parameter.ty.as_str() {
        "int64_t"
            if name.ends_with("_len") || name.starts_with("n_") || matches!(name, "ndim" | "len" | "outs_capacity") =>
        {
            "1"
        }
        "int64_t" if name == "nbytes" => "4",
        "int64_t" => "0",
        "uint64_t" => "1",
        "int32_t" if name == "dtype" => "RLT_DTYPE_FLOAT32",
        "int32_t" if function.name == "rlt_set_num_threads" => "1",
        "int32_t" => "0",
        "double" => "0.5",
        "const rlt_tensor *" => "tensor",
        "rlt_tensor *"
        | "rlt_generator *"
        | "rlt_cancel_token *"
        | "rlt_error *"
        | "rlt_node *"
        | "rlt_saved_tensor *"
        | "rlt_tensor_list *"
        | "rlt_op *"
        | "rlt_value *"
        | "rlt_object *"
        | "rlt_future *"
        | "rlt_storage *"
        | "rlt_script *"
        | "rlt_module *"
        | "rlt_trace *"
        | "rlt_run *"
        | "rlt_weak_tensor *"
        | "rlt_profile *"
        | "rlt_record_function *"
            if function.returns == "void" =>
        {
            "NULL"
        }
        "const rlt_tensor *const *" => "tensors",
        "rlt_tensor **" => return format!("&out_tensors[{index}]"),
        "rlt_tensor_list **" => "&out_list",
        "rlt_generator **" => "&out_generator",
        "rlt_cancel_token **" => "&out_token",
        "rlt_node **" => "&out_node",
        "rlt_saved_tensor **" => "&out_saved",
        "rlt_error **" => "&out_error",
        "rlt_op **" => "&out_op",
        "rlt_object **" => "&out_object",
        "rlt_future **" => "&out_future",
        "rlt_storage **" => "&out_storage",
        "rlt_state_dict **" => "&out_dict",
        "rlt_script **" => "&out_script",
        "rlt_trace **" => "&out_trace",
        "rlt_run **" => "&out_stepped",
        "rlt_weak_tensor **" => "&out_weak",
        "rlt_module **" => "&out_module",
        "const rlt_scalar *" => "&scalar",
        "rlt_scalar *" => "&out_scalar",
        "rlt_device *" => "&out_device",
        "const rlt_device *" => "&device",
        "const rlt_tensor_options *" => "&options",
        "const rlt_tensor_list *" => "list",
        "const rlt_generator *" => "generator",
        "const rlt_cancel_token *" => "token",
        "const rlt_node *" => "node",
        "const rlt_node *const *" => "nodes",
        "const rlt_saved_tensor *" => "saved",
        "const rlt_error *" => "error",
        "const rlt_op *" | "rlt_op *" => "op",
        "const rlt_object *" => "object",
        "const rlt_future *" => "future",
        "const rlt_storage *" => "storage",
        "const rlt_state_dict *" | "rlt_state_dict *" => "dict",
        "const rlt_script *" => "script",
        "const rlt_module *" | "rlt_module *" => "module",
        "rlt_trace *" => "trace",
        "const rlt_run *" | "rlt_run *" => "stepped",
        "const rlt_weak_tensor *" => "weak",
        "rlt_stream" => "stream",
        "rlt_stream *" => "&out_stream",
        "const rlt_cuda_event *" => "event",
        "rlt_cuda_event **" => "&out_event",
        "rlt_cuda_properties *" => "&properties",
        "rlt_cuda_memory_stats *" => "&cuda_stats",
        "const rlt_value *" => "&value",
        "rlt_value *" => "&out_value",
        "const rlt_named_value *" => "&named",
        "const rlt_allocator *" => "&allocator",
        "const rlt_log *" => "&log_hook",
        "const rlt_parallel_for *" => "&parallel_for",
        "rlt_memory_stats *" => "&stats",
        "const rlt_custom_function *" => "&custom",
        "const int64_t *" => "ints",
        "const int64_t **" => "&out_ints",
        "int64_t *" => "&out_int",
        "uint64_t *" => "&out_uint",
        "const int32_t *" => "&zero",
        "int32_t *" => "&out_int32",
        "const double *" => "&real",
        "double *" => "&out_double",
        "const char *" => "\"text\"",
        "const char **" => "&out_text",
        "const char *const *" => "strings",
        "void *" => "data",
        "const void *" => "data",
        "void **" => "&out_data",
        "rlt_deleter" => "NULL",
        "rlt_custom_backward" => "backward",
        "rlt_tensor_hook" => "hook",
        "rlt_leaf_hook" => "leaf_hook",
        "rlt_node_hook" => "node_hook",
        "rlt_pack_hook" => "pack",
        "rlt_unpack_hook" => "unpack",
        "rlt_op_callback" => "kernel",
        "rlt_gradcheck_function" => "checked",
        "const rlt_gradcheck_options *" | "const rlt_profiler_options *" | "const rlt_record_function_options *" => {
            "NULL"
        }
        "const rlt_callback_options *" => "NULL",
        "rlt_call_begin" => "call_begin",
        "rlt_call_end" => "call_end",
        "const rlt_profile *" => "profile",
        "rlt_profile **" => "&out_profile",
        "rlt_profile_event *" => "&profile_event",
        "rlt_record_function *" => "range",
        "rlt_record_function **" => "&out_range",
        "rlt_record_callback" | "rlt_print_callback" => "NULL",
        "struct DLManagedTensorVersioned **" | "DLManagedTensorVersioned **" => "&out_dlpack",
        "struct DLManagedTensor **" | "DLManagedTensor **" => "&out_legacy",
        ty if ty.ends_with("DLManagedTensorVersioned *") => "in_dlpack",
        ty if ty.ends_with("DLManagedTensor *") => "in_legacy",
        ty if ty.contains("(*)") => "NULL",
        other => return format!("UNKNOWN_TYPE /* {other} {name} of {} */", function.name),
    };
    value.to_owned()
}
