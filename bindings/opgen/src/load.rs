//! Reads `core/schema/ops/*.toml` into the model, and refuses whatever a generator could misunderstand.
//! Every problem names its file and operator; all problems are reported at once.

use crate::features;
use crate::formula;
use crate::kinds;
use crate::model::{
    Autocast, Batching, Body, Devices, Doc, Dtypes, Exception, Family, Form, FormKind, Formula, Op, Overlap,
    ShapeByData, is_options_tail,
};
use crate::names;
use crate::types::Kind;
use rushlight_schema::{Alias, Argument, BaseType, Return, Signature, Type};
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
    shape: Option<String>,
    cpu: Option<String>,
    cuda: Option<String>,
    view: Option<String>,
    composite: Option<String>,
    composite_inplace: Option<String>,
    composite_out: Option<String>,
    dtypes: String,
    autocast: Option<String>,
    batching: Option<String>,
    overlap: Option<String>,
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
    source: String,
    #[serde(default)]
    derivative: BTreeMap<String, String>,
    copied_form: Option<String>,
    cast_through: Option<String>,
    contiguous_entry: Option<String>,
    tolerance: Option<String>,
}

/// Reads every family, in the order of the file names.
pub fn load(root: &Path) -> Result<Vec<Family>, Vec<String>> {
    let folder = root.join(FOLDER);
    let listing = std::fs::read_dir(&folder).map_err(|error| vec![format!("{FOLDER}: {error}")])?;
    let mut files: Vec<String> = listing
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    let mut families = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        let source = format!("{FOLDER}/{file}");
        match std::fs::read_to_string(folder.join(&file)) {
            Ok(text) => match family(&source, &text) {
                Ok(family) => families.push(family),
                Err(found) => problems.extend(found),
            },
            Err(error) => problems.push(format!("{source}: {error}")),
        }
    }
    problems.extend(finish(&mut families));
    problems.extend(features::check(root, &families));
    if problems.is_empty() { Ok(families) } else { Err(problems) }
}

/// What only the whole shows: names that clash, and the numbers in the names of nodes.
pub fn finish(families: &mut [Family]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for family in families {
        for op in &mut family.ops {
            for form in &op.forms {
                let place = format!("{}: {}", family.source, form.signature.full_name());
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
    let derivative = derivative(&raw, &signature, &forms, &body, &mut problems);
    let batching = choice("batching", raw.batching.as_deref(), Batching::CHOICES, Batching::None, &mut problems);
    let overlap = match batching {
        Batching::Pointwise => Overlap::Elementwise,
        _ => Overlap::Temporary,
    };
    let op = Op {
        forms,
        body,
        composite_inplace: raw.composite_inplace,
        composite_out: raw.composite_out,
        derivative,
        node: raw.node.unwrap_or_default(),
        dtypes: choice("dtypes", Some(&raw.dtypes), Dtypes::CHOICES, Dtypes::All, &mut problems),
        autocast: choice("autocast", raw.autocast.as_deref(), Autocast::CHOICES, Autocast::None, &mut problems),
        batching,
        overlap: choice("overlap", raw.overlap.as_deref(), Overlap::CHOICES, overlap, &mut problems),
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
            source: raw.source,
        },
        exceptions: [
            ("copied_form", raw.copied_form),
            ("cast_through", raw.cast_through),
            ("contiguous_entry", raw.contiguous_entry),
            ("tolerance", raw.tolerance),
        ]
        .into_iter()
        .filter_map(|(field, reason)| reason.map(|reason| Exception { field, reason }))
        .collect(),
    };
    check_rest(&op, &mut problems);
    if problems.is_empty() { Ok(op) } else { Err(problems) }
}

fn check_types(signature: &Signature, changes: bool, problems: &mut Vec<String>) {
    for (index, argument) in signature.arguments.iter().enumerate() {
        let options =
            index >= 1 && (1..4).any(|back| index >= back && is_options_tail(&signature.arguments[index - back..]));
        // What the generated Rust calls its own values.
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
        // In-place forms keep the written tensor under this name.
        let kept = changes && argument.name == "tensor";
        if kept || TAKEN.contains(&argument.name.as_str()) {
            problems.push(format!("the argument name `{}` is taken by the generated code", argument.name));
        }
        if !options && Kind::of(&argument.ty).is_none() && argument.name != "pin_memory" {
            problems.push(format!("no face has a type for `{argument}`"));
        }
    }
    for ret in &signature.returns {
        if ret.ty.base != BaseType::Tensor || ret.ty.optional {
            problems.push(format!("no face has a type for the return `{ret}`"));
        } else if ret.ty.is_list() && signature.returns.len() > 1 {
            problems.push("a list can only be the single return".to_string());
        }
    }
}

fn body(raw: &RawOp, signature: &Signature, problems: &mut Vec<String>) -> Body {
    let kernel = raw.cpu.is_some() || raw.shape.is_some() || raw.cuda.is_some();
    let given = [kernel, raw.view.is_some(), raw.composite.is_some()].into_iter().filter(|given| *given).count();
    if given != 1 {
        problems.push("give either `shape` and `cpu`, or `view`, or `composite`".to_string());
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
    let others = [&raw.cpu, &raw.cuda, &raw.view, &raw.composite].map(Option::as_deref);
    for path in others.into_iter().chain([shape]).flatten() {
        let word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !path.contains("::") || !path.split("::").all(word) {
            problems.push(format!("{path:?} is no path below `crate::ops`, like \"pointwise::mul\""));
        }
    }
    if let Some(path) = &raw.composite {
        return Body::Composite(path.clone());
    }
    if let Some(path) = &raw.view {
        let first = signature.arguments.first();
        if !first.is_some_and(|first| first.ty.is(BaseType::Tensor) && first.ty.alias.is_some()) {
            problems.push("a view's first argument is `Tensor(a) self`".to_string());
        }
        if !matches!(signature.returns.as_slice(), [single] if single.ty.is(BaseType::Tensor)) {
            problems.push("a view returns one tensor (make views of several a composite)".to_string());
        }
        return Body::View(path.clone());
    }
    if raw.cpu.is_none() && kernel {
        problems.push("a shape rule without a `cpu` kernel".to_string());
    }
    if raw.shape.is_none() && !signature.writes() {
        problems.push("a kernel that returns new tensors needs a `shape` rule".to_string());
    }
    Body::Kernel { shape: raw.shape.clone(), cpu: raw.cpu.clone().unwrap_or_default(), cuda: raw.cuda.clone() }
}

fn forms(raw: &RawOp, signature: &Signature, body: &Body, problems: &mut Vec<String>) -> Vec<Form> {
    let written = signature.writes();
    // What is written beside the results, running statistics say, leaves the name as it is.
    let changes_first = signature.arguments.first().is_some_and(Argument::is_written);
    if signature.name.ends_with('_') != changes_first {
        problems.push("a name ends in `_` exactly if its first argument is marked `(a!)`".to_string());
    }
    let kind = if changes_first { FormKind::InPlace } else { FormKind::Functional };
    let mut forms = vec![form(kind, signature.clone(), &raw.variants, problems)];
    if written && (raw.inplace.is_some() || raw.out.is_some()) {
        problems.push("an operator that writes has no other in-place or out form".to_string());
    }
    if let Some(name) = &raw.inplace {
        match in_place(signature, name) {
            Ok(derived) => {
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
            Ok(derived) => forms.push(form(FormKind::Out, derived, &["function".to_string()], problems)),
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
    if !method && !has("function") {
        problems.push(format!("{} is neither function nor method", signature.full_name()));
    }
    if method && signature.argument("self").is_none() {
        problems.push(format!("{} is a method without an argument `self`", signature.full_name()));
    }
    Form { kind, signature, function: has("function"), method }
}

fn split_name(name: &str) -> (String, String) {
    let (base, overload) = name.split_once('.').unwrap_or((name, ""));
    (base.to_string(), overload.to_string())
}

fn written_type(letter: char) -> Type {
    let alias = Alias { sets: vec![letter.to_string()], write: true, after: Vec::new() };
    Type { alias: Some(alias), ..Type::plain(BaseType::Tensor) }
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
    if !matches!(functional.returns.as_slice(), [single] if single.ty.is(BaseType::Tensor)) {
        return Err("only an operator that returns one tensor has an in-place form".to_string());
    }
    let mut arguments = functional.arguments.clone();
    let first = arguments.first_mut().filter(|first| first.ty.is(BaseType::Tensor));
    let first = first.ok_or("the in-place form writes the first argument, which is no tensor")?;
    first.ty = written_type('a');
    first.name = "self".to_string();
    let returns = vec![Return { name: None, ty: written_type('a') }];
    Ok(Signature { namespace: String::new(), name, overload, arguments, returns })
}

/// `mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)` of `mul.Tensor`. The dtype, layout and
/// device of the results are those of the given tensors, so that the options fall away.
fn out(functional: &Signature, name: &str, names: Option<&[String]>) -> Result<Signature, String> {
    let (name, overload) = split_name(name);
    if name != functional.name || overload.is_empty() {
        let wanted = &functional.name;
        return Err(format!("the out form of `{wanted}` is `{wanted}.<overload>`, not `{name}.{overload}`"));
    }
    let count = functional.returns.len();
    if count == 0 || functional.returns.iter().any(|ret| !ret.ty.is(BaseType::Tensor)) {
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
    let mut rest = functional.arguments.as_slice();
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
        let ty = written_type(letter);
        arguments.push(Argument { name: names[index].clone(), ty: ty.clone(), default: None, kwarg_only: true });
        returns.push(Return { name: names.get(count + index).cloned(), ty });
    }
    Ok(Signature { namespace: String::new(), name, overload, arguments, returns })
}

fn derivative(
    raw: &RawOp,
    signature: &Signature,
    forms: &[Form],
    body: &Body,
    problems: &mut Vec<String>,
) -> Vec<Formula> {
    let mut formulas = Vec::new();
    let arguments: Vec<&str> = signature.arguments.iter().map(|argument| argument.name.as_str()).collect();
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
    named.map(|(index, ret)| ret.name.clone().unwrap_or_else(|| default(index))).collect()
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
