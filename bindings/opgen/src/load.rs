//! Reads `core/schema/ops/*.toml` into the model, and rejects declarations that are incomplete or ambiguous. Every
//! error names its file and operator; all errors are reported at once.

use crate::alias;
use crate::each;
use crate::example;
use crate::formula;
use crate::kinds;
use crate::model::{
    Batching, Body, Devices, Doc, Dtypes, Exception, Family, Form, FormKind, Formula, Mixed, Op, OutDtype, Overlap,
    Returns, ShapeByData, is_options_tail,
};
use crate::names;
use crate::types::{Kind, ResultKind};
use rushlight_schema::{Alias, Argument, BaseType, Name, Return, Signature, Type};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Folder of the declarations, from the root of the repository.
pub const FOLDER: &str = "core/schema/ops";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFamily {
    family: String,
    doc: String,
    required: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    op: Vec<RawOp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOp {
    func: String,
    variants: Vec<String>,
    inplace: Option<String>,
    inplace_variants: Option<Vec<String>>,
    out: Option<String>,
    out_names: Option<Vec<String>>,
    #[serde(default)]
    aliases: Vec<String>,
    shape: Option<String>,
    cpu: Option<String>,
    view: Option<String>,
    composite: Option<String>,
    composite_inplace: Option<String>,
    composite_out: Option<String>,
    each: Option<String>,
    dtypes: String,
    batching: Option<String>,
    overlap: Option<String>,
    out_dtype: Option<String>,
    devices: Option<String>,
    shape_by_data: Option<String>,
    node: Option<String>,
    #[serde(default)]
    internal: bool,
    #[serde(default)]
    nondeterministic: bool,
    #[serde(default)]
    cxx_required: Vec<String>,
    since: String,
    summary: String,
    formula: String,
    shapes: String,
    errors: String,
    example: Option<String>,
    #[serde(default)]
    curve: Vec<f64>,
    source: String,
    #[serde(default)]
    derivative: BTreeMap<String, String>,
    copied_form: Option<String>,
    cast_through: Option<String>,
    contiguous_entry: Option<String>,
    tolerance: Option<String>,
    trivial_example: Option<String>,
    no_example: Option<String>,
    on_host: Option<String>,
}

/// Every family, sorted by name, or all errors of the declarations.
pub fn load() -> Result<Vec<Family>, Vec<String>> {
    let mut families = Vec::new();
    let mut problems = Vec::new();
    for (name, text) in rushlight_schema::DECLARATIONS {
        match family(&format!("{FOLDER}/{name}.toml"), text) {
            Ok(family) => families.push(family),
            Err(found) => problems.extend(found),
        }
    }
    problems.extend(finish(&mut families));
    problems.extend(example::check::problems(&families));
    if problems.is_empty() { Ok(families) } else { Err(problems) }
}

/// What needs all families: calls of other operators, duplicate names, and the numbers in the names of nodes.
pub fn finish(families: &mut [Family]) -> Vec<String> {
    let mut problems = each::resolve(families);
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for family in families {
        for op in &mut family.ops {
            for form in op.forms.iter().chain(op.aliases.iter().map(|alias| &alias.form)) {
                let place = format!("{}: {}", family.source, form.signature.qualified_name());
                if let Some(first) = seen.insert(names::rust_function(&form.signature), place.clone()) {
                    problems.push(format!("{place}: the same Rust name as {first}"));
                }
            }
            if op.is_differentiable() && op.node.is_empty() {
                let number = numbers.entry(names::base(&op.primary().signature).to_string()).or_default();
                op.node = names::node(op, *number);
                *number += 1;
            }
        }
    }
    problems
}

/// Reads one file.
pub fn family(source: &str, text: &str) -> Result<Family, Vec<String>> {
    let mut table: toml::Table = text.parse().map_err(|error| vec![format!("{source}: {error}")])?;
    kinds::complete(&mut table).map_err(|problem| vec![format!("{source}: {problem}")])?;
    let raw: RawFamily = table.try_into().map_err(|error| vec![format!("{source}: {error}")])?;
    let mut problems = Vec::new();
    let stem = Path::new(source).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if raw.family != stem {
        problems.push(format!("{source}: the family is called {:?}, the file {stem:?}", raw.family));
    }
    let mut ops = Vec::new();
    for raw_op in raw.op {
        let place = raw_op.func.split('(').next().unwrap_or_default().to_string();
        match op(raw_op) {
            Ok(op) => ops.push(op),
            Err(found) => problems.extend(found.into_iter().map(|problem| format!("{source}: {place}: {problem}"))),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Family { name: raw.family, doc: raw.doc, source: source.into(), required: raw.required, needs: raw.needs, ops })
}

fn op(raw: RawOp) -> Result<Op, Vec<String>> {
    let signature: Signature = raw.func.parse().map_err(|error| vec![format!("{error}")])?;
    let mut problems = Vec::new();
    if signature.to_string() != raw.func {
        problems.push(format!("`func` is not in its canonical form, which is \"{signature}\""));
    }
    check_types(&signature, raw.inplace.is_some() || signature.writes(), &mut problems);
    let body = body(&raw, &signature, &mut problems);
    let forms = forms(&raw, &signature, &body, &mut problems);
    let aliases = alias::of(&raw.aliases, &forms, &mut problems);
    let derivative = derivative(&raw, &signature, &forms, &body, &mut problems);
    let batching = choice("batching", raw.batching.as_deref(), Batching::CHOICES, Batching::None, &mut problems);
    let overlap = match batching {
        Batching::Pointwise => Overlap::Elementwise,
        _ => Overlap::Temporary,
    };
    let op = Op {
        forms,
        aliases,
        body,
        composite_inplace: raw.composite_inplace.as_deref().map(in_ops),
        composite_out: raw.composite_out.as_deref().map(in_ops),
        derivative,
        node: raw.node.unwrap_or_default(),
        dtypes: choice("dtypes", Some(&raw.dtypes), Dtypes::CHOICES, Dtypes::All, &mut problems),
        batching,
        overlap: choice("overlap", raw.overlap.as_deref(), Overlap::CHOICES, overlap, &mut problems),
        out_dtype: choice("out_dtype", raw.out_dtype.as_deref(), OutDtype::CHOICES, OutDtype::Any, &mut problems),
        devices: choice("devices", raw.devices.as_deref(), Devices::CHOICES, Devices::Same, &mut problems),
        shape_by_data: choice(
            "shape_by_data",
            raw.shape_by_data.as_deref(),
            ShapeByData::CHOICES,
            ShapeByData::Never,
            &mut problems,
        ),
        internal: raw.internal,
        nondeterministic: raw.nondeterministic,
        cxx_required: raw.cxx_required,
        since: raw.since,
        doc: Doc {
            summary: raw.summary,
            formula: raw.formula,
            shapes: raw.shapes,
            errors: raw.errors,
            example: raw.example,
            curve: raw.curve,
            source: raw.source,
        },
        exceptions: [
            ("copied_form", raw.copied_form),
            ("cast_through", raw.cast_through),
            ("contiguous_entry", raw.contiguous_entry),
            ("tolerance", raw.tolerance),
            ("trivial_example", raw.trivial_example),
            ("no_example", raw.no_example),
            // A kind may state it for kernels among composites, which call those.
            ("on_host", raw.on_host.filter(|_| raw.cpu.is_some())),
        ]
        .into_iter()
        .filter_map(|(field, reason)| reason.map(|reason| Exception { field, reason }))
        .collect(),
    };
    check_returns(&op, &mut problems);
    check_curve(&op.doc, &mut problems);
    check_rest(&op, &mut problems);
    if problems.is_empty() { Ok(op) } else { Err(problems) }
}

fn check_types(signature: &Signature, changes: bool, problems: &mut Vec<String>) {
    for (index, argument) in signature.arguments.iter().enumerate() {
        let options =
            index >= 1 && (1..4).any(|back| index >= back && is_options_tail(&signature.arguments[index - back..]));
        // Names that the generated Rust code uses for its own values.
        const TAKEN: [&str; 12] = [
            "place",
            "spec",
            "viewed",
            "geometry",
            "result",
            "keys",
            "edges",
            "node",
            "recording",
            "gradients",
            "call",
            "args",
        ];
        // In-place forms bind the written tensor to this name.
        let kept = changes && argument.name == "tensor";
        if kept || TAKEN.contains(&&*argument.name) {
            problems.push(format!("the argument name `{}` is taken by the generated code", argument.name));
        }
        if !options && Kind::of(&argument.ty).is_none() && argument.name != "pin_memory" {
            problems.push(format!("no face has a type for `{argument}`"));
        }
    }
    if !matches!(&*signature.namespace, "" | "prim" | "torchaudio" | "torchvision") {
        problems.push(format!(
            "the namespace `{}` is neither left out nor `prim`, `torchaudio` or `torchvision`",
            signature.namespace
        ));
    }
    if signature.is_vararg || signature.is_varret {
        problems.push("a declaration has no `...`".to_string());
    }
}

/// The range of a plot, and the value of the second tensor.
fn check_curve(doc: &Doc, problems: &mut Vec<String>) {
    let fits = doc.curve.is_empty() || (2..=3).contains(&doc.curve.len()) && doc.curve[0] < doc.curve[1];
    if !fits {
        problems.push("`curve` is a range, and the value of a second tensor: [-3.0, 3.0, 0.0]".into());
    }
}

/// Results other than tensors: which body and which forms may have them.
fn check_returns(op: &Op, problems: &mut Vec<String>) {
    let primary = op.primary();
    let returns = &primary.signature.returns;
    if returns.iter().all(|ret| ret.ty.base == BaseType::Tensor && !ret.ty.optional)
        && (returns.len() == 1 || returns.iter().all(|ret| !ret.ty.is_list()))
    {
        return;
    }
    let plain = op.is_composite() && op.forms.len() == 1 && !primary.signature.writes();
    if !plain || op.is_differentiable() {
        problems
            .push("results that are not tensors need a composite without other forms and without derivative".into());
    }
    if returns.len() > Mixed::MOST {
        problems.push(format!("more than {} results that are not all tensors", Mixed::MOST));
    }
    if let Returns::Mixed(_) | Returns::Value(ResultKind::Value) = primary.returns()
        && !primary.is_by_name_only()
    {
        let returns: Vec<String> = returns.iter().map(ToString::to_string).collect();
        let returns = returns.join(", ");
        problems.push(format!(
            "no language has a type for the result `{returns}`: `variants = []` leaves the calls by name"
        ));
    }
}

fn body(raw: &RawOp, signature: &Signature, problems: &mut Vec<String>) -> Body {
    let kernel = raw.cpu.is_some() || raw.shape.is_some();
    let given = [kernel, raw.view.is_some(), raw.composite.is_some(), raw.each.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        problems.push("give either `shape` and `cpu`, or `view`, or `composite`, or `each`".to_string());
    }
    let shape = raw.shape.as_deref().map(|shape| match shape.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        None => shape,
        Some((path, named)) => {
            for name in named.split(", ").filter(|name| signature.argument(name).is_none()) {
                problems.push(format!("the shape rule takes `{name}`, which is no argument"));
            }
            path
        }
    });
    let others = [&raw.cpu, &raw.view, &raw.composite].map(Option::as_deref);
    for path in others.into_iter().chain([shape]).flatten() {
        let word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !path.contains("::") || !path.split("::").all(word) {
            problems.push(format!("{path:?} is no path below `crate::ops`, like \"pointwise::mul\""));
        }
    }
    if let Some(target) = &raw.each {
        return Body::Each { target: target.clone(), calls: Vec::new() };
    }
    if let Some(path) = &raw.composite {
        return Body::Composite(in_ops(path));
    }
    if let Some(path) = &raw.view {
        let first = signature.arguments.first();
        if !first.is_some_and(|first| first.ty.is(BaseType::Tensor) && first.ty.alias.is_some()) {
            problems.push("a view's first argument is `Tensor(a) self`".to_string());
        }
        if !matches!(&signature.returns[..], [single] if single.ty.is(BaseType::Tensor)) {
            problems.push("a view returns one tensor (make views of several a composite)".to_string());
        }
        return Body::View(in_ops(path));
    }
    if raw.cpu.is_none() && kernel {
        problems.push("a shape rule without a `cpu` kernel".to_string());
    }
    if raw.shape.is_none() && !signature.writes() {
        problems.push("a kernel that returns new tensors needs a `shape` rule".to_string());
    }
    let path = |path: &Option<String>| path.as_deref().map(in_ops);
    Body::Kernel { shape: path(&raw.shape), cpu: path(&raw.cpu).unwrap_or_default() }
}

/// The path of a hand-written function in generated code. Declarations leave out the common prefix.
fn in_ops(path: &str) -> String {
    format!("ops::{path}")
}

fn forms(raw: &RawOp, signature: &Signature, body: &Body, problems: &mut Vec<String>) -> Vec<Form> {
    let written = signature.writes();
    // Tensors that are written beside the results, such as running statistics, do not change the name.
    let changes_first = signature.arguments.first().is_some_and(Argument::is_written);
    let by_name_only = raw.variants.is_empty();
    if signature.name.ends_with('_') != changes_first && !by_name_only {
        problems.push("a name ends in `_` exactly if its first argument is marked `(a!)`".to_string());
    }
    let passed = |argument: &&Argument| Kind::of(&argument.ty) == Some(Kind::Value);
    if let Some(argument) = signature.arguments.iter().find(passed).filter(|_| !by_name_only) {
        problems.push(format!("no language has a type for `{argument}`: `variants = []` leaves the calls by name"));
    }
    let kind = if changes_first { FormKind::InPlace } else { FormKind::Functional };
    let mut forms = vec![form(kind, signature.clone(), &raw.variants, problems)];
    if !signature.namespace.is_empty() && !raw.variants.is_empty() {
        problems.push("an operator of another namespace is called by name only".to_string());
    }
    if raw.variants.is_empty() && !raw.internal {
        problems.push(format!("{} is neither function nor method, and not internal", signature.qualified_name()));
    }
    let copied =
        raw.inplace.is_some() && raw.composite_inplace.is_none() || raw.out.is_some() && raw.composite_out.is_none();
    if written && (copied || changes_first && (raw.inplace.is_some() || raw.out.is_some())) {
        problems.push(
            "an operator that writes has no other in-place or out form, unless a composite writes it".to_string(),
        );
    }
    if let Some(name) = &raw.inplace {
        match in_place(signature, name) {
            Ok(derived) => {
                if matches!(body, Body::View(_)) {
                    problems.push("the in-place form of a view is an entry of its own, a composite".to_string());
                }
                let variants = raw.inplace_variants.clone().unwrap_or_else(|| vec!["method".to_string()]);
                forms.push(form(FormKind::InPlace, derived, &variants, problems));
            }
            Err(problem) => problems.push(problem),
        }
    } else if raw.inplace_variants.is_some() {
        problems.push("`inplace_variants` without `inplace`".to_string());
    }
    if let Some(name) = &raw.out {
        if matches!(body, Body::View(_)) {
            problems.push("a view has no out form".to_string());
        }
        match out(signature, name, raw.out_names.as_deref()) {
            Ok(derived) => {
                // No language has an out form with a list of results.
                let variants = if derived.returns.is_empty() { vec![] } else { vec!["function".to_string()] };
                forms.push(form(FormKind::Out, derived, &variants, problems));
            }
            Err(problem) => problems.push(problem),
        }
    } else if raw.out_names.is_some() {
        problems.push("`out_names` without `out`".to_string());
    }
    forms
}

fn form(kind: FormKind, signature: Signature, variants: &[String], problems: &mut Vec<String>) -> Form {
    for variant in variants {
        if variant != "function" && variant != "method" {
            problems.push(format!("variant {variant:?} is neither \"function\" nor \"method\""));
        }
    }
    let has = |name: &str| variants.iter().any(|variant| variant == name);
    let method = has("method");
    if method && signature.argument("self").is_none() {
        problems.push(format!("{} is a method without an argument `self`", signature.qualified_name()));
    }
    Form { kind, signature, function: has("function"), method }
}

fn split_name(name: &str) -> (String, String) {
    let (base, overload) = name.split_once('.').unwrap_or((name, ""));
    (base.to_string(), overload.to_string())
}

fn signature(name: String, overload: String, arguments: Vec<Argument>, returns: Vec<Return>) -> Signature {
    Signature {
        namespace: Name::Borrowed(""),
        name: name.into(),
        overload: overload.into(),
        arguments: arguments.into(),
        returns: returns.into(),
        is_vararg: false,
        is_varret: false,
    }
}

fn written_type(letter: char) -> Type {
    let alias = Alias { sets: vec![letter.to_string().into()].into(), write: true, after: Vec::new().into() };
    Type { alias: Some(alias), ..Type::plain(BaseType::Tensor) }
}

/// Whether the only result is a list of tensors. The in-place and out forms of such an operator return nothing.
fn returns_list(functional: &Signature) -> bool {
    matches!(&functional.returns[..], [single] if ResultKind::of(&single.ty) == ResultKind::TensorList)
}

/// `mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)` of `mul.Tensor`. The written argument is called `self`,
/// also where the functional form calls it `input`, as in PyTorch.
fn in_place(functional: &Signature, name: &str) -> Result<Signature, String> {
    let (name, overload) = split_name(name);
    if name != format!("{}_", functional.name) {
        return Err(format!(
            "the in-place form of `{}` is called `{}_`, not `{name}`",
            functional.name, functional.name
        ));
    }
    let list = returns_list(functional);
    if !list && !matches!(&functional.returns[..], [single] if single.ty.is(BaseType::Tensor)) {
        return Err("only an operator that returns one tensor or list has an in-place form".to_string());
    }
    let mut arguments = functional.arguments.to_vec();
    let fits = |first: &&mut Argument| {
        first.ty == Type { list: functional.returns[0].ty.list, ..Type::plain(BaseType::Tensor) }
    };
    let first = arguments.first_mut().filter(fits);
    let first = first.ok_or("the in-place form writes the first argument, which is not of the type of the result")?;
    first.ty = Type { list: first.ty.list, ..written_type('a') };
    first.name = "self".into();
    let returns = if list { vec![] } else { vec![Return { name: None, ty: written_type('a') }] };
    Ok(signature(name, overload, arguments, returns))
}

/// `mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)` of `mul.Tensor`. The dtype, layout and
/// device of the results are those of the given tensors, so that the options fall away.
fn out(functional: &Signature, name: &str, names: Option<&[String]>) -> Result<Signature, String> {
    let (name, overload) = split_name(name);
    // PyTorch's operator may have the out form only; its functional form is internal then.
    let public = functional.name.strip_prefix('_');
    if name != functional.name && Some(&*name) != public || overload.is_empty() {
        let wanted = &functional.name;
        return Err(format!("the out form of `{wanted}` is `{wanted}.<overload>`, not `{name}.{overload}`"));
    }
    let count = functional.returns.len();
    let list = returns_list(functional);
    if !list && (count == 0 || functional.returns.iter().any(|ret| !ret.ty.is(BaseType::Tensor))) {
        return Err("only an operator that returns tensors has an out form".to_string());
    }
    let single = ["out".to_string()];
    let names = match names {
        Some(names) => names,
        None if count == 1 => &single[..],
        None => return Err(format!("`out_names` is needed: {count} argument names, then the return names if named")),
    };
    if names.len() != count && names.len() != 2 * count {
        return Err(format!("`out_names` has {} names, not {count} (or {} with the returns)", names.len(), 2 * count));
    }
    let mut arguments: Vec<Argument> = Vec::new();
    let mut rest = &functional.arguments[..];
    while let Some(argument) = rest.first() {
        if is_options_tail(rest) {
            rest = &rest[4..];
        } else {
            arguments.push(argument.clone());
            rest = &rest[1..];
        }
    }
    let mut returns = Vec::new();
    for (index, letter) in ('a'..='z').take(count).enumerate() {
        let ty = Type { list: functional.returns[index].ty.list, ..written_type(letter) };
        arguments.push(Argument { name: names[index].clone().into(), ty: ty.clone(), default: None, kwarg_only: true });
        if !list {
            returns.push(Return { name: names.get(count + index).cloned().map(Name::Owned), ty });
        }
    }
    Ok(signature(name, overload, arguments, returns))
}

fn derivative(
    raw: &RawOp,
    signature: &Signature,
    forms: &[Form],
    body: &Body,
    problems: &mut Vec<String>,
) -> Vec<Formula> {
    let mut formulas = Vec::new();
    let arguments: Vec<&str> = signature.arguments.iter().map(|argument| &*argument.name).collect();
    let outputs = output_names(signature);
    let position = |name: &str| arguments.iter().position(|argument| *argument == name);
    let mut seen: Vec<&str> = Vec::new();
    for (key, text) in &raw.derivative {
        let inputs: Vec<&str> = key.split(',').map(str::trim).collect();
        for input in &inputs {
            match signature.argument(input) {
                None => problems.push(format!("derivative: there is no argument `{input}`")),
                Some(argument) if argument.ty.base != BaseType::Tensor => {
                    problems.push(format!("derivative: `{input}` is no tensor"));
                }
                Some(argument) if inputs.len() > 1 && argument.ty.is_list() => {
                    problems.push(format!("derivative: the list `{input}` cannot be part of a joint formula"));
                }
                Some(_) => {}
            }
            if seen.contains(input) {
                problems.push(format!("derivative: two formulas for `{input}`"));
            }
            seen.push(input);
        }
        match formula::uses(text, &arguments, &outputs) {
            Err(problem) => problems.push(format!("derivative of `{key}`: {problem}")),
            Ok(uses) => {
                for name in uses.values.keys() {
                    let kind = signature.argument(name).and_then(|argument| Kind::of(&argument.ty));
                    if matches!(kind, Some(Kind::GeneratorOptional)) {
                        problems.push(format!("derivative of `{key}`: a generator (`{name}`) cannot be saved"));
                    }
                }
                if uses.needs && inputs.len() < 2 {
                    problems.push(format!("derivative of `{key}`: `needs` is for joint formulas"));
                }
            }
        }
        formulas.push(Formula { inputs: inputs.iter().map(|input| input.to_string()).collect(), text: text.clone() });
    }
    if formulas.is_empty() {
        return formulas;
    }
    if arguments.contains(&"grad") && formulas.iter().any(|formula| formula.text.contains("grad")) {
        problems.push("derivative: an argument called `grad` hides the gradient".to_string());
    }
    if matches!(body, Body::Composite(_)) && forms.len() > 1 {
        problems
            .push("derivative: a composite with other forms gets its gradient from the operators it calls".to_string());
    }
    // In the order of the signature, whatever the order in the file.
    formulas.sort_by_key(|formula| formula.inputs.first().and_then(|input| position(input)));
    if let Some(form) = forms.iter().find(|form| form.kind == FormKind::InPlace) {
        let written = form.signature.arguments.iter().filter(|argument| argument.is_written()).count();
        let first = arguments.first().copied().unwrap_or_default();
        if written != 1 || !seen.contains(&first) || form.signature.arguments[0].name != first {
            problems.push(format!("derivative: the in-place form needs a formula for the written `{first}`"));
        }
    }
    formulas
}

fn output_names(signature: &Signature) -> Vec<String> {
    let single = signature.returns.len() == 1;
    let default = |index: usize| if single { "result".to_string() } else { format!("result{index}") };
    let named = signature.returns.iter().enumerate();
    named.map(|(index, ret)| ret.name.as_deref().map_or_else(|| default(index), str::to_owned)).collect()
}

fn choice<T: Copy>(
    field: &str,
    given: Option<&str>,
    choices: &[(&'static str, T)],
    default: T,
    problems: &mut Vec<String>,
) -> T {
    let Some(given) = given else { return default };
    match choices.iter().find(|(name, _)| *name == given) {
        Some((_, value)) => *value,
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            problems.push(format!("`{field}` is {given:?}, not one of {}", names.join(", ")));
            default
        }
    }
}

fn check_rest(op: &Op, problems: &mut Vec<String>) {
    let copied = op.exceptions.iter().any(|exception| exception.field == "copied_form");
    let copies = op.forms.iter().any(|form| op.is_copied(form));
    if copies && !copied {
        problems.push(
            "the forms of a composite are made by copying, unless `composite_inplace` and `composite_out` write them: give \
             the reason in `copied_form`"
                .to_string(),
        );
    }
    for (field, kind, path) in [
        ("composite_inplace", FormKind::InPlace, &op.composite_inplace),
        ("composite_out", FormKind::Out, &op.composite_out),
    ] {
        if path.is_some() && !(op.is_composite() && op.form(kind).is_some()) {
            problems.push(format!("`{field}` without such a form of a composite"));
        }
    }
    if op.out_dtype != OutDtype::Any && (op.composite_out.is_some() || op.form(FormKind::Out).is_none()) {
        problems.push("`out_dtype` has no effect without an out form, or with `composite_out`".to_string());
    }
    if copied && !copies {
        problems.push("`copied_form` without a form that is made by copying".to_string());
    }
    let generator = op.primary().signature.arguments.iter().any(|argument| argument.ty.base == BaseType::Generator);
    if generator && !op.nondeterministic {
        problems.push("it takes a generator, but `nondeterministic` is not set".to_string());
    }
    for (field, text) in [("summary", &op.doc.summary), ("formula", &op.doc.formula), ("since", &op.since)] {
        if text.trim().is_empty() {
            problems.push(format!("`{field}` is empty"));
        }
    }
    for name in &op.cxx_required {
        if op.primary().signature.argument(name).is_none() {
            problems.push(format!("`cxx_required` names no argument: {name:?}"));
        }
    }
    for exception in &op.exceptions {
        if exception.reason.trim().is_empty() {
            problems.push(format!("`{}` gives no reason", exception.field));
        }
    }
    if op.is_view() && op.form(FormKind::InPlace).is_some() && !op.is_differentiable() {
        problems.push("an in-place view needs a derivative".to_string());
    }
}
