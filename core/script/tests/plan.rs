//! Compiled methods: the plans compute what the interpreter computes, and what has no plan is left to it.

use rushlight_base::{DType, ErrorKind, bf16, cancel};
use rushlight_script::module::Module;
use rushlight_script::passes;
use rushlight_script::program::Program;
use rushlight_script::runtime::dict::Dict;
use rushlight_script::runtime::function::{Function, Linker};
use rushlight_script::runtime::list::List;
use rushlight_script::runtime::object::{Role, Tuple};
use rushlight_script::runtime::value::Value;
use rushlight_script::runtime::{Environment, run};
use rushlight_script::types::Type;
use rushlight_tensor::{Tensor, autograd};
use std::sync::Arc;
use std::time::Duration;

/// Numbers that look random and repeat exactly.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn tensor(sizes: &[i64], seed: u32) -> Tensor {
    Tensor::from_slice(&numbers(sizes.iter().product::<i64>() as usize, seed), sizes).unwrap()
}

fn values(value: &Value) -> Vec<f32> {
    value.as_tensor().unwrap().to_vec::<f32>().unwrap()
}

fn is_close(found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Tuple(found), Value::Tuple(expected)) => {
            assert_eq!(found.items().len(), expected.items().len());
            found.items().iter().zip(expected.items()).for_each(|(found, expected)| is_close(found, expected));
        }
        _ => {
            let (a, b) = (found.as_tensor().unwrap(), expected.as_tensor().unwrap());
            assert_eq!((a.sizes(), a.strides(), a.dtype()), (b.sizes(), b.strides(), b.dtype()));
            let (found, expected) = (values(found), values(expected));
            let most = expected.iter().fold(1e-6f32, |most, value| most.max(value.abs()));
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!((found - expected).abs() <= 2e-5 * most, "element {at}: {found}, not {expected}");
            }
        }
    }
}

/// The function `f` of a program, compiled and not.
struct Pair {
    environment: Environment,
    compiled: Function,
    plain: Arc<Function>,
}

impl Pair {
    fn of(source: &str) -> Pair {
        let program = Program::compile(source).unwrap();
        let plain = program.function("f").unwrap();
        let compiled = Function::new("f", plain.graph.clone(), plain.schema.clone()).compiled(DType::F32);
        Pair { environment: Environment::new(program), compiled, plain }
    }

    fn plan(&self) -> String {
        self.compiled.plans().unwrap().describe()
    }

    fn call(&self, arguments: &[Value]) -> Value {
        run(&self.compiled, arguments.to_vec(), &self.environment).unwrap()
    }

    /// Calls both, three times.
    fn check(&self, arguments: &[Value]) {
        for _ in 0..3 {
            let expected = run(&self.plain, arguments.to_vec(), &self.environment).unwrap();
            is_close(&self.call(arguments), &expected);
        }
    }

    /// Whether the function runs by a plan.
    fn is_planned(&self) -> bool {
        self.plan().contains(" steps, ")
    }
}

const CHAIN: &str = "def f(x: Tensor, y: Tensor) -> Tensor:
    a = torch.relu(x + y)
    b = torch.matmul(a, a.t()) * 0.5
    c = torch.softmax(b, 1)
    c = c.transpose(0, 1).contiguous()
    c += 1
    return torch.sigmoid(c.view(-1))
";

#[test]
fn a_plan_computes_what_the_interpreter_computes() {
    let pair = Pair::of(CHAIN);
    for size in [3, 5, 8] {
        pair.check(&[tensor(&[size, 4], 1).into(), tensor(&[4], 2).into()]);
    }
    assert_eq!(pair.plan().matches(" steps, ").count(), 3, "{}", pair.plan());
    // A view is no step.
    assert!(!pair.plan().contains("transpose") && !pair.plan().contains("view"), "{}", pair.plan());
}

#[test]
fn intermediate_results_share_memory() {
    let steps = "    x = torch.relu(x) * 1.5\n    x = torch.tanh(x)\n".repeat(8);
    let pair = Pair::of(&format!("def f(x: Tensor) -> Tensor:\n{steps}    return x * 2\n"));
    pair.check(&[tensor(&[1024], 3).into()]);
    let (bytes, unshared) = pair.compiled.plans().unwrap().memory().unwrap();
    assert_eq!(bytes, 2 * 4096);
    assert!(unshared >= 16 * 4096, "{unshared}");
}

/// A result belongs to the caller: later runs do not write it.
#[test]
fn results_are_new_in_each_run() {
    let pair = Pair::of("def f(x: Tensor):\n    y = x * 2\n    return y, y + 1, (y + 1).view(-1), x\n");
    let (a, b) = (tensor(&[2, 3], 1), tensor(&[2, 3], 2));
    let first = pair.call(&[a.clone().into()]);
    let before: Vec<Vec<f32>> = first.as_tuple().unwrap().items().iter().map(values).collect();
    let second = pair.call(&[b.into()]);
    let after: Vec<Vec<f32>> = first.as_tuple().unwrap().items().iter().map(values).collect();
    assert_eq!(before, after);
    assert_ne!(values(&second.as_tuple().unwrap().items()[0]), before[0]);
    // An argument that is returned is the same tensor.
    assert!(first.as_tuple().unwrap().items()[3].as_tensor().unwrap().is(&a));
    assert!(pair.is_planned());
}

/// What depends on shapes only is computed once: masks, positions, numbers of elements.
#[test]
fn what_depends_on_shapes_becomes_constant() {
    let pair = Pair::of(
        "def f(x: Tensor) -> Tensor:
    n = x.size(0)
    mask = torch.arange(n).unsqueeze(0) <= torch.arange(n).unsqueeze(1)
    scores = torch.matmul(x, x.t()) / float(x.numel()) ** 0.5
    if n > 2:
        scores = scores.masked_fill(torch.logical_not(mask), -1e4)
    for i in range(n):
        scores = scores + i
    return torch.softmax(scores, -1)
",
    );
    for size in [2, 4] {
        pair.check(&[tensor(&[size, 3], 5).into()]);
    }
    let plan = pair.plan();
    assert!(pair.is_planned() && !plan.contains("arange") && !plan.contains("le.Tensor"), "{plan}");
}

#[test]
fn lists_tuples_dicts_and_numbers_may_be_arguments_and_results() {
    let pair = Pair::of(
        "def f(xs: List[Tensor], d: Dict[str, Tensor], t: Tuple[Tensor, int], k: Optional[float] = None):
    total = torch.cat(xs) + d['a']
    parts = torch.split(total, 2)
    if k is not None:
        total = total * k
    return total, parts[0] + t[0] * t[1], xs[0]
",
    );
    let dict = Dict::new(Type::Str, Type::Tensor);
    dict.insert("a".into(), tensor(&[4], 7).into()).unwrap();
    for k in [Value::None, Value::Float(2.5)] {
        let list = List::tensors(vec![tensor(&[1], 1), tensor(&[3], 2)]);
        let pair_of = Tuple::new(vec![tensor(&[2], 3).into(), Value::Int(3)]);
        pair.check(&[list.into(), dict.clone().into(), pair_of.into(), k]);
    }
    assert_eq!(pair.plan().matches(" steps, ").count(), 2, "{}", pair.plan());
}

/// A number that is another one in each call does not fill the memory with plans.
#[test]
fn a_function_of_many_numbers_is_left_to_the_interpreter() {
    let pair = Pair::of("def f(x: Tensor, k: int) -> Tensor:\n    return torch.relu(x) * k\n");
    for k in 0..100 {
        let expected = run(&pair.plain, vec![tensor(&[3], 1).into(), Value::Int(k)], &pair.environment).unwrap();
        is_close(&pair.call(&[tensor(&[3], 1).into(), Value::Int(k)]), &expected);
    }
    assert_eq!(pair.plan().matches(" steps, ").count(), 16);
    assert!(!pair.plan().contains(", 99)"), "{}", pair.plan());
    pair.check(&[tensor(&[3], 1).into(), Value::Int(31)]);
}

/// Functions with effects, or whose control flow depends on elements, keep their meaning.
#[test]
fn what_has_no_plan_is_run_by_the_interpreter() {
    let x = || Value::from(tensor(&[4], 1));
    for (source, reason) in [
        ("def f(x: Tensor):\n    if bool(x.sum() > 100):\n        return x\n    return x + 1\n", "meta"),
        ("def f(x: Tensor):\n    return x + float(x.sum())\n", "meta"),
        ("def f(x: Tensor):\n    return torch.rand(4) * 0 + x\n", "random"),
        ("def f(x: Tensor):\n    print(x.size(0))\n    return x + 1\n", "prints"),
        ("def f(x: Tensor):\n    x.add_(1)\n    return x * 1\n", "writes an input"),
        ("def f(x: Tensor):\n    return torch.nonzero(x > 0).float()\n", "nonzero"),
    ] {
        let pair = Pair::of(source);
        let expected = run(&pair.plain, vec![x()], &pair.environment).unwrap();
        for _ in 0..2 {
            is_close(&pair.call(&[x()]), &expected);
        }
        let plan = pair.plan();
        assert!(plan.contains("run by the interpreter, because") && plan.contains(reason), "{source}{plan}");
    }
}

#[test]
fn calls_that_need_gradients_are_recorded() {
    let pair = Pair::of("def f(x: Tensor) -> Tensor:\n    return (x * x).sum()\n");
    let x = tensor(&[3], 1);
    pair.check(&[x.clone().into()]);
    x.set_requires_grad(true).unwrap();
    let result = pair.call(&[x.into()]);
    assert!(result.as_tensor().unwrap().requires_grad());
}

/// A function that asks for the grad mode, or whether a tensor requires a gradient, gets the answer of each call.
#[test]
fn the_grad_mode_is_that_of_the_call() {
    let pair = Pair::of(
        "def f(x: Tensor) -> Tensor:\n    if torch.is_grad_enabled():\n        return x + 1\n    return x + 2\n",
    );
    let asks =
        Pair::of("def f(x: Tensor) -> Tensor:\n    if x.requires_grad:\n        return x + 1\n    return x + 2\n");
    let before = autograd::is_grad_enabled();
    for enabled in [true, false, true] {
        autograd::set_grad_enabled(enabled);
        pair.check(&[tensor(&[3], 1).into()]);
        asks.check(&[tensor(&[3], 1).into()]);
    }
    autograd::set_grad_enabled(false);
    let x = tensor(&[3], 1);
    x.set_requires_grad(true).unwrap();
    asks.check(&[x.into()]);
    autograd::set_grad_enabled(before);
    assert!(pair.is_planned() && asks.is_planned());
}

/// Errors leave the plan as it was, and name the operator.
#[test]
fn an_error_in_a_run_leaves_the_plan_usable() {
    let pair = Pair::of("def f(x: Tensor, at: Tensor) -> Tensor:\n    return torch.relu(x)[at] + 1\n");
    let at = |index: i64| Value::from(Tensor::from_slice(&[index, 0], &[2]).unwrap());
    let x = || Value::from(tensor(&[4], 1));
    pair.check(&[x(), at(3)]);
    assert!(pair.is_planned());
    let error = run(&pair.compiled, vec![x(), at(9)], &pair.environment).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Index);
    assert!(error.message().contains("out of bounds"), "{error}");
    pair.check(&[x(), at(2)]);
}

/// A network with batch norms, a residual connection with a projection, and pooling.
fn network() -> Module {
    let module = Module::create(Program::new(), "Net").unwrap();
    let sizes: [(&str, &[i64]); 13] = [
        ("w1", &[8, 3, 3, 3]),
        ("b1", &[8]),
        ("m1", &[8]),
        ("v1", &[8]),
        ("g1", &[8]),
        ("h1", &[8]),
        ("w2", &[8, 8, 3, 3]),
        ("w3", &[16, 8, 1, 1]),
        ("w4", &[16, 8, 1, 1]),
        ("w5", &[16, 1, 3, 3]),
        ("b5", &[16]),
        ("w6", &[10, 16]),
        ("b6", &[10]),
    ];
    for (index, (name, sizes)) in sizes.into_iter().enumerate() {
        let mut value = tensor(sizes, index as u32 + 40);
        if name == "v1" {
            let positive: Vec<f32> = value.to_vec::<f32>().unwrap().iter().map(|value| value.abs() + 0.5).collect();
            value = Tensor::from_slice(&positive, sizes).unwrap();
        }
        module.register(name, None, value.into(), Role::Parameter).unwrap();
    }
    module.register("training", None, Value::Bool(true), Role::Plain).unwrap();
    module
        .define(
            "def forward(self, x: Tensor) -> Tensor:
    if self.training:
        self.m1.mul_(0.9)
    x = torch.conv2d(x, self.w1, self.b1, 1, 1)
    x = torch.batch_norm(x, self.g1, self.h1, self.m1, self.v1, self.training, 0.1, 1e-5, False)
    x = torch.relu_(x)
    y = torch.conv2d(x, self.w2, None, 1, 1)
    y = torch.leaky_relu(y, 0.1)
    y = torch.conv2d(y, self.w3)
    z = torch.conv2d(x, self.w4)
    y += z
    y = torch.relu(y)
    y = torch.hardtanh_(torch.conv2d(y, self.w5, self.b5, 2, 1, 1, 16), 0., 6.)
    return torch.addmm(self.b6, y.mean([2, 3]), self.w6.t())
",
        )
        .unwrap();
    module
}

#[test]
fn a_network_is_compiled_with_what_follows_its_layers() {
    let module = network();
    assert!(passes::optimize_for_inference(&module, &[]).is_err(), "a module in training is not compiled");
    module.train(false).unwrap();
    let compiled = passes::optimize_for_inference(&module, &[]).unwrap();
    for (batch, size) in [(1, 9), (2, 12), (3, 9)] {
        let x = || Value::from(tensor(&[batch, 3, size, size], batch as u32));
        let expected = module.forward(vec![x()]).unwrap();
        for _ in 0..3 {
            is_close(&compiled.forward(vec![x()]).unwrap(), &expected);
        }
    }
    let plan = compiled.method("forward").unwrap().plans().unwrap().describe();
    for step in
        ["convolution + relu(", "convolution + leaky_relu(", "convolution + add + relu(", "convolution + hardtanh("]
    {
        assert_eq!(plan.matches(step).count(), 3, "{step}\n{plan}");
    }
    assert!(!plan.contains("batch_norm"), "{plan}");
}

/// A module with these parameters and this method `forward`, for inference.
fn module_of(parameters: &[(&str, &[i64])], source: &str) -> Module {
    let module = Module::create(Program::new(), "Layers").unwrap();
    for (index, (name, sizes)) in parameters.iter().enumerate() {
        module.register(name, None, tensor(sizes, index as u32 + 60).into(), Role::Parameter).unwrap();
    }
    module.register("training", None, Value::Bool(true), Role::Plain).unwrap();
    module.define(source).unwrap();
    module.train(false).unwrap();
    module
}

/// Compares a compiled module with the module, and finds these steps in its plan.
fn check_compiled(module: &Module, argument: impl Fn() -> Value, steps: &[&str]) {
    let compiled = passes::optimize_for_inference(module, &[]).unwrap();
    let expected = module.forward(vec![argument()]).unwrap();
    for _ in 0..3 {
        is_close(&compiled.forward(vec![argument()]).unwrap(), &expected);
    }
    let plan = compiled.method("forward").unwrap().plans().unwrap().describe();
    for step in steps {
        assert!(plan.contains(step), "{step}\n{plan}");
    }
}

#[test]
fn functions_and_additions_of_views_become_a_part_of_products() {
    for (then, step) in [("gelu(y)", "gelu"), ("gelu(y, approximate='tanh')", "gelu"), ("silu(y)", "silu")] {
        let source = format!(
            "def forward(self, x: Tensor) -> Tensor:
    y = torch.nn.functional.linear(x, self.w, self.b)
    y = torch.nn.functional.{then}
    return x + torch.nn.functional.linear(y, self.v)
"
        );
        let module = module_of(&[("w", &[48, 40]), ("b", &[48]), ("v", &[40, 48])], &source);
        let x = || tensor(&[5, 9, 40], 3).into();
        check_compiled(&module, x, &[&format!("addmm + {step}("), "mm + add("]);
    }
}

/// A plan has the kernel of a direction, not the operators of its steps.
#[test]
fn recurrent_layers_and_embedding_bags_are_one_step() {
    let parameters: [(&str, &[i64]); 4] = [("w", &[16, 3]), ("u", &[16, 4]), ("b", &[16]), ("c", &[16])];
    let module = module_of(
        &parameters,
        "def forward(self, x: Tensor) -> Tensor:
    rows = x.view([15, 3])
    bags = torch.embedding_bag(rows, torch.arange(6), torch.arange(0, 6, 2), False, 0, False, None, False)[0]
    h = torch.zeros([1, 3, 4])
    weights = [self.w, self.u, self.b, self.c]
    return torch.lstm(x + bags, [h, h], weights, True, 1, 0.0, False, False, False)[0]
",
    );
    let x = || tensor(&[5, 3, 3], 3).into();
    check_compiled(&module, x, &["_embedding_bag_sums(", "_lstm_layer("]);
}

/// Images that are read as views, or returned, stay channels first.
#[test]
fn images_are_channels_last_where_depthwise_convolutions_gain() {
    let source = "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    x = torch.relu(torch.conv2d(x, self.first, None, 2, 1))
    y = torch.hardtanh(torch.conv2d(x, self.wide), 0., 6.)
    y = torch.nn.functional.hardswish(torch.conv2d(y, self.deep, None, 1, 1, 1, 96))
    y = y * torch.sigmoid(y.mean([2, 3], True))
    y = x + torch.conv2d(y, self.narrow)
    z = torch.relu_(torch.conv2d(y, self.wide)) + 1.0
    return (y, z, torch.nn.functional.linear(y.view(y.size(0), -1), self.last))
";
    let module = module_of(
        &[
            ("first", &[16, 8, 3, 3]),
            ("wide", &[96, 16, 1, 1]),
            ("deep", &[96, 1, 3, 3]),
            ("narrow", &[16, 96, 1, 1]),
            ("last", &[4, 16 * 12 * 12]),
        ],
        source,
    );
    let x = || tensor(&[2, 8, 24, 24], 7).into();
    let steps = [
        "= clone.out(float32 [2, 16, 12, 12] at",
        "float32 [2, 96, 12, 12] channels last",
        "= clone.out(float32 [2, 16, 12, 12] channels last",
        "= clone.out(float32 [2, 96, 12, 12] channels last",
    ];
    check_compiled(&module, x, &steps);
}

/// Pooling and other operators write channels last into the memory of the plan.
#[test]
fn operators_between_convolutions_keep_channels_last() {
    let source = "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
    x = torch.conv2d(x, self.wide)
    y = torch.mish(torch.conv2d(x, self.deep, None, 1, 2, 1, 64)) * self.scale - torch.tanh(x)
    p = torch.nn.functional.elu(torch.conv2d(torch.avg_pool2d(y, 2), self.deep, None, 1, 2, 1, 64))
    q = torch.nn.functional.adaptive_avg_pool2d(p, [3, 3])
    u = torch.clamp(torch.upsample_nearest2d(p, None, [2.0, 2.0]) + y, -1.0, 2.0)
    return (q, torch.conv2d(u, self.narrow).flatten(1))
";
    let module = module_of(
        &[("wide", &[64, 16, 1, 1]), ("deep", &[64, 1, 5, 5]), ("scale", &[1, 64, 1, 1]), ("narrow", &[16, 64, 1, 1])],
        source,
    );
    let x = || tensor(&[3, 16, 14, 14], 9).into();
    let steps = [
        "avg_pool2d.out(float32 [3, 64, 14, 14] channels last",
        "upsample_nearest2d.out(float32 [3, 64, 7, 7] channels",
    ];
    check_compiled(&module, x, &steps);
}

/// Each thread has its own memory.
#[test]
fn threads_run_a_compiled_module_at_the_same_time() {
    let module = network();
    module.train(false).unwrap();
    let compiled = passes::optimize_for_inference(&module, &[]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let (module, compiled) = (&module, &compiled);
            scope.spawn(move || {
                let x = || Value::from(tensor(&[1, 3, 9, 9], thread));
                let expected = module.forward(vec![x()]).unwrap();
                for _ in 0..20 {
                    is_close(&compiled.forward(vec![x()]).unwrap(), &expected);
                }
            });
        }
    });
}

/// A run in parts computes the same, by a plan and by the interpreter, and so do runs that take turns.
#[test]
fn runs_go_on_step_by_step() {
    let module = network();
    module.train(false).unwrap();
    let compiled = passes::optimize_for_inference(&module, &[]).unwrap();
    for module in [&module, &compiled] {
        let x = |seed: u32| Value::from(tensor(&[1, 3, 9, 9], seed));
        let mut runs = [1, 2].map(|seed| module.begin_method("forward", vec![x(seed)], vec![]).unwrap());
        assert!(runs[0].result().is_err(), "a run that is not done has a result");
        let mut parts = 0;
        let mut done = false;
        while !done {
            done = true;
            for run in &mut runs {
                done &= run.step(Duration::ZERO).unwrap();
            }
            parts += 1;
            assert!(parts < 100);
        }
        assert!(parts > 5, "all operators ran at once");
        for (seed, run) in [1, 2].into_iter().zip(&mut runs) {
            is_close(run.result().unwrap(), &module.forward(vec![x(seed)]).unwrap());
            assert!(run.step(Duration::ZERO).unwrap(), "a run that is done stays done");
        }
    }
    let mut whole = compiled.begin_method("forward", vec![tensor(&[1, 3, 9, 9], 1).into()], vec![]).unwrap();
    assert_eq!(whole.progress(), Some(0.0));
    assert!(whole.step(Duration::MAX).unwrap());
    assert_eq!(whole.progress(), Some(1.0));
}

#[test]
fn a_cancelled_run_ends_with_an_error_and_leaves_the_plan_usable() {
    let module = network();
    module.train(false).unwrap();
    let compiled = passes::optimize_for_inference(&module, &[]).unwrap();
    let x = || Value::from(tensor(&[1, 3, 9, 9], 1));
    let expected = compiled.forward(vec![x()]).unwrap();
    let mut run = compiled.begin_method("forward", vec![x()], vec![]).unwrap();
    assert!(!run.step(Duration::ZERO).unwrap());
    let token = cancel::CancelToken::new();
    token.cancel();
    cancel::enter(&token).unwrap();
    let error = run.step(Duration::MAX).err();
    cancel::leave(&token).unwrap();
    assert_eq!(error.unwrap().kind(), ErrorKind::Cancelled);
    assert!(run.step(Duration::MAX).is_err(), "a run that failed goes on");
    is_close(&compiled.forward(vec![x()]).unwrap(), &expected);
}

/// Layers that are packed read weights once; another module with other weights has its own.
#[test]
fn modules_do_not_share_packed_weights() {
    let (first, second) = (network(), network());
    for module in [&first, &second] {
        module.train(false).unwrap();
    }
    let doubled: Vec<f32> =
        tensor(&[8, 3, 3, 3], 40).to_vec::<f32>().unwrap().iter().map(|value| value * 2.0).collect();
    second.set_attribute("w1", Tensor::from_slice(&doubled, &[8, 3, 3, 3]).unwrap().into()).unwrap();
    let x = || Value::from(tensor(&[1, 3, 9, 9], 1));
    for module in [&first, &second] {
        let compiled = passes::optimize_for_inference(module, &[]).unwrap();
        is_close(&compiled.forward(vec![x()]).unwrap(), &module.forward(vec![x()]).unwrap());
    }
}

/// A matrix with its elements rounded, as compiled modules with such weights keep them: a scale for each output, which is a
/// row, or a column.
fn rounded(weight: &Tensor, dtype: DType, is_row: bool) -> Tensor {
    let [rows, columns] = [weight.sizes()[0] as usize, weight.sizes()[1] as usize];
    let mut values = weight.to_vec::<f32>().unwrap();
    let (outputs, inputs) = if is_row { (rows, columns) } else { (columns, rows) };
    for output in 0..outputs {
        let at = |input: usize| if is_row { output * columns + input } else { input * columns + output };
        let scale = (0..inputs).fold(0.0f32, |most, input| most.max(values[at(input)].abs())) / 127.0;
        for value in (0..inputs).map(at) {
            values[value] = match dtype {
                DType::BF16 => bf16::from_f32(values[value]).to_f32(),
                _ => (values[value] / scale).round_ties_even() * scale,
            };
        }
    }
    Tensor::from_slice(&values, &weight.sizes()).unwrap()
}

const LINEAR: &str = "def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.nn.functional.linear(x, self.w1, self.b1))
    x = torch.matmul(x, self.w2)
    y = torch.nn.functional.linear(x, self.w3)
    return torch.nn.functional.linear(y + torch.matmul(x, self.w4), self.w5, self.b5)
";

/// Linear layers. The last one is too small for less precision; the weights of `w2` and `w4` have an output for each column.
fn linear(round: impl Fn(&str, Tensor) -> Tensor) -> Module {
    let module = Module::create(Program::new(), "Linear").unwrap();
    let sizes: [(&str, &[i64]); 7] = [
        ("w1", &[70, 33]),
        ("b1", &[70]),
        ("w2", &[70, 131]),
        ("w3", &[64, 131]),
        ("w4", &[131, 64]),
        ("w5", &[9, 64]),
        ("b5", &[9]),
    ];
    for (index, (name, sizes)) in sizes.into_iter().enumerate() {
        let value = round(name, tensor(sizes, index as u32 + 60));
        module.register(name, None, value.into(), Role::Parameter).unwrap();
    }
    module.register("training", None, Value::Bool(false), Role::Plain).unwrap();
    module.define(LINEAR).unwrap();
    module
}

#[test]
fn weights_in_less_precision_compute_with_rounded_weights() {
    let module = linear(|_, weight| weight);
    let before = rushlight_base::runtime::num_threads();
    for (dtype, name) in [(DType::BF16, "bfloat16"), (DType::I8, "int8")] {
        let exact = linear(|name, weight| match name {
            "w1" | "w3" => rounded(&weight, dtype, true),
            "w2" | "w4" => rounded(&weight, dtype, false),
            _ => weight,
        });
        let compiled = passes::compile(&module, &[], dtype).unwrap();
        for threads in [1, 2] {
            rushlight_base::runtime::set_num_threads(threads).unwrap();
            for sizes in [&[1, 33][..], &[3, 33], &[12, 33], &[13, 33], &[31, 33], &[90, 33], &[2, 5, 33], &[33]] {
                let x = || Value::from(tensor(sizes, 7));
                is_close(&compiled.forward(vec![x()]).unwrap(), &exact.forward(vec![x()]).unwrap());
            }
        }
        let plan = compiled.method("forward").unwrap().plans().unwrap().describe();
        let first = format!("{}\n", plan.split("\nforward").next().unwrap());
        assert_eq!(first.matches(&format!(", weights {name}\n")).count(), 4, "{plan}");
        assert_eq!(first.matches(", weights float32\n").count(), 1, "{plan}");
        assert!(first.contains(&format!("addmm + relu(float32 [1, 33] input), weights {name}\n")), "{plan}");
    }
    rushlight_base::runtime::set_num_threads(before as i64).unwrap();
}

/// Plans read what they packed: the matrices that they were made of belong to the module only.
#[test]
fn weights_in_less_precision_take_less_memory() {
    let module = linear(|_, weight| weight);
    let weight = module.attribute("w4").unwrap().as_tensor().unwrap().clone();
    let users = || weight.dense().unwrap().storage.use_count();
    let bytes = [DType::F32, DType::BF16, DType::I8].map(|dtype| {
        let compiled = passes::compile(&module, &[], dtype).unwrap();
        assert_eq!(compiled.method("forward").unwrap().plans().unwrap().weights(), None);
        let before = users();
        let run = |rows| compiled.forward(vec![tensor(&[rows, 33], 3).into()]).unwrap();
        run(64);
        assert_eq!(users(), before, "{dtype}");
        let bytes = compiled.method("forward").unwrap().plans().unwrap().weights().unwrap();
        run(2);
        assert_eq!(users() > before, dtype == DType::F32);
        bytes
    });
    assert!(bytes[1] * 10 < bytes[0] * 6 && bytes[2] * 10 < bytes[0] * 4, "{bytes:?}");
    assert!(passes::compile(&module, &[], DType::F16).is_err());
}

/// Layers whose weights int8 cannot represent, and convolutions, keep them.
#[test]
fn weights_that_do_not_fit_stay_as_they_are() {
    let module = linear(|name, weight| match name {
        "w3" => {
            let mut values = weight.to_vec::<f32>().unwrap();
            values[3] = f32::INFINITY;
            Tensor::from_slice(&values, &weight.sizes()).unwrap()
        }
        _ => weight,
    });
    let compiled = passes::compile(&module, &[], DType::I8).unwrap();
    for rows in [2, 50] {
        compiled.forward(vec![tensor(&[rows, 33], 3).into()]).unwrap();
    }
    let plan = compiled.method("forward").unwrap().plans().unwrap().describe();
    assert_eq!(plan.matches(", weights float32\n").count(), 4, "{plan}");
    assert_eq!(plan.matches(", weights int8\n").count(), 6, "{plan}");
    let images = network();
    images.train(false).unwrap();
    let compiled = passes::compile(&images, &[], DType::BF16).unwrap();
    let x = || Value::from(tensor(&[1, 3, 9, 9], 1));
    is_close(&compiled.forward(vec![x()]).unwrap(), &images.forward(vec![x()]).unwrap());
    let plan = compiled.method("forward").unwrap().plans().unwrap().describe();
    assert!(plan.contains("weights float32") && !plan.contains("weights bfloat16"), "{plan}");
}
