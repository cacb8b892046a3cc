//! Real signatures parse and print back; wrong ones are refused with their place.

use rushlight_schema::{BaseType, Constant, Default, Signature};

/// What printing changes: `SymInt` is spelled `int`, strings get double quotes, lists a space, small numbers an exponent.
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

/// The whole list of PyTorch's operators, when `RUSHLIGHT_OPERATORS` names the file (it is not part of the repository).
#[test]
fn the_whole_list_parses_when_it_is_there() {
    let Ok(path) = std::env::var("RUSHLIGHT_OPERATORS") else { return };
    let table = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for text in table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').nth(4)) {
        let signature: Signature = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(signature.to_string(), canonical(text));
        count += 1;
    }
    assert!(count > 2000);
}

#[test]
fn parts_are_what_they_say() {
    let text = "my::op.over(Tensor(a!) self, int[2] stride=1, *, ScalarType dtype=long, float eps=1e-05) -> (Tensor(a!), Tensor[] rest)";
    let signature: Signature = text.parse().unwrap();
    assert_eq!((signature.namespace.as_str(), signature.full_name().as_str()), ("my", "op.over"));
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
fn wrong_texts_name_the_place() {
    let cases = [
        ("", "expected an operator name at column 1 (at the end)"),
        ("add", "expected `(` before the arguments at column 4"),
        ("1add() -> ()", "expected an operator name at column 1"),
        ("add.() -> ()", "expected an overload name after `.` at column 5"),
        ("add(Tensr x) -> ()", "there is no type `Tensr` at column 5"),
        ("add(Tensor) -> ()", "expected an argument name at column 11"),
        ("add(Tensor x", "expected `,` or `)` after an argument at column 13"),
        ("add(Tensor x) Tensor", "expected `->` before the returns at column 15"),
        ("add(Tensor x, int x) -> ()", "second argument named `x` at column 15"),
        ("add(int n=1, int m) -> ()", "argument `m` needs a default"),
        ("add(*, *, int n) -> ()", "second `*` among the arguments at column 8"),
        ("add(int n, *) -> ()", "no argument after `*`"),
        ("add(int n=None) -> ()", "the default None of `n` is no `int` at column 11"),
        ("add(int n=1.5) -> ()", "the default 1.5 of `n` is no `int`"),
        ("add(int[2] n=[1.5]) -> ()", "the default [1.5] of `n` is no `int[2]`"),
        ("add(int[] n=1) -> ()", "the default 1 of `n` is no `int[]`"),
        ("add(int[] n=[[1]]) -> ()", "lists of lists are no default value at column 14"),
        ("add(int n=99999999999999999999) -> ()", "this is no integer of 64 bits at column 11"),
        ("add(float n=1e) -> ()", "this is no number at column 13"),
        ("add(int n=nope) -> ()", "there is no default value `nope` at column 11"),
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
