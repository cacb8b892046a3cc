//! An operator without an example, and an example that asserts nothing, are rejected.

use crate::emit::examples::{EMITTER, JAVA};
use crate::example::check;
use crate::load;

const ENTRY: &str = r#"family = "sample"
doc = "Samples."

[[op]]
func = "neg(Tensor self) -> Tensor"
variants = ["function"]
shape = "rules::unary"
cpu = "pointwise::neg"
dtypes = "all"
since = "0.1"
summary = "Negation of each element."
formula = "out_i = -self_i"
shapes = "(*) -> (*)"
errors = "None."
source = "internal"
"#;

/// The problems of the entry with these lines.
fn problems(lines: &str) -> Vec<String> {
    let family = load::family("core/schema/ops/sample.toml", &format!("{ENTRY}{lines}\n"));
    check::problems(&[family.unwrap_or_else(|problems| panic!("{problems:?}"))])
}

fn rejects(lines: &str, expected: &str) {
    let found = problems(lines);
    assert_eq!(found.len(), 1, "{lines} gave {found:?}");
    assert!(found[0].starts_with("core/schema/ops/sample.toml: neg: "), "{found:?}");
    assert!(found[0].contains(expected), "{lines} gave {found:?}");
}

#[test]
fn an_example_that_asserts_is_accepted() {
    let none: [String; 0] = [];
    for example in [
        "neg([1, -2]) -> [-1, 2]",
        "neg([0.0, 1.0]) -> [0.0, -1.0]",
        "neg([1.0]) -> [1]",
        "neg([1]) -> 1",
        "neg(0) -> nan",
    ] {
        assert_eq!(problems(&format!("example = '{example}'")), none, "{example}");
    }
}

#[test]
fn a_missing_example_is_rejected() {
    rejects("", "a public operator needs an `example`, or the reason in `no_example`");
    assert_eq!(problems("internal = true").len(), 0);
    assert_eq!(problems("no_example = 'The result depends on the machine.'").len(), 0);
    rejects("example = 'neg([1]) -> [-1]'\nno_example = 'Why.'", "both `example` and `no_example`");
}

#[test]
fn examples_of_the_zero_function_are_rejected() {
    for result in ["[0]", "0.0", "[-0.0, 0.0]", "[false]", "[]", "int64 shape [0, 2]", "shape [2, 3]", "[0j]", "None"] {
        let line = format!("example = 'neg([1, 2]) -> {result}'");
        rejects(&line, "the zero function would pass the example");
        assert_eq!(problems(&format!("{line}\ntrivial_example = 'Zeros are what it returns.'")).len(), 0);
    }
    rejects("internal = true\nexample = 'neg([1]) -> [0]'", "the zero function would pass");
}

#[test]
fn examples_of_the_identity_are_rejected() {
    for example in ["neg([1, 2]) -> [1, 2]", "neg([nan, 1.50]) -> [nan, 1.5]", "neg(int8(3)) -> int8(3)"] {
        let line = format!("example = '{example}'");
        rejects(&line, "the identity would pass the example");
        assert_eq!(problems(&format!("{line}\ntrivial_example = 'A copy is what it returns.'")).len(), 0);
    }
}

#[test]
fn several_results_are_judged_together() {
    let judged = |result: &str| {
        let entry = ENTRY.replace("neg(Tensor self) -> Tensor", "neg(Tensor self, Tensor[] list) -> (Tensor, Tensor)");
        let text = format!("{entry}example = 'neg([1], [[3], [4]]) -> {result}'\n");
        let family =
            load::family("core/schema/ops/sample.toml", &text).unwrap_or_else(|problems| panic!("{problems:?}"));
        check::problems(&[family]).concat()
    };
    assert!(judged("([0], 0)").contains("the zero function"));
    assert!(judged("([4], 0)").contains("the identity"));
    assert_eq!(judged("([5], 0)"), "");
}

#[test]
fn an_unneeded_reason_is_rejected() {
    rejects("example = 'neg([1]) -> [-1]'\ntrivial_example = 'Why.'", "`trivial_example` is not needed");
    rejects("trivial_example = 'Why.'", "`trivial_example` without an example");
}

#[test]
fn a_broken_example_is_rejected() {
    rejects("example = 'neg([1]) -> '", "no value");
    rejects("example = 'neg() -> [1]'", "the example lacks `self`");
}

/// The lines of the three programs with the call of the example, in the order C, C++, Java.
fn rendered(func: &str, example: &str) -> [String; 3] {
    let entry = ENTRY.replace("neg(Tensor self) -> Tensor", func).replace("shape = \"rules::unary\"\n", "");
    let entry = if func.contains("!)") { entry } else { entry.replace("cpu =", "shape = \"rules::unary\"\ncpu =") };
    let text = format!("{entry}example = '{example}'\n");
    let family = load::family("core/schema/ops/sample.toml", &text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let families = [family];
    let mut files = (EMITTER.emit)(&families).unwrap();
    files.extend((JAVA.emit)(&families).unwrap());
    let texts: Vec<&str> = files.iter().map(|file| file.text.as_str()).collect();
    let line = |text: &str, part: &str| text.lines().find(|line| line.contains(part)).unwrap_or(text).trim().to_owned();
    [line(texts[0], "return "), line(texts[1], "Results& out"), line(texts[2], "Examples.check")]
}

#[test]
fn the_programs_make_the_calls() {
    let cases = [
        (
            "neg(Tensor self, Scalar alpha=1, *, int[2] size, int? dim=None) -> Tensor",
            "neg([1.5, nan], 1+2j, size=3) -> float64(-inf)",
            [
                "return rlt_tensor_neg(in[0], RLT_COMPLEX(1.0, 2.0), (const int64_t[]){3, 3}, 2, NULL, &out[0]);",
                "{\"neg\", [](Results& out) { out.add(at::neg(tensor(\"float32[2] 1.5 nan\"), \
                 c10::complex<double>(1.0, 2.0), at::IntArrayRef({3, 3}))); }, \"float64[] -inf\"},",
                "Examples.check(\"float64[] -inf\", () -> Torch.neg(Tensor.of(new float[] {1.5f, Float.NaN}, \
                 new long[] {2}), Scalar.complex(1.0, 2.0), new long[] {3, 3}));",
            ],
        ),
        (
            "neg(Tensor[] x, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor[]",
            "neg([[true], int8(3)], dtype=float16) -> [[1], 2]",
            [
                "return example_list(rlt_tensor_neg(TENSORS(0, 2), &(const rlt_tensor_options){sizeof(rlt_tensor_options), \
                 RLT_DTYPE_FLOAT16, -1, -1, -1, -1, -1}, EXAMPLE_LIST), out);",
                "{\"neg\", [](Results& out) { out.add(at::neg({tensor(\"bool[1] 1\"), tensor(\"int8[] 3\")}, \
                 at::TensorOptions().dtype(at::kHalf))); }, \"int64[1] 1; int64[] 2\"},",
                "Examples.check(\"int64[1] 1; int64[] 2\", () -> Torch.neg(new Tensor[] {Tensor.of(new boolean[] {true}, \
                 new long[] {1}), Tensor.of(new long[] {3}, new long[] {}).to(DType.INT8)}, TensorOptions.of(DType.FLOAT16)));",
            ],
        ),
        (
            "neg_(Tensor(a!)[] self, Tensor? x, Tensor(b!)[] m, *, float lr) -> ()",
            "neg_([[1], [2]], None, [3], lr=1) -> ([[4], [5]], [6])",
            [
                "return example_written(rlt_tensor_neg_(TENSORS(0, 2), NULL, TENSORS(2, 1), 1.0), in, out, RANGE(0, 2) | RANGE(2, 1));",
                "{\"neg_\", [](Results& out) { std::vector<at::Tensor> self = {tensor(\"int64[1] 1\"), tensor(\"int64[1] 2\")}; \
                 std::vector<at::Tensor> m = {tensor(\"int64[] 3\")}; at::neg_(self, std::optional<at::Tensor>(), m, 1.0); \
                 out.add(self); out.add(m); }, \"int64[1] 4; int64[1] 5; int64[] 6\"},",
                "Examples.check(\"int64[1] 4; int64[1] 5; int64[] 6\", () -> { Tensor[] list0 = new Tensor[] {Tensor.of(new long[] {1}, \
                 new long[] {1}), Tensor.of(new long[] {2}, new long[] {1})}; Tensor[] list2 = new Tensor[] {Tensor.of(new long[] {3}, \
                 new long[] {})}; Torch.neg_(list0, (Tensor) null, list2, 1.0); return new Object[] {list0, list2}; });",
            ],
        ),
    ];
    for (func, example, expected) in cases {
        assert_eq!(rendered(func, example), expected, "{example}");
    }
}
