//! The code of a function: a flat list of instructions over registers.

use super::object::Class;
use super::value::Value;
use crate::ast::Name;
use crate::builtins::Builtin;
use crate::graph::Location;
use crate::types::{NamedTuple, Type};
use rushlight_tensor::Op;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// The index of a register.
pub(super) type Reg = u32;

/// Results that are not used have no register.
pub(super) const UNUSED: Reg = Reg::MAX;

/// What an instruction reads: a constant, or a register, which is empty afterwards if this is the last use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand(u32);

const CONSTANT: u32 = 1 << 31;
const LAST: u32 = 1 << 30;
/// The number of registers and of constants of a function.
pub(super) const MAX_INDEX: u32 = LAST - 1;

impl Operand {
    pub(super) fn register(register: Reg) -> Operand {
        Operand(register)
    }

    pub(super) fn constant(index: u32) -> Operand {
        Operand(CONSTANT | index)
    }

    pub(super) fn last(self) -> Operand {
        if self.is_constant() { self } else { Operand(self.0 | LAST) }
    }

    #[inline(always)]
    pub(super) fn is_constant(self) -> bool {
        self.0 & CONSTANT != 0
    }

    #[inline(always)]
    pub(super) fn is_last(self) -> bool {
        self.0 & (CONSTANT | LAST) == LAST
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        (self.0 & MAX_INDEX) as usize
    }
}

/// The operators on two numbers that have an instruction of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    FloorDivide,
    Remainder,
}

/// The inputs and outputs of an instruction that has many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub inputs: (u32, u32),
    pub outputs: (u32, u32),
}

/// One instruction.
#[derive(Clone, Copy)]
pub(super) enum Instruction {
    Move {
        from: Operand,
        to: Reg,
    },
    /// Several moves at once: sources may be destinations of others.
    Moves {
        first: u32,
        count: u32,
    },
    /// Empties registers.
    Drop {
        first: u32,
        count: u32,
    },
    Jump {
        to: u32,
    },
    /// Jumps if the condition does not hold.
    Unless {
        condition: Operand,
        to: u32,
    },
    /// The head of a loop: registers `state`, +1, +2 and +3 are the number of the next iteration, the number of
    /// iterations, whether to go on, and the number of the iteration that begins.
    Loop {
        state: Reg,
        exit: u32,
    },
    Arithmetic {
        operator: Arithmetic,
        a: Operand,
        b: Operand,
        to: Reg,
    },
    Not {
        from: Operand,
        to: Reg,
    },
    ListGet {
        list: Operand,
        index: Operand,
        to: Reg,
    },
    Builtin {
        run: Builtin,
        site: u32,
    },
    Operator {
        index: u32,
        site: u32,
    },
    List {
        kind: u32,
        site: u32,
    },
    Dict {
        kind: u32,
        site: u32,
    },
    Tuple {
        site: u32,
    },
    NamedTuple {
        class: u32,
        site: u32,
    },
    UnpackTuple {
        site: u32,
    },
    UnpackList {
        site: u32,
    },
    Create {
        class: u32,
        to: Reg,
    },
    GetAttr {
        from: Operand,
        name: u32,
        to: Reg,
    },
    SetAttr {
        object: Operand,
        value: Operand,
        name: u32,
    },
    /// Attributes by their number, in code that has no names.
    GetSlot {
        from: Operand,
        slot: u32,
        to: Reg,
    },
    SetSlot {
        object: Operand,
        value: Operand,
        slot: u32,
    },
    IsInstance {
        from: Operand,
        kinds: u32,
        to: Reg,
    },
    CallFunction {
        name: u32,
        site: u32,
    },
    CallMethod {
        name: u32,
        site: u32,
    },
    /// `on_threads`: another thread may run the function.
    Fork {
        child: u32,
        site: u32,
        on_threads: bool,
    },
    /// The value of a future.
    Wait {
        from: Operand,
        to: Reg,
    },
    /// Begins or ends a `with` statement.
    Enter {
        object: Operand,
        to: Reg,
    },
    Exit {
        to: Reg,
    },
    Raise {
        message: Operand,
        class: Operand,
    },
    Return {
        first: u32,
        count: u32,
    },
}

/// The name of an attribute, and the slot where it was found last.
pub(super) struct AttributeName {
    pub name: Name,
    pub slot: AtomicU32,
}

/// The code of a function.
pub(crate) struct Code {
    pub(super) name: Name,
    pub(super) instructions: Vec<Instruction>,
    /// For each instruction, the place in `locations` plus one; 0 if there is none.
    pub(super) places: Vec<u32>,
    pub(super) locations: Vec<Location>,
    pub(super) registers: u32,
    pub(super) inputs: u32,
    pub(super) outputs: usize,
    pub(super) sites: Vec<Site>,
    pub(super) operands: Vec<Operand>,
    pub(super) targets: Vec<Reg>,
    pub(super) moves: Vec<(Operand, Reg)>,
    pub(super) constants: Vec<Value>,
    pub(super) operators: Vec<Op>,
    pub(super) kinds: Vec<Type>,
    pub(super) instance_kinds: Vec<Vec<Type>>,
    pub(super) named_tuples: Vec<Arc<NamedTuple>>,
    pub(super) classes: Vec<Arc<Class>>,
    pub(super) attributes: Vec<AttributeName>,
    pub(super) names: Vec<Name>,
    pub(super) children: Vec<Arc<Code>>,
}

impl Code {
    pub(super) fn empty(name: Name) -> Code {
        Code {
            name,
            instructions: Vec::new(),
            places: Vec::new(),
            locations: Vec::new(),
            registers: 0,
            inputs: 0,
            outputs: 0,
            sites: Vec::new(),
            operands: Vec::new(),
            targets: Vec::new(),
            moves: Vec::new(),
            constants: Vec::new(),
            operators: Vec::new(),
            kinds: Vec::new(),
            instance_kinds: Vec::new(),
            named_tuples: Vec::new(),
            classes: Vec::new(),
            attributes: Vec::new(),
            names: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Where the code of an instruction is.
    pub(super) fn location(&self, at: usize) -> Option<&Location> {
        let place = *self.places.get(at)? as usize;
        self.locations.get(place.checked_sub(1)?)
    }

    #[inline(always)]
    pub(super) fn inputs_of(&self, site: u32) -> &[Operand] {
        let Some(site) = self.sites.get(site as usize) else { return &[] };
        let (first, count) = (site.inputs.0 as usize, site.inputs.1 as usize);
        self.operands.get(first..first + count).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn outputs_of(&self, site: u32) -> &[Reg] {
        let Some(site) = self.sites.get(site as usize) else { return &[] };
        let (first, count) = (site.outputs.0 as usize, site.outputs.1 as usize);
        self.targets.get(first..first + count).unwrap_or_default()
    }
}
