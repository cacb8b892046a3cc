//! Traces: graphs compared with those that PyTorch records for the same calls (tests/oracle/script_traces.py), and what a
//! traced module computes.

use rushlight_base::{DType, Device, Result, Scalar};
use rushlight_script::graph::{Attribute, Graph, NodeId, ValueId};
use rushlight_script::module::Module;
use rushlight_script::runtime::value::Value as Item;
use rushlight_script::trace::{Kind, Trace};
use rushlight_script::types::Type;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{Dict, Items, Value, Values, by_name};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const RECORDED: &str = include_str!("data/traces.txt");

// ---- calls -----------------------------------------------------------------------------------------------

/// All results of a call with a value for each argument.
fn calls(name: &str, args: Vec<Value>) -> Result<Vec<Value>> {
    let (name, overload) = name.split_once('.').unwrap_or((name, ""));
    let mut results = Values::new();
    by_name::find(name, overload)?.call_complete(&mut args.into(), &mut results)?;
    Ok(results.to_vec())
}

/// The tensor that a call returns.
fn op(name: &str, args: Vec<Value>) -> Result<Tensor> {
    match calls(name, args)?.into_iter().next() {
        Some(Value::Tensor(tensor)) => Ok(tensor),
        other => panic!("{name} returned {other:?}"),
    }
}

fn tensors(value: Value) -> Vec<Tensor> {
    match value {
        Value::Tensors(tensors) => tensors.into_iter().flatten().collect(),
        other => panic!("{other:?}"),
    }
}

macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$(Arg::from($value).0),*] };
}

/// Arguments of a traced function.
macro_rules! inputs {
    ($($value:expr),* $(,)?) => { [$(Arg::from($value).0),*] };
}

struct Arg(Value);
impl From<&Tensor> for Arg {
    fn from(value: &Tensor) -> Arg {
        Arg(Value::Tensor(value.clone()))
    }
}
impl From<i64> for Arg {
    fn from(value: i64) -> Arg {
        Arg(Value::Scalar(Scalar::Int(value)))
    }
}
impl From<f64> for Arg {
    fn from(value: f64) -> Arg {
        Arg(Value::Scalar(Scalar::Float(value)))
    }
}
impl From<bool> for Arg {
    fn from(value: bool) -> Arg {
        Arg(Value::Scalar(Scalar::Bool(value)))
    }
}
impl From<()> for Arg {
    fn from(_: ()) -> Arg {
        Arg(Value::None)
    }
}
impl From<&str> for Arg {
    fn from(value: &str) -> Arg {
        Arg(value.into())
    }
}
impl<const N: usize> From<[i64; N]> for Arg {
    fn from(value: [i64; N]) -> Arg {
        Arg(Value::from(&value[..]))
    }
}
impl<const N: usize> From<[&Tensor; N]> for Arg {
    fn from(value: [&Tensor; N]) -> Arg {
        Arg(Value::Tensors(value.into_iter().map(|tensor| Some(tensor.clone())).collect()))
    }
}
impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg(value)
    }
}
impl From<DType> for Arg {
    fn from(value: DType) -> Arg {
        Arg(Value::DType(value))
    }
}

fn cpu() -> Value {
    Value::Device(Device::CPU)
}

/// 0, 0.1, 0.2, ...
fn ramp(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let values: Vec<f32> = (0..count).map(|index| index as f32 * 0.1).collect();
    Tensor::from_slice(&values, sizes).unwrap()
}

fn long(values: &[i64], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn values(tensor: &Tensor) -> Vec<f32> {
    op("detach", args![tensor]).unwrap().to_vec().unwrap()
}

// ---- tracing ---------------------------------------------------------------------------------------------

/// A module: its tensors by path. A name before a dot is a submodule, and a buffer begins with `running` or `num`.
#[derive(Clone, Default)]
struct Net(Vec<(&'static str, Tensor)>);

impl Net {
    fn with(mut self, path: &'static str, sizes: &[i64]) -> Net {
        let tensor = ramp(sizes);
        if !is_buffer(path) {
            tensor.set_requires_grad(true).unwrap();
        }
        self.0.push((path, tensor));
        self
    }

    fn get(&self, path: &str) -> &Tensor {
        &self.0.iter().find(|(other, _)| *other == path).unwrap().1
    }

    fn declare(&self, trace: &Trace) -> Result<()> {
        for (path, tensor) in &self.0 {
            let kind = if is_buffer(path) { Kind::Buffer } else { Kind::Parameter };
            if let Some((module, _)) = path.rsplit_once('.')
                && self.0.iter().find(|(other, _)| other.starts_with(module)).is_some_and(|(other, _)| other == path)
            {
                trace.module(module, "Layer", false)?;
            }
            trace.attribute(path, tensor, kind)?;
        }
        Ok(())
    }

    fn begin(&self, inputs: &[Value]) -> Result<Trace> {
        let trace = Trace::begin("Net", false)?;
        self.declare(&trace)?;
        for (index, input) in inputs.iter().enumerate() {
            trace.input(&format!("x{index}"), input)?;
        }
        Ok(trace)
    }

    /// The trace of a function of the module.
    fn trace(&self, inputs: &[Value], run: impl Fn(&Net, &[Value]) -> Result<Value>) -> Result<Trace> {
        let trace = self.begin(inputs)?;
        trace.output(&run(self, inputs)?)?;
        Ok(trace)
    }
}

fn is_buffer(path: &str) -> bool {
    path.contains("running") || path.contains("num_")
}

fn tensor(value: &Value) -> &Tensor {
    match value {
        Value::Tensor(tensor) => tensor,
        other => panic!("{other:?}"),
    }
}

fn tuple(values: Vec<Tensor>) -> Value {
    Value::Tuple(Items::new(values.into_iter().map(Value::Tensor).collect()).unwrap())
}

// ---- graphs as the oracle prints them --------------------------------------------------------------------

fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e16 {
        return format!("{value:.1}");
    }
    match value.abs() < 1e-4 {
        true => {
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once("e-").unwrap();
            format!("{mantissa}e-{exponent:0>2}")
        }
        false => value.to_string(),
    }
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Float(value) => number(value),
        Scalar::Bool(value) => if value { "True" } else { "False" }.into(),
        other => other.to_string(),
    }
}

fn constant(kind: &Type, attribute: Option<&Attribute>) -> String {
    match (kind, attribute) {
        (_, None) => "None".into(),
        (Type::Bool, Some(Attribute::Int(value))) => if *value != 0 { "True" } else { "False" }.into(),
        (_, Some(Attribute::Int(value))) => value.to_string(),
        (_, Some(Attribute::Float(value))) => number(*value),
        (_, Some(Attribute::Str(bytes))) => format!("'{}'", String::from_utf8_lossy(bytes)),
        (_, Some(Attribute::Opaque(value))) => match value.value() {
            Some(Item::Tensor(tensor)) if tensor.ndim() == 0 => scalar(tensor.item().unwrap()),
            Some(Item::Tensor(tensor)) => format!("{}{:?}", tensor.dtype(), tensor.sizes().as_slice()),
            other => panic!("{other:?}"),
        },
        (_, Some(other)) => panic!("{other:?}"),
    }
}

fn printed(graph: &Graph) -> Vec<String> {
    let top = graph.block(graph.top()).unwrap();
    let mut names: HashMap<ValueId, String> = HashMap::new();
    for (index, &input) in top.inputs().iter().enumerate() {
        names.insert(input, if index == 0 { "self".into() } else { format!("${index}") });
    }
    let (mut lines, mut count) = (Vec::new(), 0);
    let nodes: Vec<NodeId> = graph.nodes(graph.top()).collect();
    for id in nodes {
        let node = graph.node(id).unwrap();
        let arguments: Vec<String> = node.inputs().iter().map(|input| names[input].clone()).collect();
        let arguments = arguments.join(", ");
        let text = match &*node.kind {
            "prim::Constant" => constant(&graph.value(node.outputs()[0]).unwrap().kind, node.attribute("value")),
            "prim::GetAttr" => match node.attribute("name") {
                Some(Attribute::Str(name)) => format!("{arguments}.{}", String::from_utf8_lossy(name)),
                other => panic!("{other:?}"),
            },
            "prim::ListConstruct" => format!("[{arguments}]"),
            "prim::TupleConstruct" => format!("({arguments})"),
            "aten::size" => format!("size({arguments})"),
            kind => {
                let mut outputs = Vec::new();
                for &output in node.outputs() {
                    names.insert(output, format!("%{count}"));
                    outputs.push(format!("%{count}"));
                    count += 1;
                }
                lines.push(format!("{} = {kind}({arguments})", outputs.join(", ")));
                continue;
            }
        };
        names.insert(node.outputs()[0], text);
    }
    let outputs: Vec<String> = top.outputs().iter().map(|output| names[output].clone()).collect();
    lines.push(format!("return {}", outputs.join(", ")));
    lines
}

#[track_caller]
fn same_graph(name: &str, module: &Module) {
    let recorded = RECORDED.split("== ").find(|case| case.lines().next() == Some(name)).unwrap();
    let expected: Vec<&str> = recorded.lines().skip(1).collect();
    let graph = module.method("forward").unwrap().graph.clone();
    assert_eq!(printed(&graph), expected, "{name}\n{graph}");
}

/// One test at a time: the check of a trace exchanges the state of the default generator while it runs the function again.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn check(name: &str, net: Net, inputs: &[Value], run: impl Fn(&Net, &[Value]) -> Result<Value>) -> Module {
    let trace = net.trace(inputs, run).unwrap();
    let module = trace.finish(None, true).unwrap();
    same_graph(name, &module);
    // The saved file is the same module.
    let again = Module::from_bytes(module.to_bytes(&[]).unwrap()).unwrap();
    assert_eq!(again.parameters().len(), module.parameters().len());
    let arguments = |module: &Module| module.run_boxed("forward", inputs.to_vec(), &[]).unwrap();
    let is_random = name == "training" || name == "factories";
    if !is_random {
        assert_same(&arguments(&again), &arguments(&module));
    }
    module
}

fn assert_same(a: &Value, b: &Value) {
    let flat = |value: &Value| {
        let mut found = Vec::new();
        value.for_each_tensor(|tensor| found.push(tensor.clone()));
        found
    };
    let (a, b) = (flat(a), flat(b));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert!(rushlight_tensor::ops::equal(a, b).unwrap());
    }
}

// ---- the programs of the oracle --------------------------------------------------------------------------

#[test]
fn a_convolutional_network() {
    let _turn = turn();
    let net = Net::default()
        .with("conv1.weight", &[2, 1, 3, 3])
        .with("conv1.bias", &[2])
        .with("conv2.weight", &[4, 2, 3, 3])
        .with("conv2.bias", &[4])
        .with("fc.weight", &[4, 16])
        .with("fc.bias", &[4]);
    let module = check("lenet", net, &inputs![&ramp(&[1, 1, 14, 14])], |net, x| {
        let layer = |x: &Tensor, name: &str| {
            let (weight, bias) = (net.get(&format!("{name}.weight")), net.get(&format!("{name}.bias")));
            let y = op("conv2d", args![x, weight, bias, [1, 1], [0, 0], [1, 1], 1])?;
            op(
                "max_pool2d",
                args![&op("relu", args![&y])?, [2, 2], Value::from(&[][..] as &[i64]), [0, 0], [1, 1], false],
            )
        };
        let x = layer(&layer(tensor(&x[0]), "conv1")?, "conv2")?;
        let x = op("view", args![&x, [-1, 16]])?;
        let x = op("linear", args![&x, net.get("fc.weight"), net.get("fc.bias")])?;
        Ok(Value::Tensor(op("log_softmax.int", args![&x, 1, ()])?))
    });
    let names: Vec<String> = module.parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc.weight", "fc.bias"]);
    assert_eq!(&**module.class(), "__torch__.Net");
    // -1 leaves the number of images open.
    let batch = module.run_boxed("forward", args![&ramp(&[5, 1, 14, 14])], &[]).unwrap();
    assert_eq!(tensor(&batch).sizes().as_slice(), [5, 4]);
}

#[test]
fn training_mode_is_recorded() {
    let _turn = turn();
    let mut net = Net::default().with("bn.weight", &[3]).with("bn.bias", &[3]);
    net = net.with("bn.running_mean", &[3]).with("bn.running_var", &[3]);
    net.0.push(("bn.num_batches_tracked", long(&[0], &[])));
    let module = check("training", net.clone(), &inputs![&ramp(&[4, 3])], |net, x| {
        op("add_.Scalar", args![net.get("bn.num_batches_tracked"), 1, 1])?;
        let arguments = args![
            x[0].clone(),
            net.get("bn.weight"),
            net.get("bn.bias"),
            net.get("bn.running_mean"),
            net.get("bn.running_var"),
            true,
            0.1,
            1e-5,
            true
        ];
        Ok(Value::Tensor(op("dropout", args![&op("batch_norm", arguments)?, 0.25, true])?))
    });
    // The function ran once; the check has run on a copy.
    assert_eq!(net.get("bn.num_batches_tracked").item().unwrap(), Scalar::Int(1));
    module.run_boxed("forward", args![&ramp(&[4, 3])], &[]).unwrap();
    assert_eq!(net.get("bn.num_batches_tracked").item().unwrap(), Scalar::Int(2));
    assert_eq!(module.buffers().len(), 3);
}

#[test]
fn in_place_operators_and_views() {
    let _turn = turn();
    check("in_place", Net::default(), &inputs![&ramp(&[2, 3])], |_, x| {
        let y = op("mul.Scalar", args![tensor(&x[0]), 2])?;
        op("add_.Scalar", args![&y, 1.5, 1])?;
        op("fill_.Scalar", args![&op("select.int", args![&y, 1, 0])?, 3.0])?;
        op("mul_.Tensor", args![&y, &y])?;
        Ok(Value::Tensor(op("sub_.Tensor", args![&y, tensor(&x[0]), 1])?))
    });
}

#[test]
fn lists_of_tensors_are_unpacked() {
    let _turn = turn();
    check("lists", Net::default(), &inputs![&ramp(&[2, 4])], |_, x| {
        let x = tensor(&x[0]);
        let halves = tensors(calls("chunk", args![x, 2, 1])?.remove(0));
        let largest = op("max.dim", args![x, 1, false])?;
        let top = calls("topk", args![x, 2, -1, true, true])?;
        let stack = op("stack", args![[&halves[0], &halves[1]], 0])?;
        let parts = tensors(calls("unbind.int", args![&stack, 0])?.remove(0));
        let joined = op("cat", args![[&parts[0], &parts[1]], 1])?;
        let rows = op("slice.Tensor", args![x, 0, 0, i64::MAX, 1])?;
        let columns = op("to.device", args![&long(&[0, 1], &[2]), cpu(), DType::I64, false, false, ()])?;
        let picked = op("index.Tensor", args![&rows, Value::Tensors(vec![None, Some(columns)])])?;
        Ok(tuple(vec![joined, picked, largest, tensor(&top[0]).clone(), tensor(&top[1]).clone()]))
    });
}

#[test]
fn factories_are_calls() {
    let _turn = turn();
    check("factories", Net::default(), &inputs![&ramp(&[2, 3])], |_, x| {
        let x = tensor(&x[0]);
        let a = op("zeros", args![[2, 3], (), (), cpu(), false])?;
        let b = op("full", args![[3], 2.5, DType::F64, (), cpu(), false])?;
        let c = op("arange", args![3, (), (), cpu(), false])?;
        let d = op("zeros_like", args![x, (), (), (), false, ()])?;
        let e = op("new_ones", args![x, [2, 3], (), (), (), false])?;
        let f = op("randn", args![[2, 3], (), (), cpu(), false])?;
        let sum = |a: &Tensor, b: &Tensor| op("add.Tensor", args![a, b, 1]);
        Ok(Value::Tensor(sum(&sum(&sum(&sum(&sum(&a, &b)?, &c)?, &d)?, &e)?, &f)?))
    });
}

#[test]
fn out_forms_write_into_their_argument() {
    let _turn = turn();
    check("out_form", Net::default(), &inputs![&ramp(&[2, 3])], |_, x| {
        let x = tensor(&x[0]);
        let y = op("empty.memory_format", args![[2, 3], (), (), cpu(), false, ()])?;
        op("mul.out", args![x, x, &y])?;
        Ok(Value::Tensor(y))
    });
}

#[test]
fn arguments_and_results_are_containers() {
    let _turn = turn();
    let x = ramp(&[2, 3]);
    let pair = tuple(vec![x.clone(), ramp(&[2, 3])]);
    let list = Value::Tensors(vec![Some(ramp(&[2, 3])), Some(ramp(&[2, 3]))]);
    check("containers", Net::default(), &[pair, list], |_, inputs| {
        let mut given = Vec::new();
        inputs.iter().for_each(|value| value.for_each_tensor(|tensor| given.push(tensor.clone())));
        let sum = op("add.Tensor", args![&given[0], &given[1], 1])?;
        let product = op("mul.Tensor", args![&given[2], &given[3]])?;
        let entries = vec![("sum".into(), Value::Tensor(sum)), ("product".into(), Value::Tensor(product))];
        Ok(Value::Dict(Dict::new(entries)?))
    });
}

#[test]
fn recurrent_layers() {
    let _turn = turn();
    let mut net = Net::default().with("embed.weight", &[6, 4]).with("lstm.weight_ih_l0", &[20, 4]);
    net = net.with("lstm.weight_hh_l0", &[20, 5]).with("lstm.bias_ih_l0", &[20]).with("lstm.bias_hh_l0", &[20]);
    net = net.with("fc.weight", &[2, 5]).with("fc.bias", &[2]);
    let state = || ramp(&[1, 2, 5]);
    check("recurrent", net, &inputs![&long(&[1, 2, 3, 4, 5, 0], &[2, 3]), &state(), &state()], |net, x| {
        let embedded = op("embedding", args![net.get("embed.weight"), tensor(&x[0]), -1, false, false])?;
        let weights =
            ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"].map(|name| net.get(&format!("lstm.{name}")));
        let states = [tensor(&x[1]), tensor(&x[2])];
        let results = calls("lstm.input", args![&embedded, states, weights, true, 1, 0.0, true, false, true])?;
        let steps = op("slice.Tensor", args![tensor(&results[0]), 0, 0, i64::MAX, 1])?;
        let last = op("select.int", args![&steps, 1, -1])?;
        let scores = op("linear", args![&last, net.get("fc.weight"), net.get("fc.bias")])?;
        Ok(tuple(vec![scores, tensor(&results[1]).clone()]))
    });
}

#[test]
fn convolutions_have_the_name_of_pytorchs_traces() {
    let _turn = turn();
    let net = Net::default().with("w1", &[3, 2, 3]).with("w2", &[3, 2, 3]).with("b2", &[2]);
    check("convolutions", net, &inputs![&ramp(&[1, 2, 9])], |net, x| {
        let y = op("conv1d", args![tensor(&x[0]), net.get("w1"), (), [2], [1], [1], 1])?;
        let z = op("conv_transpose1d", args![&y, net.get("w2"), net.get("b2"), [2], [1], [1], 1, [1]])?;
        Ok(Value::Tensor(op("conv1d.padding", args![&z, net.get("w1"), (), [1], "same", [1], 1])?))
    });
}

#[test]
fn attention() {
    let _turn = turn();
    check("attention", Net::default(), &inputs![&ramp(&[2, 3, 4]), &ramp(&[2, 3, 4])], |_, x| {
        let scores = op("matmul", args![tensor(&x[0]), &op("transpose.int", args![tensor(&x[1]), 1, 2])?])?;
        let scores = op("div.Scalar", args![&scores, 2.0])?;
        let y = op("softmax.int", args![&scores, -1, ()])?;
        let y = op("layer_norm", args![&y, [3], (), (), 1e-5, true])?;
        Ok(Value::Tensor(op("scaled_dot_product_attention", args![&y, &y, &y, (), 0.0, false, (), false])?))
    });
}

/// The function `sizes` of the oracle, with numbers.
fn by_sizes(_: &Net, x: &[Value]) -> Result<Value> {
    let x = tensor(&x[0]);
    let y = op("view", args![x, [x.sizes()[0], -1]])?;
    let z = op("expand", args![&y, [2, y.sizes()[0], y.sizes()[1]], false])?;
    let sum = op("sum.dim_IntList", args![&z, [0, 2], false, ()])?;
    let zeros = op("zeros", args![[x.sizes()[0], 2], (), (), cpu(), false])?;
    Ok(tuple(vec![sum, op("add.Scalar", args![&zeros, 1, 1])?]))
}

#[test]
fn a_second_example_shows_which_numbers_are_sizes() {
    let _turn = turn();
    let net = Net::default();
    let first = net.trace(&inputs![&ramp(&[2, 3, 4])], by_sizes).unwrap();
    let second = net.trace(&inputs![&ramp(&[5, 3, 7])], by_sizes).unwrap();
    let module = first.finish(Some(&second), true).unwrap();
    let lines = printed(&module.method("forward").unwrap().graph);
    // 12 and 21 are 3 times the last size of the argument, but the second size of the view exactly. 2 and 5 are found at
    // the argument first, where PyTorch reads the view.
    let expected = [
        "%0 = aten::view($1, [size($1, 0), -1])",
        "%1 = aten::expand(%0, [2, size($1, 0), size(%0, 1)], False)",
        "%2 = aten::sum(%1, [0, 2], False, None)",
        "%3 = aten::zeros([size($1, 0), 2], None, None, 'cpu', False)",
        "%4 = aten::add(%3, 1, 1)",
        "return (%2, %4)",
    ];
    assert_eq!(lines, expected);
    let other = module.run_boxed("forward", args![&ramp(&[3, 2, 2])], &[]).unwrap();
    assert_same(&other, &by_sizes(&net, &inputs![&ramp(&[3, 2, 2])]).unwrap());
    // With one example, they are constants.
    let fixed = first.finish(None, true).unwrap();
    assert!(fixed.run_boxed("forward", args![&ramp(&[3, 2, 2])], &[]).is_err());
}

#[test]
fn numbers_that_follow_from_no_size_are_an_error() {
    let _turn = turn();
    let net = Net::default();
    let run = |size: i64, number: i64| {
        net.trace(&inputs![&ramp(&[size])], |_, x| {
            Ok(Value::Tensor(op("add.Scalar", args![tensor(&x[0]), number, 1])?))
        })
    };
    // 6 = 2 * 3, 9 = 3 * 3
    let product = run(2, 6).unwrap().finish(Some(&run(3, 9).unwrap()), true).unwrap();
    assert!(product.method("forward").unwrap().graph.to_string().contains("aten::mul"));
    let error = run(2, 7).unwrap().finish(Some(&run(3, 13).unwrap()), true).map(drop).unwrap_err();
    assert!(error.message().contains("7 for the first example and 13 for the second"), "{error}");
    let shorter = net.trace(&inputs![&ramp(&[3])], |_, x| Ok(x[0].clone())).unwrap();
    let error = run(2, 6).unwrap().finish(Some(&shorter), true).map(drop).unwrap_err();
    assert!(error.message().contains("1 operators for the first example and 0 for the second"), "{error}");
}

// ---- constants, warnings and errors ----------------------------------------------------------------------

#[test]
fn tensors_from_elsewhere_are_constants() {
    let _turn = turn();
    let elsewhere = ramp(&[3]);
    let run = |_: &Net, x: &[Value]| Ok(Value::Tensor(op("add.Tensor", args![tensor(&x[0]), &elsewhere, 1])?));
    let module = Net::default().trace(&inputs![&ramp(&[3])], run).unwrap().finish(None, true).unwrap();
    op("add_.Scalar", args![&elsewhere, 100, 1]).unwrap();
    let result = module.run_boxed("forward", args![&ramp(&[3])], &[]).unwrap();
    assert_eq!(values(tensor(&result)), [0.0, 0.2, 0.4]);

    // A state of the program that the function writes: each run begins from its value when it was traced.
    let state = ramp(&[2]);
    let run = |_: &Net, _: &[Value]| Ok(Value::Tensor(op("add_.Scalar", args![&state, 1, 1])?));
    let module = Net::default().trace(&inputs![&ramp(&[3])], run).unwrap().finish(None, true).unwrap();
    for _ in 0..2 {
        let result = module.run_boxed("forward", args![&ramp(&[3])], &[]).unwrap();
        assert_eq!(values(tensor(&result)), [1.0, 1.1]);
    }

    let weight = ramp(&[3]);
    weight.set_requires_grad(true).unwrap();
    let run = |_: &Net, x: &[Value]| Ok(Value::Tensor(op("mul.Tensor", args![tensor(&x[0]), &weight])?));
    let error = Net::default().trace(&inputs![&ramp(&[3])], run).map(drop).unwrap_err();
    assert!(error.message().contains("Cannot insert a Tensor that requires grad as a constant"), "{error}");
    assert!(!Trace::is_active());
}

#[test]
fn results_can_be_differentiated() {
    let _turn = turn();
    let net = Net::default().with("weight", &[1, 3]);
    let run = |net: &Net, x: &[Value]| Ok(Value::Tensor(op("linear", args![tensor(&x[0]), net.get("weight"), ()])?));
    let module = net.trace(&inputs![&ramp(&[1, 3])], run).unwrap().finish(None, true).unwrap();
    let result = module.run_boxed("forward", args![&ramp(&[1, 3])], &[]).unwrap();
    rushlight_tensor::autograd::backward(&[tensor(&result)], &[None], false, false, &[]).unwrap();
    // The parameter of the trace is the tensor of the module.
    assert_eq!(values(&net.get("weight").grad().unwrap()), [0.0, 0.1, 0.2]);
    // Arguments that require gradients have theirs.
    let x = ramp(&[1, 3]);
    x.set_requires_grad(true).unwrap();
    let result = module.run_boxed("forward", args![&x], &[]).unwrap();
    rushlight_tensor::autograd::backward(&[tensor(&result)], &[None], false, false, &[]).unwrap();
    assert_eq!(values(&x.grad().unwrap()), [0.0, 0.1, 0.2]);
}

#[test]
fn a_check_finds_what_was_not_recorded() {
    let _turn = turn();
    let shown = std::cell::Cell::new(1.0);
    let run = |_: &Net, x: &[Value]| {
        // The function reads a number, and keeps state.
        let sum = op("sum", args![tensor(&x[0]), ()])?.item()?.to_f64();
        shown.set(shown.get() + 1.0);
        Ok(Value::Tensor(op("add.Scalar", args![tensor(&x[0]), sum, 1])?))
    };
    // With the same argument, the number is the same.
    Net::default().trace(&inputs![&ramp(&[2])], run).unwrap().finish(None, true).unwrap();
    // A write that the tracer does not see.
    let state = ramp(&[2]);
    let trace = Net::default().begin(&inputs![&ramp(&[2])]).unwrap();
    let product = op("mul.Scalar", args![&state, 2,]).unwrap();
    trace.stop();
    op("add_.Scalar", args![&product, 1, 1]).unwrap();
    trace.output(&Value::Tensor(product)).unwrap();
    let error = trace.finish(None, true).map(drop).unwrap_err();
    assert!(
        error.message().starts_with(
            "check_trace: the output of the trace differs from that of the function: at [0] it is 0 instead of 1"
        ),
        "{error}"
    );
    trace.finish(None, false).unwrap();
}

#[test]
fn traces_do_not_nest_and_leave_nothing_behind() {
    let _turn = turn();
    let trace = Net::default().begin(&inputs![&ramp(&[2])]).unwrap();
    assert!(Trace::is_active());
    assert!(Trace::begin("Other", false).map(drop).unwrap_err().message().contains("cannot be nested"));
    // Another thread is not traced.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(!Trace::is_active());
            op("add.Scalar", args![&ramp(&[2]), 1, 1]).unwrap();
        });
    });
    assert!(op("add.Tensor", args![&ramp(&[2]), &ramp(&[3]), 1]).is_err());
    assert!(trace.finish(None, true).map(drop).unwrap_err().message().contains("no output"));
    drop(trace);
    assert!(!Trace::is_active());
    // Freed by another thread: the next trace begins.
    let trace = Net::default().begin(&inputs![&ramp(&[2])]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(trace));
    });
    assert!(!Trace::is_active());
    op("add.Scalar", args![&ramp(&[2]), 1, 1]).unwrap();
    drop(Net::default().begin(&inputs![&ramp(&[2])]).unwrap());
}

#[test]
fn wrong_declarations_are_errors() {
    let _turn = turn();
    let x = ramp(&[2]);
    let error = |result: Result<()>| result.unwrap_err().message().to_owned();
    let trace = Net::default().begin(&inputs![&x]).unwrap();
    assert!(error(trace.input("x0", &Value::Tensor(ramp(&[1])))).contains("'x0' cannot be the name of an argument"));
    assert!(error(trace.input("for", &Value::Tensor(ramp(&[1])))).contains("'for'"));
    assert!(error(trace.input("y", &Value::Tensor(x.clone()))).contains("another argument or a parameter"));
    assert!(error(trace.input("y", &Value::from(1i64))).contains("Type 'int' cannot be traced"));
    assert!(error(trace.attribute("a.b", &x, Kind::Buffer)).contains("declared before the module 'a'"));
    trace.module("a", "Layer", false).unwrap();
    assert!(error(trace.attribute("a", &x, Kind::Buffer)).contains("two attributes 'a'"));
    assert!(error(trace.attribute("training", &x, Kind::Buffer)).contains("two attributes"));
    assert!(error(trace.output(&Value::from(1i64))).contains("Only tensors, lists, tuples of tensors"));
}

#[test]
fn memory_of_dead_tensors_is_not_mistaken() {
    let _turn = turn();
    // Each temporary may get the address of one before it.
    let run = |_: &Net, x: &[Value]| {
        let mut y = tensor(&x[0]).clone();
        for step in 0..50 {
            // Not an operator: the tracer has not seen this tensor.
            let fresh = Tensor::from_slice(&[step as f32; 2], &[2])?;
            y = op("add.Tensor", args![&y, &fresh, 1])?;
        }
        Ok(Value::Tensor(y))
    };
    let module = Net::default().trace(&inputs![&ramp(&[2])], run).unwrap().finish(None, true).unwrap();
    let result = module.run_boxed("forward", args![&ramp(&[2])], &[]).unwrap();
    assert_eq!(values(tensor(&result)), [1225.0, 1225.1]);
}

#[test]
fn modules_of_one_class_share_it() {
    let _turn = turn();
    let net = Net::default().with("a.weight", &[2]).with("b.weight", &[2]).with("c.bias", &[2]);
    let run = |net: &Net, x: &[Value]| {
        let y = op("mul.Tensor", args![tensor(&x[0]), net.get("a.weight")])?;
        Ok(Value::Tensor(op(
            "mul.Tensor",
            args![&op("mul.Tensor", args![&y, net.get("b.weight")])?, net.get("c.bias")],
        )?))
    };
    let module = net.trace(&inputs![&ramp(&[2])], run).unwrap().finish(None, true).unwrap();
    let classes: Vec<String> = module.children().iter().map(|(_, child)| child.class().to_string()).collect();
    assert_eq!(classes[0], classes[1]);
    assert_ne!(classes[0], classes[2]);
    assert!(classes.iter().all(|class| class.ends_with(".Layer")), "{classes:?}");
    module.train(true).unwrap();
    let code: String = module.printed_code().unwrap().into_values().collect();
    assert!(code.contains("def forward(self: __torch__.Net,\n    x0: Tensor) -> Tensor:"), "{code}");
}
