//! The forward assembly: snapshot, shape rule, memory for the result, kernel. Most operators use `dispatch::assembly`;
//! code is generated for those with several outputs, or with optional tensors or lists of tensors.

use super::text::{arguments, function_head, ident, kernel_arguments, result_type, snapshot_iterator, snapshots};
use crate::model::{Body, Devices, Form, FormKind, Op, OutDtype, Parameter};
use crate::names;
use crate::types::Kind;

/// Whether `form` has a forward function. If not, the public function calls a composite itself.
pub fn exists(op: &Op, form: &Form) -> bool {
    let written_for_it = form.kind == FormKind::Functional || std::ptr::eq(form, op.primary());
    match op.body {
        Body::Each { .. } => false,
        _ => !op.is_composite() || op.is_differentiable() || !written_for_it,
    }
}

/// `composite::linear(input, weight, bias)`
pub fn composite_call(op: &Op, form: &Form) -> String {
    let path = match &op.body {
        Body::Composite(path) => path,
        Body::Each { calls, .. } => {
            let at = op.forms.iter().position(|other| std::ptr::eq(other, form));
            return at.and_then(|at| calls.get(at).cloned()).unwrap_or_default();
        }
        Body::Kernel { .. } | Body::View(_) => return String::new(),
    };
    let parameters = if form.kind == FormKind::Out { form.inputs() } else { form.parameters() };
    format!("{path}({})", arguments(&parameters))
}

/// What the forward function of `form` does, as the macro `forms` takes it: the rule and the kernel, a composite, or
/// `written` where [`function`] writes it.
pub fn line(op: &Op, form: &Form) -> String {
    if !exists(op, form) {
        return format!("call {}", composite_call(op, form));
    }
    if let (true, Some(path)) = (op.is_composite(), op.writer(form)) {
        return format!("call {path}({})", arguments(&form.parameters()));
    }
    assembled(op, form).unwrap_or_else(|| "written".into())
}

/// The forward function of `form`, where it is more than a rule and a kernel.
pub fn function(op: &Op, form: &Form) -> Option<String> {
    if line(op, form) != "written" {
        return None;
    }
    let body = match (&op.body, form.kind) {
        (Body::Kernel { shape, cpu }, FormKind::Functional) => functional(op, form, shape.as_deref(), cpu),
        (Body::Kernel { shape, cpu }, FormKind::Out) => out(op, form, shape.as_deref(), cpu),
        (Body::Kernel { shape: Some(shape), cpu }, FormKind::InPlace) if !std::ptr::eq(form, op.primary()) => {
            in_place(op, form, shape, cpu)
        }
        (Body::Kernel { shape, cpu }, FormKind::InPlace) => in_place_only(op, form, shape.as_deref(), cpu),
        (Body::View(path), _) => view(op, form, path),
        (Body::Composite(_) | Body::Each { .. }, kind) => return Some(composite(op, form, kind)),
    };
    Some(format!(
        "{} {{\ndispatch::named(\"{}\", || {{\n{body}}})\n}}\n",
        function_head("pub", form),
        form.signature.qualified_name()
    ))
}

/// The rule and the kernel for `dispatch::assembly`, where all tensors are there and one is written.
fn assembled(op: &Op, form: &Form) -> Option<String> {
    let Body::Kernel { shape: Some(shape), cpu } = &op.body else { return None };
    let inputs = form.inputs();
    let simple = |parameter: &Parameter| !parameter.kind.is_tensor() || parameter.kind == Kind::Tensor;
    let tensors: Vec<String> = inputs.iter().filter(|input| input.kind == Kind::Tensor).map(ident).collect();
    let checked = op.devices == Devices::Same || tensors.is_empty();
    if !inputs.iter().all(simple) || op.primary().signature.returns.len() != 1 || !checked || op.is_on_host() {
        return None;
    }
    let overlap = op.overlap.variant();
    let (kind, settings) = match form.kind {
        FormKind::Functional => ("result", String::new()),
        FormKind::InPlace if std::ptr::eq(form, op.primary()) => return None,
        FormKind::InPlace => ("in_place", format!(" {overlap}")),
        FormKind::Out => ("out", format!(" {overlap}, {}", ident(&form.written()[0]))),
    };
    let (rule, given) = (rule_call(op, form, shape), kernel_arguments(op, form).join(", "));
    Some(format!("{kind} [{}]{settings}; {rule}, {cpu}({given})", tensors.join(", ")))
}

/// `rules::add(self_, other, alpha)`, with all arguments unless the declaration names the arguments of the rule.
fn rule_call(op: &Op, form: &Form, path: &str) -> String {
    let mut list = kernel_arguments(op, form);
    let (path, named) = path.split_once('(').map_or((path, None), |(path, rest)| (path, Some(rest)));
    if let Some(named) = named.map(|rest| rest.trim_end_matches(')')) {
        let inputs = op.primary().inputs();
        let named = named.split(", ").filter_map(|name| inputs.iter().position(|input| input.name == name));
        list = named.map(|index| list[index].clone()).collect();
    }
    let rule = format!("{path}({})", list.join(", "));
    let inputs = form.inputs();
    let dtype = inputs.iter().find(|input| form.kind == FormKind::InPlace && input.kind == Kind::DTypeOptional);
    match dtype {
        Some(dtype) => {
            format!("dispatch::check_inplace_dtype({}, {}).and_then(|()| {rule})", ident(&inputs[0]), ident(dtype))
        }
        None if form.kind == FormKind::Out && op.out_dtype != OutDtype::Any && form.written().len() == 1 => {
            format!("{rule}.and_then(|spec| dispatch::own_dtype(spec, {}))", ident(&form.written()[0]))
        }
        None => rule,
    }
}

fn kernel_call(op: &Op, form: &Form, path: &str, outputs: &[String]) -> String {
    let mut list: Vec<String> = outputs.iter().map(|output| format!("&{output}")).collect();
    list.extend(kernel_arguments(op, form));
    format!("{path}({})", list.join(", "))
}

/// `result`, or `result0`, `result1`, ...
fn numbered(name: &str, count: usize) -> Vec<String> {
    if count == 1 { vec![name.to_string()] } else { (0..count).map(|index| format!("{name}{index}")).collect() }
}

/// `let spec = rule;` or `let [spec0, spec1] = rule;`
fn specs(op: &Op, form: &Form, shape: Option<&str>, count: usize) -> String {
    let rule = rule_call(op, form, shape.unwrap_or_default());
    let names = numbered("spec", count);
    if count == 1 { format!("let spec = {rule}?;\n") } else { format!("let [{}] = {rule}?;\n", names.join(", ")) }
}

/// `written`: the tensors, as before the call, that the kernel writes to.
fn guarded_kernel(
    op: &Op,
    form: &Form,
    cpu: &str,
    outputs: &[String],
    inputs: &[Parameter],
    written: &[String],
) -> String {
    let kernel = kernel_call(op, form, cpu, outputs);
    let outcome = |kernel: String| match written {
        [] => format!("{kernel}?;\n"),
        written => format!("dispatch::written({kernel}, [{}])?;\n", written.join(", ")),
    };
    let body = if op.is_on_host() {
        let copies = on_host(op, form, cpu, outputs, inputs);
        format!("if {}.is_on_host() {{\n{}}} else {{\n{copies}}}\n", outputs[0], outcome(kernel))
    } else {
        outcome(kernel)
    };
    format!(
        "if dispatch::has_kernel(\"{}\", &{}, {})? {{\n{body}}}\n",
        form.signature.qualified_name(),
        outputs[0],
        inputs_to_check(op, inputs)
    )
}

/// The CPU's kernel over copies of the tensors on the host, whose results are copied to the device.
fn on_host(op: &Op, form: &Form, cpu: &str, outputs: &[String], inputs: &[Parameter]) -> String {
    let hosts: Vec<String> = outputs.iter().map(|output| format!("{output}_on_host")).collect();
    let mut text = String::new();
    for (host, output) in hosts.iter().zip(outputs) {
        text.push_str(&format!("let {host} = dispatch::result_on_host(&{output})?;\n"));
    }
    for parameter in inputs {
        let name = ident(parameter);
        match parameter.kind {
            Kind::Tensor => text.push_str(&format!("let {name} = &dispatch::on_host({name})?;\n")),
            Kind::TensorOptional => {
                text.push_str(&format!("let {name} = {name}.as_ref().map(dispatch::on_host).transpose()?;\n"));
            }
            Kind::TensorList => text.push_str(&format!("let {name} = dispatch::list_on_host(&{name})?;\n")),
            _ => {}
        }
    }
    text.push_str(&format!("{}?;\n", kernel_call(op, form, cpu, &hosts)));
    for (host, output) in hosts.iter().zip(outputs) {
        text.push_str(&format!("dispatch::from_host(&{output}, &{host})?;\n"));
    }
    text
}

/// The tensors that must be on the device of the output.
fn inputs_to_check(op: &Op, inputs: &[Parameter]) -> String {
    match op.devices {
        Devices::Same => snapshot_iterator(inputs),
        Devices::Any => "[]".into(),
    }
}

fn functional(op: &Op, form: &Form, shape: Option<&str>, cpu: &str) -> String {
    let inputs = form.inputs();
    let count = form.signature.returns.len();
    let results = numbered("result", count);
    let mut text = snapshots(&inputs);
    if count == 1 {
        text.push_str(&format!("let result = {}?.make()?;\n", rule_call(op, form, shape.unwrap_or_default())));
    } else {
        text.push_str(&specs(op, form, shape, count));
        for (index, result) in results.iter().enumerate() {
            text.push_str(&format!("let {result} = spec{index}.make()?;\n"));
        }
    }
    text.push_str(&guarded_kernel(op, form, cpu, &results, &inputs, &[]));
    let tensors: Vec<String> = results.iter().map(|result| format!("{result}.into_tensor()")).collect();
    match tensors.as_slice() {
        [single] => text.push_str(&format!("Ok({single})\n")),
        several => text.push_str(&format!("Ok(({}))\n", several.join(", "))),
    }
    text
}

fn out(op: &Op, form: &Form, shape: Option<&str>, cpu: &str) -> String {
    let inputs = form.inputs();
    let written = form.written();
    let specs_names = numbered("spec", written.len());
    let places = numbered("place", written.len());
    let mut text = snapshots(&inputs);
    text.push_str(&specs(op, form, shape, written.len()));
    let iterator = snapshot_iterator(&inputs);
    for ((spec, place), parameter) in specs_names.iter().zip(&places).zip(&written) {
        let target = ident(parameter);
        if written.len() > 1 && op.out_dtype != OutDtype::Any {
            text.push_str(&format!("dispatch::check_own_dtype({spec}.dtype, {target})?;\n"));
        }
        text.push_str(&format!("let {place} = {spec}.prepare_out({target}, {}, {iterator})?;\n", op.overlap.variant()));
    }
    let targets: Vec<String> = written.iter().map(ident).collect();
    text.push_str(&guarded_kernel(op, form, cpu, &places, &inputs, &targets));
    let finishes: Vec<String> =
        places.iter().zip(&targets).map(|(place, target)| format!("{place}.finish({target})")).collect();
    text.push_str(&finishes.join("?;\n"));
    text.push('\n');
    text
}

fn in_place(op: &Op, form: &Form, shape: &str, cpu: &str) -> String {
    let inputs = form.inputs();
    let target = ident(&inputs[0]);
    let mut text = format!("let tensor = {target};\n");
    text.push_str(&snapshots(&inputs));
    text.push_str(&specs(op, form, Some(shape), 1));
    let others = snapshot_iterator(&inputs[1..]);
    text.push_str(&format!("let place = spec.prepare_inplace({target}, {}, {others})?;\n", op.overlap.variant()));
    text.push_str(&guarded_kernel(op, form, cpu, &["place".to_string()], &inputs, &["tensor".to_string()]));
    text.push_str("place.finish(tensor)\n");
    text
}

/// Operators that exist only in place: the kernel receives the written tensors as its own arguments.
fn in_place_only(op: &Op, form: &Form, shape: Option<&str>, cpu: &str) -> String {
    let inputs = form.inputs();
    let written = form.written();
    let mut text = String::new();
    for parameter in &written {
        let name = ident(parameter);
        text.push_str(&format!("let {} = {name};\n", kept(&written, parameter)));
    }
    text.push_str(&snapshots(&inputs));
    if let Some(shape) = shape {
        text.push_str(&format!("{}?;\n", rule_call(op, form, shape)));
    }
    for parameter in &written {
        let name = ident(parameter);
        match parameter.kind {
            Kind::TensorList => text.push_str(&format!("{name}.iter().try_for_each(Dense::check_writable)?;\n")),
            _ => text.push_str(&format!("{name}.check_writable()?;\n")),
        }
    }
    let first = ident(&written[0]);
    let place = if written[0].kind == Kind::TensorList {
        text.push_str(&format!("let Some(first) = {first}.first() else {{ return Ok(()) }};\n"));
        "first".to_string()
    } else {
        first
    };
    let others: Vec<Parameter> = inputs.iter().filter(|parameter| parameter.name != written[0].name).cloned().collect();
    let others = inputs_to_check(op, if written[0].kind == Kind::TensorList { &inputs } else { &others });
    let tensors = written.iter().map(|parameter| kept(&written, parameter)).collect::<Vec<_>>().join(", ");
    let lists = written[0].kind == Kind::TensorList;
    let (tensors, count) = if lists {
        text.push_str(&format!("let written = [{tensors}].concat();\n"));
        ("written.iter().copied()".to_string(), "written.into_iter().for_each(Tensor::bump_version);\n".to_string())
    } else {
        (format!("[{tensors}]"), format!("{}.bump_version();\n", tensors.replace(", ", ".bump_version();\n")))
    };
    text.push_str(&format!(
        "if dispatch::has_kernel(\"{}\", {place}, {others})? {{\ndispatch::written({}, {tensors})?;\n}}\n{count}",
        form.signature.qualified_name(),
        kernel_call(op, form, cpu, &[])
    ));
    text.push_str("Ok(())\n");
    text
}

/// The name for a written argument while its own name denotes the snapshot.
fn kept(written: &[Parameter], parameter: &Parameter) -> String {
    match (written.len(), parameter.kind) {
        (1, Kind::Tensor) => "tensor".to_string(),
        _ => format!("written_{}", ident(parameter).trim_end_matches('_')),
    }
}

fn view_rule(op: &Op, form: &Form, path: &str) -> String {
    let inputs = form.inputs();
    let mut list = kernel_arguments(op, form);
    list[0] = "viewed".into();
    format!(
        "let viewed = &*{}.dense()?;\n{}let geometry = {path}({})?;\n",
        ident(&inputs[0]),
        snapshots(&inputs[1..]),
        list.join(", ")
    )
}

fn view(op: &Op, form: &Form, path: &str) -> String {
    let rule = view_rule(op, form, path);
    format!("{rule}Ok({}.view_of(viewed, geometry))\n", ident(&form.inputs()[0]))
}

/// The forms of a composite, made by copying unless a function writes them; and the functional form, if it has a
/// derivative.
fn composite(op: &Op, form: &Form, kind: FormKind) -> String {
    let call = composite_call(op, form);
    let body = match kind {
        FormKind::Functional => format!("let _below = dispatch::Below::autograd();\n{call}\n"),
        FormKind::InPlace => {
            let target = ident(&form.written()[0]);
            format!(
                "let result = {{\nlet {target} = &dispatch::before_write({target})?;\n{call}?\n}};\n\
                 dispatch::write_in_place(&result, {target})\n"
            )
        }
        FormKind::Out => {
            let written = form.written();
            let results = numbered("result", written.len());
            let binding = if written.len() == 1 { "result".to_string() } else { format!("({})", results.join(", ")) };
            let write = if op.out_dtype == OutDtype::Any { "write_result" } else { "write_own_result" };
            let copies: Vec<String> = results
                .iter()
                .zip(&written)
                .map(|(result, parameter)| format!("dispatch::{write}(&{result}, {})", ident(parameter)))
                .collect();
            format!("let {binding} = {call}?;\n{}\n", copies.join("?;\n"))
        }
    };
    debug_assert!(kind == FormKind::Functional || result_type(form) == "()");
    format!("{} {{\n{body}}}\n", function_head("pub", form))
}

/// The call of the forward function, for callers above.
pub fn call(op: &Op, form: &Form) -> String {
    let line = line(op, form);
    match line.split_once(' ') {
        Some(("call", call)) => call.to_string(),
        _ => {
            let module = if line == "written" { "written" } else { "forward" };
            format!("{module}::{}({})", names::rust_function(&form.signature), arguments(&form.parameters()))
        }
    }
}
