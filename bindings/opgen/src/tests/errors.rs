//! Every mistake in a declaration is rejected with a message that names file, operator and mistake.

use crate::load;

/// A valid entry; each case below changes it in one place.
const SOUND: &str = r#"family = "sample"
doc = "Samples."

[[op]]
func = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
variants = ["function", "method"]
inplace = "mul_.Tensor"
out = "mul.out"
shape = "rules::arithmetic"
cpu = "pointwise::mul"
dtypes = "all"
batching = "pointwise"
since = "0.1"
summary = "Multiplies the tensors."
formula = "out_i = self_i * other_i"
shapes = "(*), (*) -> (*)"
errors = "None."
source = "internal"
[op.derivative]
self = "grad * other.conj()"
other = "grad * self.conj()"
"#;

fn problems(text: &str) -> String {
    match load::family("core/schema/ops/sample.toml", text) {
        Err(problems) => problems.join("\n"),
        Ok(family) => {
            let mut families = [family];
            load::finish(&mut families).join("\n")
        }
    }
}

fn changed(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from:?} is not in the sound entry");
    problems(&SOUND.replace(from, to))
}

#[test]
fn the_sound_entry_is_sound() {
    assert_eq!(problems(SOUND), "");
}

#[test]
fn mistakes_are_named() {
    let place = "core/schema/ops/sample.toml: mul.Tensor: ";
    let cases = [
        ("Tensor other) ->", "Tensr other) ->", "unknown type `Tensr`"),
        ("out = \"mul.out\"", "aliases = [\"mul\"]", "alias `mul`: the operator's own name"),
        ("out = \"mul.out\"", "aliases = [\"times(Tensor a) -> Tensor\"]", "its types are not those of"),
        ("out = \"mul.out\"", "aliases = [\"times(Tensor a, Tensr b) -> Tensor\"]", "unknown type `Tensr`"),
        ("Tensor self, Tensor other)", "Tensor self,Tensor other)", "`func` is not in its canonical form"),
        ("Tensor self, Tensor other)", "Tensor self, Tensor other, Dimname d)", "no face has a type for `Dimname d`"),
        ("-> Tensor\"", "-> int\"", "results that are not tensors need a composite without other forms"),
        ("-> Tensor\"", "-> (int, Tensor)\"", "no language has a type for the result `int, Tensor`"),
        ("-> Tensor\"", "-> Dict(str, int)\"", "no language has a type for the result `Dict(str, int)`"),
        ("-> Tensor\"", "-> (int, int, int, int, int, int)\"", "more than 5 results that are not all tensors"),
        ("Tensor self, Tensor other)", "Tensor self, Tensor other, ...)", "a declaration has no `...`"),
        ("-> Tensor\"", "-> (Tensor, Tensor[])\"", "no language has a type for the result `Tensor, Tensor[]`"),
        ("\"function\", \"method\"", "\"free\", \"method\"", "variant \"free\" is neither \"function\" nor \"method\""),
        ("[\"function\", \"method\"]", "[]", "mul.Tensor is neither function nor method, and not internal"),
        ("Tensor self, Tensor other)", "Tensor input, Tensor other)", "is a method without an argument `self`"),
        (
            "inplace = \"mul_.Tensor\"",
            "inplace = \"mul.Tensor\"",
            "the in-place form of `mul` is called `mul_`, not `mul`",
        ),
        ("inplace = \"mul_.Tensor\"", "inplace_variants = [\"method\"]", "`inplace_variants` without `inplace`"),
        ("out = \"mul.out\"", "out = \"add.out\"", "the out form of `mul` is `mul.<overload>`, not `add.out`"),
        ("out = \"mul.out\"", "out = \"mul.out\"\nout_names = [\"a\", \"b\", \"c\"]", "`out_names` has 3 names, not 1"),
        ("out = \"mul.out\"", "out_names = [\"a\"]", "`out_names` without `out`"),
        ("out = \"mul.out\"", "out_dtype = \"own\"", "`out_dtype` has no effect without an out form"),
        ("-> Tensor\"", "-> (Tensor a, Tensor b)\"", "`out_names` is needed: 2 argument names"),
        (
            "-> Tensor\"",
            "-> (Tensor a, Tensor b)\"",
            "only an operator that returns one tensor or list has an in-place form",
        ),
        ("shape = \"rules::arithmetic\"\n", "", "a kernel that returns new tensors needs a `shape` rule"),
        ("cpu = \"pointwise::mul\"\n", "", "a shape rule without a `cpu` kernel"),
        ("cpu = \"pointwise::mul\"", "cpu = \"mul\"", "\"mul\" is no path below `crate::ops`"),
        (
            "cpu = \"pointwise::mul\"",
            "cpu = \"pointwise::mul\"\nview = \"views::t\"",
            "give either `shape` and `cpu`, or `view`",
        ),
        ("shape = \"rules::arithmetic\"\ncpu = \"pointwise::mul\"", "view = \"views::t\"", "a view has no out form"),
        (
            "shape = \"rules::arithmetic\"\ncpu = \"pointwise::mul\"",
            "view = \"views::t\"",
            "a view's first argument is",
        ),
        (
            "shape = \"rules::arithmetic\"\ncpu = \"pointwise::mul\"",
            "composite = \"composite::mul\"",
            "the forms of a composite are made by copying, unless `composite_inplace` and `composite_out` write them",
        ),
        (
            "since = \"0.1\"",
            "since = \"0.1\"\ncopied_form = \"why\"",
            "`copied_form` without a form that is made by copying",
        ),
        ("since = \"0.1\"", "since = \"0.1\"\ntolerance = \" \"", "`tolerance` gives no reason"),
        ("since = \"0.1\"", "since = \"0.1\"\non_host = \" \"", "`on_host` gives no reason"),
        ("dtypes = \"all\"", "dtypes = \"some\"", "`dtypes` is \"some\", not one of all, number"),
        ("batching = \"pointwise\"", "batching = \"x\"", "`batching` is \"x\", not one of"),
        (
            "batching = \"pointwise\"",
            "overlap = \"x\"",
            "`overlap` is \"x\", not one of elementwise, temporary, in_place, constant",
        ),
        ("batching = \"pointwise\"", "devices = \"x\"", "`devices` is \"x\", not one of same, any"),
        ("summary = \"Multiplies the tensors.\"", "summary = \"\"", "`summary` is empty"),
        ("Tensor other)", "Tensor other, *, Generator? generator=None)", "but `nondeterministic` is not set"),
        ("self = \"grad * other.conj()\"", "self = \"grad * othr\"", "derivative of `self`: `othr` is unknown here"),
        ("self = \"grad * other.conj()\"", "slf = \"grad\"", "derivative: there is no argument `slf`"),
        ("self = \"grad * other.conj()\"", "", "the in-place form needs a formula for the written `self`"),
        ("self = \"grad * other.conj()\"", "self = \"grad * needs\"", "`needs` is for joint formulas"),
        ("self = \"grad * other.conj()\"", "\"self, other\" = \"f\"", "two formulas for `other`"),
        ("Tensor other)", "Tensor other, int spec)", "the argument name `spec` is taken by the generated code"),
    ];
    for (from, to, expected) in cases {
        let found = changed(from, to);
        let line = found.lines().find(|line| line.contains(expected));
        let line = line.unwrap_or_else(|| panic!("{to:?} gave {found:?}, not {expected:?}"));
        assert!(line.starts_with(place), "{line:?} does not begin with {place:?}");
    }
}

#[test]
fn other_namespaces_are_called_by_name() {
    let found = changed("\"mul.Tensor(", "\"my::mul.Tensor(");
    assert!(
        found.contains(
            "my::mul.Tensor: the namespace `my` is neither left out nor `prim`, `torchaudio` or `torchvision`"
        ),
        "{found}"
    );
    let found = changed("\"mul.Tensor(", "\"prim::mul.Tensor(");
    assert!(found.contains("an operator of another namespace is called by name only"), "{found}");
}

#[test]
fn mistakes_of_the_file_are_named() {
    let file = "core/schema/ops/sample.toml: ";
    let unknown = changed("since = \"0.1\"", "since = \"0.1\"\nsinse = \"0.2\"");
    assert!(unknown.starts_with(file) && unknown.contains("unknown field `sinse`"), "{unknown}");
    let missing = changed("since = \"0.1\"\n", "");
    assert!(missing.starts_with(file) && missing.contains("missing field `since`"), "{missing}");
    let name = changed("family = \"sample\"", "family = \"other\"");
    assert_eq!(name, "core/schema/ops/sample.toml: the family is called \"other\", the file \"sample\"");
    let twice = problems(&(SOUND.to_string() + &SOUND[SOUND.find("[[op]]").unwrap()..]));
    assert!(twice.contains("mul.Tensor: the same Rust name as core/schema/ops/sample.toml: mul.Tensor"), "{twice}");
}

#[test]
fn in_place_names_go_with_written_arguments() {
    let text = SOUND.replace("mul.Tensor(Tensor self, Tensor other)", "mul.Tensor(Tensor(a!) self, Tensor other)");
    assert!(problems(&text).contains("a name ends in `_` exactly if its first argument is marked `(a!)`"));
}
