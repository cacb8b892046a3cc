//! A call as observers see it.

use crate::dispatch::{Op, Value};
use rushlight_base::{Result, err};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kind of a call. The numbers are those of PyTorch's RecordScope, and of the C ABI.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// An operator.
    Function = 0,
    /// A node of a backward pass.
    BackwardFunction = 1,
    /// A function or method of TorchScript.
    TorchScriptFunction = 2,
    /// The dtype of a kernel.
    KernelFunctionDtype = 3,
    /// A method of a custom class.
    CustomClass = 4,
    /// A feature of the build.
    BuildFeature = 5,
    /// An operator of the interpreter for mobile devices.
    LiteInterpreter = 6,
    /// A range of the program.
    User = 7,
    /// An operator of the static runtime.
    StaticRuntimeOp = 8,
    /// A model of the static runtime.
    StaticRuntimeModel = 9,
}

impl Scope {
    /// Every scope, in the order of its number.
    pub const ALL: [Scope; 10] = [
        Scope::Function,
        Scope::BackwardFunction,
        Scope::TorchScriptFunction,
        Scope::KernelFunctionDtype,
        Scope::CustomClass,
        Scope::BuildFeature,
        Scope::LiteInterpreter,
        Scope::User,
        Scope::StaticRuntimeOp,
        Scope::StaticRuntimeModel,
    ];

    /// The scope with this number.
    pub fn from_code(code: i32) -> Result<Scope> {
        let scope = usize::try_from(code).ok().and_then(|code| Scope::ALL.get(code));
        scope.copied().ok_or_else(|| err!(Value, "{code} is not a record scope (0 to {})", Scope::ALL.len() - 1))
    }

    /// The bit of the scope in a set of scopes.
    pub const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// The name of a call, from which the string is created on demand.
#[derive(Clone, Copy)]
pub(crate) enum Name<'a> {
    Op(&'a Op),
    Text(&'a str),
}

/// One call of an operator, of a node or of a range.
pub struct Call<'a> {
    pub(crate) name: Name<'a>,
    /// Its kind.
    pub scope: Scope,
    /// The number that connects a recorded operator with its node: the next sequence number of the thread for an operator
    /// that may be recorded, that of the node for a node. -1: none.
    pub sequence: i64,
    /// The thread that began the call.
    pub thread: u64,
    /// The thread that recorded the node; 0 for other calls.
    pub forward_thread: u64,
    /// A number that no other call has.
    pub id: u64,
    /// A number of the program's.
    pub debug_handle: i64,
    /// The arguments.
    pub inputs: &'a [Value],
    /// The results; empty while the call runs, and after a call that failed.
    pub outputs: &'a [Value],
}

impl Call<'_> {
    /// `aten::add`, `MulBackward0`, or the name of the range.
    pub fn name(&self) -> Cow<'_, str> {
        match self.name {
            Name::Op(Op::BuiltIn(row)) => qualified(row.name()),
            Name::Op(Op::Runtime(op)) => {
                let signature = op.signature();
                Cow::Owned(format!("{}::{}", signature.namespace, signature.name))
            }
            Name::Text(text) => Cow::Borrowed(text),
        }
    }

    /// The name of the overload: `Tensor`. Empty for the default one, and for calls of other scopes.
    pub fn overload(&self) -> &str {
        match self.name {
            Name::Op(Op::BuiltIn(row)) => row.overload(),
            Name::Op(Op::Runtime(op)) => &op.signature().overload,
            Name::Text(_) => "",
        }
    }

    /// The operator, if it is a call of one.
    pub fn op(&self) -> Option<&Op> {
        match self.name {
            Name::Op(op) => Some(op),
            Name::Text(_) => None,
        }
    }
}

/// The name of a built-in operator with its namespace: `aten::add`.
pub(crate) fn qualified(name: &str) -> Cow<'_, str> {
    if name.contains("::") { Cow::Borrowed(name) } else { Cow::Owned(format!("aten::{name}")) }
}

thread_local! {
    /// 0: the thread has no number yet.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// The number of this thread, from 1 on: threads are counted as they first ask for it.
#[inline]
pub fn current_thread() -> u64 {
    match THREAD.get() {
        0 => number_thread(),
        number => number,
    }
}

#[cold]
#[inline(never)]
fn number_thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    THREAD.set(number);
    number
}

/// A number that no other call has.
pub(super) fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
