//! Observers of calls and the profiler.

use rushlight_base::{Result, Scalar, err, memory};
use rushlight_tensor::dispatch::{Value, Values, by_name, runtime_ops};
use rushlight_tensor::observe::{self, Call, Described, Needs, Observer, Scope, Settings};
use rushlight_tensor::profile::{self, Event, Options, Profile, SortBy, Table};
use rushlight_tensor::{Tensor, autograd, ops};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

const THIS_THREAD: Options = Options { shapes: false, memory: false, this_thread: true, scopes: 0 };

/// Held for writing by a test that observes all threads, so that it sees no calls of the others; these hold it for reading.
static TURN: RwLock<()> = RwLock::new(());

fn alone() -> RwLockWriteGuard<'static, ()> {
    TURN.write().unwrap_or_else(PoisonError::into_inner)
}

fn beside_others() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

fn ones(sizes: &[i64]) -> Tensor {
    ops::ones(sizes, rushlight_tensor::Options::default()).unwrap()
}

fn range(name: &str) -> Option<observe::Range> {
    observe::begin(Scope::User, Described { name: name.to_owned(), ..Described::default() })
}

fn profiled(options: Options, body: impl FnOnce()) -> Profile {
    profile::start(options).unwrap();
    body();
    profile::stop().unwrap()
}

fn named<'a>(profile: &'a Profile, name: &str) -> Vec<&'a Event> {
    profile.events.iter().filter(|event| profile.name(event) == name).collect()
}

fn one<'a>(profile: &'a Profile, name: &str) -> &'a Event {
    match named(profile, name).as_slice() {
        [event] => event,
        found => panic!("{} events {name} among {:?}", found.len(), profile.names),
    }
}

#[test]
fn inner_calls_are_children_whose_time_is_not_self_time() {
    let _turn = beside_others();
    let x = ones(&[64, 64]);
    let profile = profiled(THIS_THREAD, || {
        let _range = range("step");
        // Linear calls other operators.
        ops::linear(&x, &x, None).unwrap();
    });
    let (step, linear, mm) = (one(&profile, "step"), one(&profile, "aten::linear"), one(&profile, "aten::mm"));
    assert_eq!((step.depth, step.parent, step.scope), (0, None, Scope::User));
    assert_eq!((linear.depth, linear.parent), (1, Some(0)));
    assert!(mm.depth > linear.depth && mm.duration > 0);
    assert!(linear.start >= step.start && linear.start + linear.duration <= step.start + step.duration);
    for (at, event) in profile.events.iter().enumerate() {
        let inner: u64 =
            profile.events.iter().filter(|other| other.parent == Some(at)).map(|other| other.duration).sum();
        assert_eq!(event.self_duration, event.duration - inner, "{}", profile.name(event));
    }
    let total: u64 = profile.events.iter().map(|event| event.self_duration).sum();
    assert_eq!(total, step.duration);
}

#[test]
fn every_form_of_call_is_recorded_once() {
    let _turn = beside_others();
    let x = ones(&[3]);
    let out = ones(&[3]);
    let profile = profiled(THIS_THREAD, || {
        ops::add_tensor(&x, &x, Scalar::Int(1)).unwrap();
        ops::add_tensor_(&out, &x, Scalar::Int(1)).unwrap();
        ops::mul_out(&x, &x, &out).unwrap();
        by_name::call("aten::sub", "Tensor", vec![Value::from(&x), Value::from(&x)], vec![]).unwrap();
        ops::view(&x, &[1, 3]).unwrap();
        // A lazy conjugate is materialized on the way to the kernel.
        let z = ops::conj(&ops::to_dtype(&x, rushlight_base::DType::C64, false, false, None).unwrap()).unwrap();
        ops::exp(&z).unwrap();
    });
    for name in ["aten::add", "aten::add_", "aten::mul", "aten::sub", "aten::view", "aten::conj", "aten::exp"] {
        assert_eq!(named(&profile, name).len(), 1, "{name}");
    }
    assert_eq!(named(&profile, "aten::conj_physical").len(), 1);
}

#[test]
fn operators_of_the_program_are_recorded_with_their_inner_calls() {
    let _turn = beside_others();
    let op = runtime_ops::define("profiled::twice(Tensor x) -> Tensor").unwrap();
    let kernel = |args: &[Value]| {
        let Some(Value::Tensor(x)) = args.first() else { return Err(err!(Internal, "no tensor")) };
        let mut results = Values::new();
        results.put(ops::add_tensor(x, x, Scalar::Int(1))?);
        Ok(results)
    };
    op.implement(runtime_ops::KernelKey::Composite, Arc::new(kernel));
    let x = ones(&[2]);
    let profile = profiled(THIS_THREAD, || {
        by_name::call("profiled::twice", "", vec![Value::from(&x)], vec![]).unwrap();
    });
    runtime_ops::undefine(&op).unwrap();
    assert_eq!(one(&profile, "profiled::twice").depth, 0);
    assert_eq!(one(&profile, "aten::add").parent, Some(0));
}

#[test]
fn nodes_are_connected_with_the_calls_that_recorded_them() {
    let _turn = beside_others();
    let x = ones(&[2, 2]);
    x.set_requires_grad(true).unwrap();
    let profile = profiled(THIS_THREAD, || {
        let y = ops::sum(&ops::mul_tensor(&x, &x).unwrap(), None).unwrap();
        autograd::backward(&[&y], &[None], false, false, &[]).unwrap();
    });
    let here = observe::current_thread();
    let forward = one_of_depth(&profile, "aten::mul", 0);
    let node = one(&profile, "MulBackward0");
    assert_eq!((node.scope, node.forward_thread, node.thread), (Scope::BackwardFunction, here, here));
    assert_eq!((forward.sequence, forward.forward_thread), (node.sequence, 0));
    assert!(node.sequence >= 0 && one(&profile, "SumBackward0").sequence == node.sequence + 1);
    let outer = &profile.events[node.parent.unwrap()];
    assert_eq!(profile.name(outer), "autograd::engine::evaluate_function: MulBackward0");
    // The derivative of a product multiplies.
    assert!(named(&profile, "aten::mul").iter().any(|event| event.depth > node.depth));
    assert_eq!(one(&profile, "torch::autograd::AccumulateGrad").sequence, -1);
    let trace: serde_json::Value = serde_json::from_slice(&profile.chrome_trace().unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!((of("X"), of("s"), of("f")), (profile.events.len(), 2, 2));
}

fn one_of_depth<'a>(profile: &'a Profile, name: &str, depth: u32) -> &'a Event {
    named(profile, name).into_iter().find(|event| event.depth == depth).unwrap()
}

#[test]
fn shapes_and_dtypes_are_recorded_on_request() {
    let _turn = beside_others();
    let (x, y) = (ones(&[2, 3]), ones(&[3, 4]));
    let options = Options { shapes: true, ..THIS_THREAD };
    let profile = profiled(options, || {
        ops::mm(&x, &y).unwrap();
        ops::mm(&ones(&[1, 2]), &x).unwrap();
        ops::cat(&[&x, &x], 0).unwrap();
    });
    let mm = named(&profile, "aten::mm")[0];
    let sizes: Vec<&[i64]> = mm.inputs.iter().map(|input| input.sizes.as_slice()).collect();
    assert_eq!(sizes, [&[2i64, 3][..], &[3, 4]]);
    assert_eq!(mm.inputs[0].dtype, Some(rushlight_base::DType::F32));
    let cat: Vec<(u32, bool)> =
        one(&profile, "aten::cat").inputs.iter().map(|input| (input.argument, input.is_list)).collect();
    assert_eq!(cat, [(0, true), (0, true), (1, false)]);
    let by_name = profile.table(Table { sort_by: SortBy::Count, rows: None, by_shape: false }).unwrap();
    assert_eq!(by_name.lines().filter(|line| line.starts_with("aten::mm ")).count(), 1);
    let by_shape = profile.table(Table { sort_by: SortBy::Order, rows: None, by_shape: true }).unwrap();
    let lines: Vec<&str> = by_shape.lines().filter(|line| line.starts_with("aten::mm ")).collect();
    assert!(lines[0].ends_with("  [[2, 3], [3, 4]]") && lines[1].ends_with("  [[1, 2], [2, 3]]"), "{by_shape}");
    assert!(by_shape.contains("[[[2, 3], [2, 3]], []]"), "{by_shape}");
    assert!(profiled(THIS_THREAD, || drop(ops::mm(&x, &y))).events[0].inputs.is_empty());
}

#[test]
fn bytes_are_those_of_the_call() {
    let _turn = beside_others();
    let x = ones(&[1000]);
    let large = ones(&[1 << 20]);
    let profile = profiled(Options { memory: true, ..THIS_THREAD }, || {
        let y = {
            let _range = range("kept");
            ops::add_tensor(&x, &x, Scalar::Int(1)).unwrap()
        };
        let _range = range("freed");
        drop(y);
        drop(ops::add_tensor(&large, &large, Scalar::Int(1)));
    });
    let kept = one(&profile, "kept");
    assert_eq!((kept.allocated, kept.freed, kept.self_bytes), (4000, 0, 0));
    let freed = one(&profile, "freed");
    assert_eq!((freed.allocated, freed.freed), (4 << 20, 4000 + (4 << 20)));
    assert_eq!(named(&profile, "aten::add")[0].self_bytes, 4000);
    let table = profile.table(Table { sort_by: SortBy::Bytes, rows: Some(1), by_shape: false }).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].contains("CPU Mem") && lines[3].starts_with("aten::add ") && lines.len() == 6, "{table}");
    assert!(lines[3].contains("4.00 Mb"), "{table}");
    assert!(memory::thread_traffic().0 >= (4 << 20) + 4000);
}

#[test]
fn nothing_is_recorded_when_the_profiler_is_off() {
    let _alone = alone();
    let x = ones(&[2]);
    let profile = profiled(THIS_THREAD, || {});
    drop(ops::abs(&x));
    assert!(profile.events.is_empty());
    assert!(range("none").is_none() && !observe::is_observed(Scope::Function));
    assert_eq!(profile::stop().err().unwrap().message(), "Can't disable profiler when it's not running");
}

#[test]
fn a_second_profile_is_an_error() {
    let _turn = beside_others();
    profile::start(THIS_THREAD).unwrap();
    let error = profile::start(THIS_THREAD).unwrap_err();
    assert_eq!(error.message(), "the profiler is already on on this thread");
    assert!(profile::is_enabled());
    profile::stop().unwrap();
}

#[test]
fn failing_calls_and_open_ranges_end() {
    let _turn = beside_others();
    let x = ones(&[2]);
    let profile = profiled(THIS_THREAD, || {
        ops::mm(&x, &x).unwrap_err();
        let panicked = std::panic::catch_unwind(|| {
            let _range = range("panics");
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(panicked.is_err());
        ops::abs(&x).unwrap();
    });
    assert_eq!(one(&profile, "aten::mm").depth, 0);
    assert_eq!((one(&profile, "panics").depth, one(&profile, "aten::abs").depth), (0, 0));
    profile::start(THIS_THREAD).unwrap();
    let open = range("open");
    let profile = profile::stop().unwrap();
    let event = one(&profile, "open");
    assert_eq!(event.start + event.duration, profile.duration);
    drop(open);
}

/// Writes what it sees.
struct Log {
    name: &'static str,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Observer for Log {
    fn begin(&self, call: &Call<'_>) -> Result<usize> {
        // Operators that an observer calls are not observed.
        ops::abs(&ones(&[1]))?;
        self.lines.lock().unwrap().push(format!("{} begins {} {}", self.name, call.name(), call.inputs.len()));
        Ok(7)
    }

    fn end(&self, call: &Call<'_>, state: usize) -> Result<()> {
        self.lines.lock().unwrap().push(format!("{} ends {} {} {state}", self.name, call.name(), call.outputs.len()));
        Ok(())
    }
}

#[test]
fn observers_are_called_in_order_until_they_are_removed() {
    let _alone = alone();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = |name| Arc::new(Log { name, lines: lines.clone() });
    let user = Settings { scopes: Scope::User.bit() | Scope::Function.bit(), ..Settings::default() };
    let local = observe::add_thread_local(log("local"), user).unwrap();
    let only_user = Settings { scopes: Scope::User.bit(), needs: Needs { inputs: true, ..Needs::default() }, ..user };
    let global = observe::add_global(log("global"), only_user).unwrap();
    assert!(observe::has_global() && observe::has_thread_local() && observe::needs(Scope::User).inputs);
    let x = ones(&[2]);
    let taken = || std::mem::take(&mut *lines.lock().unwrap());
    assert_eq!(taken().iter().filter(|line| line.ends_with("begins aten::ones 5")).count(), 1);
    {
        let _range = range("range");
        ops::neg(&x).unwrap();
    }
    let seen = taken();
    assert_eq!(
        seen.iter().filter(|line| line.contains("range") || line.contains("neg")).collect::<Vec<_>>(),
        [
            "global begins range 0",
            "local begins range 0",
            "local begins aten::neg 1",
            "local ends aten::neg 1 7",
            "global ends range 0 7",
            "local ends range 0 7"
        ]
    );
    assert!(observe::set_observer_enabled(global, false));
    drop(range("disabled"));
    assert_eq!(taken(), ["local begins disabled 0", "local ends disabled 0 7"]);
    observe::set_enabled(false);
    drop(range("silent"));
    observe::set_enabled(true);
    assert!(taken().is_empty());
    assert!(observe::remove(local) && observe::remove(global) && !observe::remove(global));
    ops::neg(&x).unwrap();
    assert!(taken().is_empty() && !observe::is_observed(Scope::Function));
    // A call of another test that began before keeps the observers until it ends.
    let begin = Instant::now();
    while Arc::strong_count(&lines) > 1 && begin.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(Arc::strong_count(&lines), 1);
}

/// Fails.
struct Failing;

impl Observer for Failing {
    fn begin(&self, _: &Call<'_>) -> Result<usize> {
        Err(err!(Value, "no"))
    }

    fn end(&self, _: &Call<'_>, _: usize) -> Result<()> {
        Err(err!(Value, "no"))
    }
}

/// Counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Observer for Count {
    fn begin(&self, _: &Call<'_>) -> Result<usize> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    }

    fn end(&self, _: &Call<'_>, _: usize) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_failing_observer_does_not_fail_the_call() {
    let _turn = beside_others();
    let id = observe::add_thread_local(Arc::new(Failing), Settings::default()).unwrap();
    assert_eq!(ops::neg(&ones(&[2])).unwrap().sizes().as_slice(), [2]);
    assert!(observe::remove(id));
}

#[test]
fn observers_are_sampled() {
    let _turn = beside_others();
    let settings = Settings { sampling: 0.25, ..Settings::default() };
    let count = Arc::new(Count::default());
    observe::set_sampling_seed(1);
    let id = observe::add_thread_local(count.clone(), settings).unwrap();
    for _ in 0..4000 {
        drop(range("sampled"));
    }
    observe::remove(id);
    let seen = count.0.load(Ordering::Relaxed);
    assert!((880..1120).contains(&seen), "{seen}");
    let impossible = Settings { sampling: 1.5, ..settings };
    assert_eq!(observe::add_thread_local(count, impossible).unwrap_err().message(), "Invalid sampling probability");
}

#[test]
fn a_profile_of_the_process_records_all_threads_and_loses_nothing() {
    let _alone = alone();
    const CALLS: usize = 3000;
    let call = || {
        let x = ones(&[2]);
        (0..CALLS).for_each(|_| drop(ops::neg(&x).unwrap()));
        observe::current_thread()
    };
    let mut threads = Vec::new();
    let profile = profiled(Options::default(), || {
        threads =
            thread::scope(|scope| [scope.spawn(call), scope.spawn(call)].map(|thread| thread.join().unwrap())).to_vec();
    });
    for thread in threads {
        let found = named(&profile, "aten::neg").iter().filter(|event| event.thread == thread).count();
        assert_eq!(found, CALLS);
    }
}

#[test]
fn profiles_start_and_stop_while_other_threads_call() {
    let _alone = alone();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let call = || {
            let x = ones(&[2]);
            while !over.load(Ordering::Relaxed) {
                let _range = range("outer");
                drop(ops::linear(&x, &x, None));
            }
        };
        let start_stop = || {
            for _ in 0..200 {
                // Two threads compete: one of them may find a running profile, or none.
                if profile::start(Options { shapes: true, memory: true, ..Options::default() }).is_ok()
                    && let Ok(profile) = profile::stop()
                {
                    for event in &profile.events {
                        let parent = event.parent.map(|parent| &profile.events[parent]);
                        assert!(
                            parent.is_none_or(|parent| parent.thread == event.thread && parent.start <= event.start)
                        );
                    }
                }
            }
        };
        let callers = [scope.spawn(call), scope.spawn(call)];
        let profilers = [scope.spawn(start_stop), scope.spawn(start_stop)];
        let ended = profilers.map(|thread| thread.join().is_ok());
        over.store(true, Ordering::Relaxed);
        assert_eq!((ended, callers.map(|thread| thread.join().is_ok())), ([true; 2], [true; 2]));
    });
    assert!(!profile::is_enabled() && !observe::has_global());
}

#[test]
fn deep_backward_passes_on_other_threads_are_recorded() {
    let _turn = beside_others();
    let x = ones(&[1]);
    x.set_requires_grad(true).unwrap();
    let profile = profiled(THIS_THREAD, || nested_backward(&x, 70));
    let nodes = named(&profile, "NegBackward0");
    assert_eq!(nodes.len(), 70);
    assert!(nodes.iter().any(|node| node.thread != observe::current_thread()));
}

/// A backward pass whose hook starts another one.
fn nested_backward(x: &Tensor, depth: usize) {
    if depth == 0 {
        return;
    }
    let y = ops::neg(x).unwrap();
    let leaf = x.clone();
    let hook = move |_: Option<&Tensor>| {
        let _recorded = autograd::GradModeGuard::new(true);
        nested_backward(&leaf, depth - 1);
        Ok(None)
    };
    y.register_hook(Arc::new(hook)).unwrap();
    autograd::backward(&[&y], &[None], false, false, &[]).unwrap();
}
