//! The autograd layer of an operator: the wrapper that records the call, and the node that computes the gradients.

use super::forward;
use super::text::{arguments, declarations, filled, function_head, ident, tensor_iterator};
use crate::formula::{self, Use};
use crate::model::{Form, FormKind, Formula, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::collections::BTreeMap;

/// Whether `form` has an autograd wrapper.
pub fn exists(op: &Op, form: &Form) -> bool {
    match form.kind {
        FormKind::Functional => op.is_differentiable(),
        // The in-place form of a composite records through the operators that it calls.
        FormKind::InPlace => !op.is_composite(),
        FormKind::Out => op.is_differentiable() || op.is_composite(),
    }
}

/// A value that the node keeps.
struct Kept {
    name: String,
    kind: KeptKind,
    /// The formulas that use it.
    users: Vec<usize>,
}

enum KeptKind {
    Input(Kind, Use),
    Output(usize, Use),
    Value(Kind),
}

/// The values that the formulas of an operator use, and the slots of its differentiable arguments.
struct Plan {
    parameters: Vec<Parameter>,
    kept: Vec<Kept>,
    /// For each formula: the outputs whose gradients it reads.
    gradients: Vec<Vec<usize>>,
    /// For each formula: the outputs of which it reads whether they have a gradient.
    given: Vec<Vec<usize>>,
    /// For each formula: whether it reads `needs`.
    needs: Vec<bool>,
}

impl Plan {
    fn new(op: &Op) -> Plan {
        let signature = &op.primary().signature;
        let schema_names: Vec<&str> = signature.arguments.iter().map(|argument| &*argument.name).collect();
        let outputs = op.output_names();
        let parameters = op.primary().parameters();
        let mut found: BTreeMap<String, (Use, Vec<usize>)> = BTreeMap::new();
        let mut gradients = Vec::new();
        let mut given = Vec::new();
        let mut needs = Vec::new();
        for (index, formula) in op.derivative.iter().enumerate() {
            // `load.rs` rejects formulas that cannot be read.
            let uses = formula::uses(&formula.text, &schema_names, &outputs).unwrap_or_default();
            for (name, used) in uses.values {
                let entry = found.entry(name).or_insert((used, Vec::new()));
                entry.0 = entry.0.max(used);
                entry.1.push(index);
            }
            gradients.push(uses.gradients);
            given.push(uses.given);
            needs.push(uses.needs);
        }
        let kind_of = |name: &str| {
            let input = parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.kind);
            let output = outputs.iter().position(|output| output == name);
            (input, output)
        };
        let mut kept: Vec<Kept> = found
            .into_iter()
            .filter_map(|(name, (used, users))| {
                let kind = match kind_of(&name) {
                    (Some(kind), _) if kind.is_tensor() => KeptKind::Input(kind, used),
                    (Some(kind), _) => KeptKind::Value(kind),
                    (None, Some(output)) => KeptKind::Output(output, used),
                    (None, None) => return None,
                };
                Some(Kept { name, kind, users })
            })
            .collect();
        let position = |kept: &Kept| parameters.iter().position(|parameter| parameter.name == kept.name);
        kept.sort_by_key(|kept| position(kept).unwrap_or(usize::MAX));
        Plan { parameters, kept, gradients, given, needs }
    }

    /// The arguments for which formulas compute gradients, in order.
    fn differentiable(&self, op: &Op) -> Vec<Parameter> {
        self.parameters.iter().filter(|parameter| op.has_gradient(&parameter.name)).cloned().collect()
    }

    /// The slot of a differentiable argument: a number, plus the lengths of the lists before it.
    fn slot(&self, op: &Op, name: &str, length: impl Fn(&str) -> String) -> String {
        let mut count = 0usize;
        let mut lists = String::new();
        for parameter in self.differentiable(op) {
            if parameter.name == name {
                break;
            }
            match parameter.kind {
                Kind::TensorList => lists.push_str(&format!(" + {}", length(&ident(&parameter)))),
                _ => count += 1,
            }
        }
        format!("{count}{lists}")
    }

    fn is_list(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name && parameter.kind == Kind::TensorList)
    }

    /// `edges.needs(0) || edges.needs(1)`: whether any formula that uses a saved value runs.
    fn condition(&self, op: &Op, kept: &Kept) -> String {
        let mut parts: Vec<String> = Vec::new();
        for &user in &kept.users {
            for input in &op.derivative[user].inputs {
                let slot = self.slot(op, input, |list| format!("{list}.len()"));
                parts.push(if self.is_list(input) {
                    let list = names::rust_identifier(input);
                    format!("edges.needs_any({})", range(&slot, &format!("{list}.len()")))
                } else {
                    format!("edges.needs({slot})")
                });
            }
        }
        parts.dedup();
        parts.join(" || ")
    }

    fn field(kept: &Kept) -> String {
        names::rust_identifier(&kept.name)
    }

    fn saves_memory(&self) -> bool {
        self.kept
            .iter()
            .any(|kept| matches!(kept.kind, KeptKind::Input(_, Use::Whole) | KeptKind::Output(_, Use::Whole)))
    }
}

/// The node's struct and its `Backward`.
pub fn node(op: &Op) -> String {
    let plan = Plan::new(op);
    let mut text = format!("/// The derivative of `{}`.\n", op.name());
    let mut fields = Vec::new();
    for kept in &plan.kept {
        let ty = match kept.kind {
            KeptKind::Input(Kind::TensorList, _) => "MetaList",
            KeptKind::Input(Kind::TensorOptionalList, _) => "Vec<Saved>",
            KeptKind::Input(_, Use::Metadata) | KeptKind::Output(_, Use::Metadata) => "Meta",
            KeptKind::Input(_, Use::Whole) | KeptKind::Output(_, Use::Whole) => "Saved",
            KeptKind::Value(kind) => kind.spelling().rust_owned,
        };
        fields.push(format!("{}: {ty}", Plan::field(kept)));
    }
    for list in plan.differentiable(op).iter().filter(|parameter| parameter.kind == Kind::TensorList) {
        fields.push(format!("{}_len: usize", ident(list)));
    }
    let ty = names::rust_node(op);
    if let Some(formulas) = formulas(op, &plan) {
        let head = format!("derivative! {{ {ty} {:?} {}", op.node, plan.saves_memory());
        return filled(&[head, format!("{{ {} }}", fields.join(", "))]) + &formulas + "}\n";
    }
    text.push_str(&format!("struct {ty} {{\n{}\n}}\n\n", fields.join(",\n")));
    text.push_str(&format!("impl Backward for {ty} {{\n"));
    text.push_str(&format!("fn name(&self) -> &str {{ \"{}\" }}\n\n", op.node));
    text.push_str(&format!("fn saves(&self) -> bool {{ {} }}\n\n", plan.saves_memory()));
    text.push_str("fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {\n");
    for (index, formula) in op.derivative.iter().enumerate() {
        text.push_str(&gradient(op, &plan, index, formula));
    }
    text.push_str("Ok(())\n}\n}\n");
    text
}

/// The formulas as the macro `derivative` takes them; `None` if one is of several gradients, or of those of a list.
fn formulas(op: &Op, plan: &Plan) -> Option<String> {
    let mut text = String::new();
    for (index, formula) in op.derivative.iter().enumerate() {
        let slot: usize = match formula.inputs.as_slice() {
            [input] if !plan.is_list(input) && !plan.needs[index] => {
                plan.slot(op, input, |_| "list".into()).parse().ok()?
            }
            _ => return None,
        };
        let gradient = match plan.gradients[index].as_slice() {
            [] => String::new(),
            [output] => format!("{} {output}", gradient_name(op, *output)),
            _ => return None,
        };
        let kept = plan.kept.iter().filter(|kept| kept.users.contains(&index));
        let kept: Vec<String> = kept.map(|kept| format!("{} {}", way(kept), Plan::field(kept))).collect();
        let formula = formula::to_rust(&formula.text);
        text.push_str(&filled(&[format!("{slot} [{gradient}] ({})", kept.join(", ")), format!("=> {formula};")]));
    }
    Some(text)
}

/// How a formula takes a kept value, as the macro `kept` names it.
fn way(kept: &Kept) -> &'static str {
    match kept.kind {
        KeptKind::Input(Kind::TensorList, _)
        | KeptKind::Input(_, Use::Metadata)
        | KeptKind::Output(_, Use::Metadata) => "meta",
        KeptKind::Input(Kind::TensorOptionalList, _) => "tensors",
        KeptKind::Input(Kind::TensorOptional, Use::Whole) => "option",
        KeptKind::Input(_, Use::Whole) | KeptKind::Output(_, Use::Whole) => "tensor",
        KeptKind::Value(Kind::IntList | Kind::FloatList | Kind::BoolList | Kind::ScalarList) => "list",
        KeptKind::Value(Kind::Str) => "text",
        KeptKind::Value(Kind::IntListOptional | Kind::FloatListOptional | Kind::StrOptional) => "optional",
        KeptKind::Value(_) => "value",
    }
}

/// The statements of one formula.
fn gradient(op: &Op, plan: &Plan, index: usize, formula: &Formula) -> String {
    let slot = |name: &str| plan.slot(op, name, |list| format!("self.{list}_len"));
    let first = &formula.inputs[0];
    let start = slot(first);
    let needed: Vec<String> = formula
        .inputs
        .iter()
        .map(|input| match plan.is_list(input) {
            true => {
                format!("call.needs_any({})", range(&start, &format!("self.{}_len", names::rust_identifier(input))))
            }
            false => format!("call.needs({})", slot(input)),
        })
        .collect();
    let joined = needed.join(" || ");
    let joined = if needed.len() > 1 { format!("({joined})") } else { joined };
    let (condition, gradients) = match plan.gradients[index].as_slice() {
        [] => (joined, String::new()),
        [single] => {
            let name = gradient_name(op, *single);
            (format!("{joined} && let Some({name}) = call.grad({single})"), String::new())
        }
        several => {
            let any: Vec<String> = several.iter().map(|output| format!("call.grad({output}).is_some()")).collect();
            let bind = several
                .iter()
                .map(|output| format!("let {} = &call.grad_or_zeros({output})?;\n", gradient_name(op, *output)));
            (format!("{joined} && ({})", any.join(" || ")), bind.collect())
        }
    };
    let mut text = format!("if {condition} {{\n{gradients}");
    for kept in plan.kept.iter().filter(|kept| kept.users.contains(&index)) {
        text.push_str(&format!("kept!({} call self {});\n", way(kept), Plan::field(kept)));
    }
    for &output in &plan.given[index] {
        let name = gradient_name(op, output).replacen("grad", "given", 1);
        text.push_str(&format!("let {name} = call.grad({output}).is_some();\n"));
    }
    if plan.needs[index] {
        text.push_str(&format!("let needs = [{}];\n", needed.join(", ")));
    }
    let expression = formula::to_rust(&formula.text);
    text.push_str(&match (formula.inputs.len(), plan.is_list(first)) {
        (1, false) => format!("gradients.set({start}, {expression})?;\n"),
        (1, true) => format!("gradients.set_list({start}, {expression})?;\n"),
        _ => joint(plan, op, formula, &expression),
    });
    text.push_str("}\n");
    text
}

/// The slots of a list.
fn range(start: &str, length: &str) -> String {
    if start == "0" { format!("0..{length}") } else { format!("{start}..{start} + {length}") }
}

/// A joint formula returns an array; the slots of its elements need not be adjacent.
fn joint(plan: &Plan, op: &Op, formula: &Formula, expression: &str) -> String {
    let names: Vec<String> = (0..formula.inputs.len()).map(|index| format!("grad_input{index}")).collect();
    let mut text = format!("let [{}] = {expression};\n", names.join(", "));
    for (name, input) in names.iter().zip(&formula.inputs) {
        let slot = plan.slot(op, input, |list| format!("self.{list}_len"));
        text.push_str(&format!("gradients.set_some({slot}, [{name}])?;\n"));
    }
    text
}

fn gradient_name(op: &Op, output: usize) -> String {
    if output == 0 { "grad".into() } else { format!("grad_{}", op.output_names()[output].to_lowercase()) }
}

/// The autograd wrapper of `form`. Forms that cannot be recorded have none.
pub fn wrapper(op: &Op, form: &Form) -> Option<String> {
    let body = match form.kind {
        FormKind::InPlace if op.is_differentiable() => match node_before_write(op, form) {
            Some(line) => return Some(line),
            None => in_place(op, form),
        },
        FormKind::Functional if takes_result(op, form) => return Some(recording(op, form)),
        FormKind::Functional => functional(op, form),
        FormKind::Out | FormKind::InPlace => return None,
    };
    Some(format!("{} {{\n{body}}}\n", function_head("pub", form)))
}

fn edges(differentiable: &[Parameter]) -> String {
    let mut text = "let edges = Edges::new()".to_string();
    for parameter in differentiable {
        let name = ident(parameter);
        text.push_str(&match parameter.kind {
            Kind::TensorOptional => format!(".with_option({name})"),
            Kind::TensorList => format!(".with_list({name})"),
            _ => format!(".with({name})"),
        });
    }
    text + ";\n"
}

/// The struct literal of the node. `outputs` are the expressions of the outputs, `before` the values that have to be kept
/// before a write, one or none for each kept value.
fn literal(op: &Op, plan: &Plan, outputs: &[String], before: &[Option<String>]) -> String {
    let mut fields: Vec<String> = Vec::new();
    for (index, kept) in plan.kept.iter().enumerate() {
        let before = before.get(index).and_then(Option::as_ref);
        let name = Plan::field(kept);
        let condition = plan.condition(op, kept);
        let value = match kept.kind {
            _ if before.is_some() => before.cloned().unwrap_or_default(),
            KeptKind::Input(Kind::TensorList, _) => format!("MetaList::of({name})"),
            KeptKind::Input(Kind::TensorOptionalList, _) => format!("Saved::list_if({condition}, {name})?"),
            KeptKind::Input(_, Use::Metadata) => format!("Meta::of({name})"),
            KeptKind::Input(Kind::TensorOptional, _) => format!("Saved::option_if({condition}, {name})?"),
            KeptKind::Input(..) => format!("Saved::input_if({condition}, {name})?"),
            KeptKind::Output(output, Use::Metadata) => format!("Meta::of({})", outputs[output]),
            KeptKind::Output(0, _) => format!("Saved::output_if({condition}, {})?", outputs[0]),
            KeptKind::Output(output, _) => format!("Saved::nth_output_if({condition}, {}, {output})?", outputs[output]),
            KeptKind::Value(Kind::IntList) => format!("DimVec::from_slice({name})"),
            KeptKind::Value(Kind::IntListOptional) => format!("{name}.map(DimVec::from_slice)"),
            KeptKind::Value(Kind::FloatList | Kind::BoolList | Kind::ScalarList) => format!("{name}.to_vec()"),
            KeptKind::Value(Kind::FloatListOptional) => format!("{name}.map(<[f64]>::to_vec)"),
            KeptKind::Value(Kind::Str) => format!("{name}.to_string()"),
            KeptKind::Value(Kind::StrOptional) => format!("{name}.map(str::to_string)"),
            KeptKind::Value(_) => name.clone(),
        };
        fields.push(if value == name { name } else { format!("{name}: {value}") });
    }
    for list in plan.differentiable(op).iter().filter(|parameter| parameter.kind == Kind::TensorList) {
        let name = ident(list);
        fields.push(format!("{name}_len: {name}.len()"));
    }
    let ty = names::rust_node(op);
    format!("{ty} {{ {} }}", fields.join(", "))
}

/// `self_, other`, where these are all there.
fn plain(differentiable: &[Parameter]) -> Option<String> {
    let all_there = differentiable.iter().all(|parameter| parameter.kind == Kind::Tensor);
    all_there.then(|| arguments(differentiable))
}

/// Whether the wrapper of a functional form records a result that it is given: one tensor, of tensors that are all there. The
/// others call the forward function themselves.
pub fn takes_result(op: &Op, form: &Form) -> bool {
    form.kind == FormKind::Functional
        && !matches!(form.returns(), Returns::Tensors(_))
        && plain(&Plan::new(op).differentiable(op)).is_some()
}

/// The wrapper that records its result.
fn recording(op: &Op, form: &Form) -> String {
    let plan = Plan::new(op);
    let inputs = plain(&plan.differentiable(op)).unwrap_or_default();
    let node = literal(op, &plan, &["result".to_string()], &[]);
    let head = format!("recorded! {{ {}({})", names::rust_function(&form.signature), declarations(&form.parameters()));
    let view = if op.is_view() { format!(" view of {}", ident(&plan.parameters[0])) } else { String::new() };
    filled(&[head, format!("[{inputs}]{view} |edges, result|"), format!("{node} }}")])
}

fn functional(op: &Op, form: &Form) -> String {
    let plan = Plan::new(op);
    let differentiable = plan.differentiable(op);
    let call = forward::call(op, form);
    let (binding, outputs): (String, Vec<String>) = match form.returns() {
        Returns::Tensors(count) => {
            let names: Vec<String> = (0..count).map(|index| format!("result{index}")).collect();
            (format!("({})", names.join(", ")), names)
        }
        _ => ("mut result".into(), vec!["result".into()]),
    };
    let call = if op.is_view() {
        format!("autograd::as_view({}, {call}?)?", ident(&plan.parameters[0]))
    } else {
        format!("{call}?")
    };
    let references: Vec<String> = outputs.iter().map(|output| format!("&{output}")).collect();
    let (record, result) = match outputs.as_slice() {
        [output] => (format!("autograd::record_result(&mut {output}, edges, node)"), output.clone()),
        _ => (format!("autograd::record(&[{}], edges, node)", references.join(", ")), binding.clone()),
    };
    format!(
        "let {binding} = {call};\nif autograd::should_record({}) {{\n{}let node = {};\n{record};\n}}\nOk({result})\n",
        tensor_iterator(&differentiable),
        edges(&differentiable),
        literal(op, &plan, &references, &[])
    )
}

/// The wrapper of a form that writes `self`, where its node can be made before the write: it keeps nothing of the result.
fn node_before_write(op: &Op, form: &Form) -> Option<String> {
    let plan = Plan::new(op);
    if plan.kept.iter().any(|kept| matches!(kept.kind, KeptKind::Output(..))) {
        return None;
    }
    let inputs = plain(&plan.differentiable(op))?;
    let target = ident(&form.written()[0]);
    let values: Vec<Option<String>> = plan.kept.iter().map(|kept| saved_before(op, &plan, kept, &target)).collect();
    let node = literal(op, &plan, &[], &values);
    let name = names::rust_function(&form.signature);
    let head = format!("recorded_write! {{ {name}({})", declarations(&form.parameters()));
    let call = forward::call(op, form);
    Some(filled(&[head, format!("{target} [{inputs}] {call},"), format!("|edges| {node} }}")]))
}

/// Any other wrapper of a form that writes `self`.
fn in_place(op: &Op, form: &Form) -> String {
    let plan = Plan::new(op);
    let differentiable = plan.differentiable(op);
    let target = ident(&form.written()[0]);
    let call = forward::call(op, form);
    let mut text = match plain(&differentiable) {
        Some(inputs) => {
            format!("let Some(edges) = autograd::edges_of_write({target}, &[{inputs}])? else {{\nreturn {call};\n}};\n")
        }
        None => format!(
            "let recording = autograd::should_record({});\n\
             autograd::check_inplace({target}, recording)?;\n\
             if !recording {{\nreturn {call};\n}}\n{}",
            tensor_iterator(&differentiable),
            edges(&differentiable)
        ),
    };
    let mut values = Vec::new();
    for kept in &plan.kept {
        let value = saved_before(op, &plan, kept, &target);
        values.push(value.map(|value| {
            let name = format!("saved_{}", Plan::field(kept).trim_end_matches('_'));
            text.push_str(&format!("let {name} = {value};\n"));
            name
        }));
    }
    text.push_str(&format!(
        "{call}?;\nlet node = {};\nautograd::rebase_history({target}, edges, node)\n",
        literal(op, &plan, std::slice::from_ref(&target), &values)
    ));
    text
}

/// What a node keeps of a tensor argument, before `target` is written; `None` for what it keeps of others.
fn saved_before(op: &Op, plan: &Plan, kept: &Kept, target: &str) -> Option<String> {
    let KeptKind::Input(kind, used) = kept.kind else { return None };
    let name = Plan::field(kept);
    let condition = plan.condition(op, kept);
    Some(match (kind, used) {
        (Kind::TensorList, _) => format!("MetaList::of({name})"),
        (Kind::TensorOptionalList, _) => format!("Saved::list_if({condition}, {name})?"),
        (_, Use::Metadata) => format!("Meta::of({name})"),
        (Kind::TensorOptional, _) => format!("Saved::option_if({condition}, {name})?"),
        _ if name == target => format!("Saved::before_write_if({condition}, {name})?"),
        _ => format!("Saved::input_if({condition}, {name})?"),
    })
}
