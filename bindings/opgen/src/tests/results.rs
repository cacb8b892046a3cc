//! Results that are not tensors have the types of each language.

use crate::emit::{capi, cpp, java, jni, rust_call};
use crate::load;
use crate::model::{Family, Returns};

/// A family with one operator of each kind of result, and one that is called by name only.
fn family() -> Family {
    let results = [
        "int",
        "float",
        "bool",
        "Scalar",
        "ScalarType",
        "Layout",
        "Device",
        "MemoryFormat",
        "str",
        "int[]",
        "float[]",
        "bool[]",
        "Scalar[]",
    ];
    let mut text = String::from("family = \"sample\"\ndoc = \"Samples.\"\n");
    let mut declare = |schema: &str, rest: &str| {
        text.push_str(&format!(
            "[[op]]\nfunc = \"{schema}\"\n{rest}\ncomposite = \"sample::look\"\ndtypes = \"all\"\nbatching = \"none\"\n\
             since = \"0.1\"\nsummary = \"Looks.\"\nformula = \"out\"\nshapes = \"(*)\"\nerrors = \"None.\"\nsource = \"internal\"\n"
        ));
    };
    for (index, result) in results.iter().enumerate() {
        let rest = "variants = [\"method\"]\nno_example = \"Examples show tensors.\"";
        declare(&format!("look.r{index}(Tensor self) -> {result}"), rest);
    }
    declare("both(int x) -> (int, str)", "variants = []\ninternal = true");
    declare("prim::all(Dict(str, int[][]) x) -> Any", "variants = []\ninternal = true");
    load::family("core/schema/ops/sample.toml", &text.replace("Dict(str, int[][]) x", "int x")).unwrap()
}

/// The text of all files of an emitter, in one line each.
fn text(files: Result<Vec<crate::emit::OutFile>, String>) -> String {
    files.unwrap().into_iter().map(|file| file.text).collect::<String>()
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn c_functions_have_an_output_of_the_type() {
    let declarations = capi::declarations(&family());
    contains(
        &declarations,
        &[
            "rlt_tensor_look_r0(self_: *const rlt_tensor, out0: *mut i64)",
            "rlt_tensor_look_r1(self_: *const rlt_tensor, out0: *mut f64)",
            "rlt_tensor_look_r2(self_: *const rlt_tensor, out0: *mut i32)",
            "rlt_tensor_look_r3(self_: *const rlt_tensor, out0: *mut rlt_scalar)",
            "rlt_tensor_look_r6(self_: *const rlt_tensor, out0: *mut rlt_device)",
            "rlt_tensor_look_r8(self_: *const rlt_tensor, out0: *mut rlt_value)",
            "rlt_tensor_look_r9(self_: *const rlt_tensor, out0: *mut rlt_value)",
        ],
    );
    let text = text((capi::EMITTER.emit)(&[family()]));
    contains(
        &text,
        &[
            "rlt_tensor_look_r0 = LOOK_R0 TensorToInt(Tensor) -> (Int);",
            "rlt_tensor_look_r9 = LOOK_R9 TensorToIntList(Tensor) -> (IntList);",
        ],
    );
    assert!(!text.contains("both") && !text.contains("prim"));
}

#[test]
fn cpp_and_java_methods_return_the_type() {
    let text_of_cpp = text((cpp::EMITTER.emit)(&[family()]));
    contains(
        &text_of_cpp,
        &[
            "int64_t look() const {\n  int64_t out0{};",
            "return out0 != 0;",
            "std::vector<int64_t> look() const {\n  rlt_value out0{};",
            "return rlt::adopt_ints(out0);",
            "std::string look() const",
            "Device look() const",
        ],
    );
    assert!(!text_of_cpp.contains("both"));
    let text_of_java = text((java::EMITTER.emit)(&[family()]));
    contains(
        &text_of_java,
        &[
            "long look(",
            "return ((Scalar) Boxed.result(Native.tensorToInt(op, handleOrZero(a0)))).longValue();",
            "public static native Object[] tensorToIntList(int op, long a0);",
            "boolean[] look(",
            "return (String) Boxed.result(",
        ],
    );
    contains(&text((jni::EMITTER.emit)(&[family()])), &["tensorToInt =", "TensorToInt(Tensor) -> (Int);"]);
}

#[test]
fn every_form_is_called_by_name() {
    let text = text((rust_call::EMITTER.emit)(&[family()]));
    contains(
        &text,
        &["IntToIntStr(Int): fn(i64) -> Result<(i64, String)>;", "IntToValue(Int): fn(i64) -> Result<Value>;"],
    );
    let family = family();
    let returns: Vec<Returns> = family.ops.iter().map(|op| op.primary().returns()).collect();
    assert!(returns.iter().all(|returns| !returns.are_tensors()));
}
