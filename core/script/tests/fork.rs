//! Forked functions run on threads, with the modes of the function that forked them, and have ended with the run.

use rushlight_base::cancel::{CancelToken, enter, leave};
use rushlight_base::{ErrorKind, runtime};
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::value::Value;
use rushlight_tensor::autograd::{InferenceModeGuard, is_grad_enabled};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

fn program(text: &str) -> Arc<Program> {
    // Also on machines with one core.
    runtime::set_num_threads(4).unwrap();
    Program::compile(text).unwrap()
}

fn call(text: &str, argument: i64) -> rushlight_base::Result<Value> {
    program(text).call("f", vec![Value::Int(argument)], Vec::new())
}

/// A module with these methods.
fn module(text: &str) -> Module {
    let module = Module::create(program(""), "M").unwrap();
    module.define(text).unwrap();
    module
}

/// The tests that use many threads, and the one that needs two, run one after the other.
static THREADS: Mutex<()> = Mutex::new(());

#[test]
fn two_functions_run_at_the_same_time() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "
def work(self, n: int) -> int:
    print(n)
    return n * 10
def forward(self, n: int):
    a = torch.jit.fork(self.work, n)
    b = torch.jit.fork(self.work, n + 1)
    return torch.jit.wait(a), torch.jit.wait(b)
";
    let module = module(text);
    // Each `print` waits for the other one.
    let seen = Arc::new((Mutex::new(Vec::<ThreadId>::new()), Condvar::new()));
    let both = seen.clone();
    let module = module.printing_to(Arc::new(move |_: &[u8]| {
        let mut threads = both.0.lock().unwrap();
        threads.push(std::thread::current().id());
        both.1.notify_all();
        drop(both.1.wait_timeout_while(threads, Duration::from_secs(30), |threads| threads.len() < 2).unwrap());
    }));
    let result = module.forward(vec![Value::Int(1)]).unwrap();
    let items: Vec<i64> = result.as_tuple().unwrap().items().iter().map(|item| item.as_int().unwrap()).collect();
    assert_eq!(items, [10, 20]);
    let threads = seen.0.lock().unwrap();
    assert_eq!(threads.len(), 2);
    assert_ne!(threads[0], threads[1]);
}

/// Functions cannot call themselves; methods of an interface can.
const RECURSIVE: &str = "
@torch.jit.interface
class Work(object):
    def run(self, work: Work, n: int) -> int:
        pass

class Chain(object):
    def __init__(self):
        self.step = 1

    def run(self, work: Work, n: int) -> int:
        if n == 0:
            return 0
        return torch.jit.wait(torch.jit.fork(work.run, work, n - self.step)) + 1

class Tree(object):
    def __init__(self):
        self.step = 1

    def run(self, work: Work, n: int) -> int:
        if n < 2:
            return 1
        a = torch.jit.fork(work.run, work, n - self.step)
        b = torch.jit.fork(work.run, work, n - 2)
        return torch.jit.wait(a) + torch.jit.wait(b)

def chain(n: int) -> int:
    work = Chain()
    return work.run(work, n)

def tree(n: int) -> int:
    work = Tree()
    return work.run(work, n)
";

#[test]
fn deep_chains_and_trees_of_forks_end() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let program = program(RECURSIVE);
    let call = |name: &str, n: i64| program.call(name, vec![Value::Int(n)], Vec::new()).unwrap().as_int().unwrap();
    assert_eq!(call("chain", 20_000), 20_000);
    for _ in 0..10 {
        assert_eq!(call("tree", 14), 610);
    }
}

#[test]
fn runs_on_many_threads_share_the_threads_of_forks() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "
def double(n: int) -> int:
    return n * 2
def f(n: int) -> int:
    futures = [torch.jit.fork(double, i) for i in range(n)]
    total = 0
    for future in futures:
        total += torch.jit.wait(future)
    return total
";
    let program = program(text);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let program = program.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    let total = program.call("f", vec![Value::Int(30)], Vec::new()).unwrap();
                    assert_eq!(total.as_int().unwrap(), 870);
                }
            });
        }
    });
}

#[test]
fn functions_that_nothing_waits_for_have_run_when_the_call_returns() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "
def put(xs: List[int], n: int):
    total = 0
    for i in range(1000):
        total += i
    xs.append(total + n)
def f(n: int):
    xs: List[int] = []
    for i in range(n):
        torch.jit.fork(put, xs, i)
    return xs
";
    let result = call(text, 9).unwrap();
    assert_eq!(result.as_list().unwrap().len(), 9);
}

#[test]
fn errors_name_the_functions_that_forked() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "
def fails(n: int) -> int:
    assert n > 5, 'too small'
    return n
def middle(n: int) -> int:
    return torch.jit.wait(torch.jit.fork(fails, n))
def f(n: int) -> int:
    future = torch.jit.fork(middle, n)
    return torch.jit.wait(future)
";
    let error = call(text, 1).unwrap_err();
    let message = error.message();
    for (line, function) in [(8, "f"), (6, "middle"), (3, "fails")] {
        assert!(message.contains(&format!("line {line}, in {function}\n")), "{message}");
    }
    assert!(message.ends_with("RuntimeError: AssertionError: too small\n"), "{message}");
    assert_eq!(message.matches("Traceback").count(), 1, "{message}");
    assert_eq!(call(text, 7).unwrap().as_int().unwrap(), 7);
}

#[test]
fn modes_are_those_of_the_function_that_forked() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let module = module(
        "
def negative(self, x):
    return -x
def forward(self, x):
    with torch.no_grad():
        a = torch.jit.fork(self.negative, x)
    b = torch.jit.fork(self.negative, x)
    with torch.no_grad():
        return torch.jit.wait(a), torch.jit.wait(b)
",
    );
    let x = rushlight_tensor::Tensor::from_slice(&[1.0f32], &[1]).unwrap();
    x.set_requires_grad(true).unwrap();
    let recorded = |module: &Module| -> Vec<bool> {
        let result = module.forward(vec![Value::Tensor(x.clone())]).unwrap();
        result.as_tuple().unwrap().items().iter().map(|item| item.as_tensor().unwrap().requires_grad()).collect()
    };
    for _ in 0..20 {
        assert_eq!(recorded(&module), [false, true]);
        assert!(is_grad_enabled());
    }
    let _inference = InferenceModeGuard::new(true);
    assert_eq!(recorded(&module), [false, false]);
}

#[test]
fn a_cancelled_run_ends_with_its_forks() {
    let _alone = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "
def spin(n: int) -> int:
    while n > 0:
        n += 1
    return n
def f(n: int) -> int:
    a = torch.jit.fork(spin, n)
    b = torch.jit.fork(spin, n)
    return torch.jit.wait(a) + torch.jit.wait(b)
";
    let program = program(text);
    let token = CancelToken::new();
    enter(&token).unwrap();
    token.set_timeout(Some(Duration::from_millis(50)));
    let error = program.call("f", vec![Value::Int(1)], Vec::new()).unwrap_err();
    leave(&token).unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(program.call("f", vec![Value::Int(0)], Vec::new()).unwrap().as_int().unwrap(), 0);
}
