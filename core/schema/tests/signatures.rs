//! Real signatures parse and print back; invalid ones are rejected with their position.

use rushlight_schema::{BaseType, Constant, Default, Detail, Signature};

/// Differences of the printed form: `SymInt` is spelled `int`, strings get double quotes, lists a space, small numbers
/// an exponent.
fn canonical(text: &str) -> String {
    let spaced: Vec<&str> = text.split(',').map(str::trim_start).collect();
    spaced.join(", ").replace("SymInt", "int").replace('\'', "\"").replace("0.00001", "1e-05")
}

#[test]
fn every_sample_prints_back() {
    let samples = include_str!("data/signatures.txt");
    assert!(samples.lines().count() > 70);
    for text in samples.lines() {
        let signature: Signature = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(signature.to_string(), canonical(text));
        assert_eq!(signature.to_string().parse::<Signature>().unwrap(), signature);
    }
}

/// Schemas as PyTorch registers them: a sample of every type and default, and the whole list that
/// `tests/oracle/schemas.py` writes, when `RUSHLIGHT_SCHEMAS` names it.
#[test]
fn registered_schemas_parse_and_keep_their_meaning() {
    let sample = include_str!("data/registered.txt").to_owned();
    let whole = std::env::var("RUSHLIGHT_SCHEMAS").map(|path| std::fs::read_to_string(path).unwrap());
    for schemas in [Some(sample), whole.ok()].into_iter().flatten() {
        assert!(schemas.lines().count() > 60);
        let mut failed = Vec::new();
        for text in schemas.lines() {
            // Two arguments of this one have the same name.
            if text.starts_with("static_runtime::clamp_nan_to_num(") {
                continue;
            }
            match text.parse::<Signature>() {
                Ok(signature) => {
                    let printed = signature.to_string();
                    assert_eq!(printed.parse::<Signature>().unwrap_or_else(|error| panic!("{error}")), signature);
                }
                Err(error) => failed.push(error.to_string()),
            }
        }
        assert!(failed.is_empty(), "{} schemas fail:\n{}", failed.len(), failed.join("\n"));
    }
}

#[test]
fn parts_have_their_documented_values() {
    let text = "my::op.over(Tensor(a!) self, int[2] stride=1, *, ScalarType dtype=long, float eps=1e-05) -> (Tensor(a!), Tensor[] rest)";
    let signature: Signature = text.parse().unwrap();
    assert_eq!((&*signature.namespace, signature.full_name().as_str()), ("my", "op.over"));
    assert!(signature.arguments[0].is_written() && signature.writes());
    assert_eq!(signature.arguments[1].ty.list.unwrap().size, Some(2));
    assert_eq!(signature.arguments[1].default, Some(Default::Int(1)));
    assert!(!signature.arguments[1].kwarg_only && signature.arguments[2].kwarg_only);
    assert_eq!(signature.argument("dtype").unwrap().default, Some(Default::Constant(Constant::Long)));
    assert_eq!(signature.argument("eps").unwrap().default, Some(Default::Float(1e-5)));
    assert_eq!(signature.returns[1].name.as_deref(), Some("rest"));
    assert!(signature.returns[1].ty.is_list() && signature.returns[1].ty.base == BaseType::Tensor);
    assert_eq!(signature.to_string(), text);
}

#[test]
fn errors_name_the_position_in_the_string() {
    let cases = [
        ("", "expected an operator name at column 1 (at the end)"),
        ("add", "expected `(` before the arguments at column 4"),
        ("1add() -> ()", "expected an operator name at column 1"),
        ("add.() -> ()", "expected an overload name after `.` at column 5"),
        ("add(Tensr x) -> ()", "unknown type `Tensr` at column 5"),
        ("add(Tensor) -> ()", "expected an argument name at column 11"),
        ("add(Tensor x", "expected `,` or `)` after an argument at column 13"),
        ("add(Tensor x) Tensor", "expected `->` before the returns at column 15"),
        ("add(Tensor x, int x) -> ()", "second argument named `x` at column 15"),
        ("add(int n=1, int m) -> ()", "argument `m` needs a default"),
        ("add(*, *, int n) -> ()", "second `*` among the arguments at column 8"),
        ("add(int n, *) -> ()", "no argument after `*`"),
        ("add(int n=None) -> ()", "the default None of `n` is not of type `int` at column 11"),
        ("add(int n=1.5) -> ()", "the default 1.5 of `n` is not of type `int`"),
        ("add(int[2] n=[1.5]) -> ()", "the default [1.5] of `n` is not of type `int[2]`"),
        ("add(int[] n=1) -> ()", "the default 1 of `n` is not of type `int[]`"),
        ("add(int[] n=[[1]]) -> ()", "the default [[1]] of `n` is not of type `int[]` at column 13"),
        ("add(Dict(str) x) -> ()", "`Dict` has 2 types, not 1 at column 5"),
        ("add(Dict x) -> ()", "expected `(` after `Dict` at column 10"),
        ("add(Union[] x) -> ()", "`Union` has 1 types, not 0 at column 5"),
        ("add((int, Tensor x) -> ()", "expected `,` or `)` after a type at column 18"),
        ("add(__torch__. x) -> ()", "expected a name after `.` at column 15"),
        ("add(tensor x) -> ()", "unknown type `tensor` at column 5"),
        ("add(int x, ..., int y) -> ()", "expected `)` after `...` at column 15"),
        ("add(int n=99999999999999999999) -> ()", "invalid 64-bit integer at column 11"),
        ("add(float n=1e) -> ()", "invalid number at column 13"),
        ("add(int n=nope) -> ()", "unknown default value `nope` at column 11"),
        ("add(str n=\"abc) -> ()", "this string does not end at column 11"),
        ("add(Tensor(a x) -> ()", "expected `)` after an alias annotation at column 14"),
        ("add(Tensor(!) x) -> ()", "expected the name of an alias set at column 12"),
        ("add(int[99999999999999999999] n) -> ()", "the size of a list is too large at column 9"),
        ("add(int[x] n) -> ()", "expected `]` after `[` at column 9"),
        ("add() -> (Tensor", "expected `,` or `)` after a return at column 17"),
        ("add() -> Tensor!", "unexpected text after the signature at column 16"),
        ("add(Tensor é) -> ()", "expected an argument name at column 12"),
    ];
    for (text, expected) in cases {
        let error = text.parse::<Signature>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?} gave {error:?}, not {expected:?}");
    }
}

#[test]
fn compound_types_have_parts() {
    let text = "my::op(Dict(str, t)(a!) self, (int, t)[][]? pairs, Union[int, Tensor?] u, __torch__.my.C c, ...) -> ((t, int[]?[])[])";
    let signature: Signature = text.parse().unwrap();
    assert_eq!(signature.to_string(), text);
    let [dict, pairs, union, class] = &signature.arguments[..] else { panic!("{signature:?}") };
    assert!(dict.is_written() && dict.ty.base == BaseType::Dict && dict.ty.inner()[0].is(BaseType::Str));
    assert_eq!(dict.ty.inner()[1].detail, Detail::Name("t".into()));
    let inner = pairs.ty.element().unwrap();
    assert!(pairs.ty.optional && inner.is_list() && inner.element().unwrap().is(BaseType::Tuple));
    assert!(union.ty.inner()[1].optional);
    assert_eq!(class.ty.detail, Detail::Name("__torch__.my.C".into()));
    assert!(signature.is_vararg && !signature.is_varret);
    let rest = &signature.returns[0].ty.inner()[1];
    assert!(rest.element().unwrap().optional && rest.element().unwrap().is_list());
}

#[test]
fn nesting_is_limited() {
    let deep = |open: &str, close: &str| format!("my::f({}int{} x) -> ()", open.repeat(1000), close.repeat(1000));
    for text in [deep("(", ")"), deep("Future(", ")"), deep("", "[]"), deep("(", ")[]")] {
        assert!(text.parse::<Signature>().unwrap_err().to_string().contains("nest too deeply"));
    }
    let list = format!("my::f(Any x={}{}) -> ()", "[".repeat(1000), "]".repeat(1000));
    assert!(list.parse::<Signature>().unwrap_err().to_string().contains("nest too deeply"));
}

#[test]
fn an_alias_of_a_list_is_one_of_its_elements() {
    let after: Signature = "my::parts(Tensor(a) self) -> Tensor[](a)".parse().unwrap();
    let before: Signature = "my::parts(Tensor(a) self) -> Tensor(a)[]".parse().unwrap();
    assert_eq!(after, before);
}

#[test]
fn no_cut_of_a_signature_panics() {
    let text =
        "my::op.x(Tensor(a|b! -> *)?[3]? s, str n='é\\'', *, float[] f=[1.0, -2e-5], bool b=True) -> (Tensor r, int)";
    for start in 0..text.len() {
        for end in start..=text.len() {
            if let Some(cut) = text.get(start..end)
                && let Err(error) = cut.parse::<Signature>()
            {
                assert!(error.to_string().contains("column"));
            }
        }
    }
    text.parse::<Signature>().unwrap();
}
