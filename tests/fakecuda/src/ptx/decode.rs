//! Turns a kernel and the functions that it calls into one list of instructions.
//!
//! Calls are inlined: every call has its own copy of the callee's code, and all copies of a function share its registers,
//! because no thread is in two of them at once. Recursive calls are instructions that fail when they run.

use super::scan::{immediate, parameter};
use super::select::select;
use super::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Instructions of a kernel with all inlined calls.
const LIMIT: usize = 4 << 20;

/// The kind of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A mask.
    Predicate,
    /// One row, of which the program uses 16 bits.
    Half,
    /// One row.
    Narrow,
    /// Two rows.
    Wide,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// A register: its row or mask.
    Register(Kind, u32),
    /// An address.
    Address(u64),
    /// A parameter of a call that is kept in a register.
    Slot(Kind, u32),
}

/// A name's registers: one, or as many as are asked for.
type Declared<'a> = HashMap<&'a str, Kind>;

/// State of the decoder.
pub struct Decoder<'a> {
    module: &'a Module,
    addresses: &'a HashMap<String, u64>,
    /// Variables of the module in shared memory that the kernel uses.
    shared: HashMap<&'a str, u64>,
    /// Names of the open braces, innermost last.
    scopes: Vec<HashMap<&'a str, Bound>>,
    /// Registers that are declared with a number of copies, by what precedes the number, of the open functions.
    families: Vec<Declared<'a>>,
    /// Registers of each function that is inlined, kept between its copies.
    kept: HashMap<&'a str, HashMap<&'a str, Bound>>,
    stack: Vec<&'a str>,
    /// The scope of each open function.
    bases: Vec<usize>,
    copies: usize,
    labels: HashMap<(usize, &'a str), u32>,
    branches: Vec<(usize, usize, &'a str)>,
    table_names: HashMap<(usize, &'a str), Vec<&'a str>>,
    table_uses: Vec<(usize, usize, &'a str)>,
    constant_rows: HashMap<(u64, bool), u32>,
    /// Rows of constants.
    constants: u32,
    special_rows: HashMap<Special, u32>,
    frame: usize,
    predicates: u32,
    /// The kernel so far.
    pub kernel: Kernel,
}

/// Decode a kernel. `addresses` are those of the module's variables in global memory.
pub fn decode(module: &Arc<Module>, name: &str, addresses: &HashMap<String, u64>) -> Result<Kernel, String> {
    let (name, function) = module.functions.get_key_value(name).ok_or_else(|| format!("no kernel {name}"))?;
    if !function.entry {
        return Err(format!("{name} is no kernel"));
    }
    let mut decoder = Decoder {
        module,
        addresses,
        shared: HashMap::new(),
        scopes: vec![HashMap::new()],
        families: Vec::new(),
        kept: HashMap::new(),
        stack: Vec::new(),
        bases: Vec::new(),
        copies: 0,
        labels: HashMap::new(),
        branches: Vec::new(),
        table_names: HashMap::new(),
        table_uses: Vec::new(),
        constant_rows: HashMap::new(),
        constants: 0,
        special_rows: HashMap::new(),
        frame: 0,
        predicates: 0,
        kernel: Kernel {
            name: name.clone(),
            module: module.clone(),
            code: Vec::new(),
            rows: 0,
            predicates: 0,
            constants: Vec::new(),
            specials: Vec::new(),
            lists: Vec::new(),
            tables: Vec::new(),
            messages: Vec::new(),
            params: Vec::new(),
            param_bytes: 0,
            shared: 0,
            local: 0,
            grain: 16,
            atomics: false,
            registers: 0,
        },
    };
    let mut at = 0usize;
    for param in &function.params {
        at = at.next_multiple_of(param.align);
        decoder.scopes[0].insert(&param.name, Bound::Address(PARAM + at as u64));
        decoder.kernel.params.push((at, param.size));
        at += param.size;
    }
    decoder.kernel.param_bytes = at;
    decoder.body(name, function, None)?;
    decoder.finish()
}

impl<'a> Decoder<'a> {
    fn finish(mut self) -> Result<Kernel, String> {
        for (at, copy, label) in std::mem::take(&mut self.branches) {
            let target = self.labels.get(&(copy, label)).ok_or_else(|| format!("no label {label}"))?;
            self.kernel.code[at].imm = i64::from(*target);
        }
        for (at, copy, table) in std::mem::take(&mut self.table_uses) {
            let names = self.table_names.get(&(copy, table)).ok_or_else(|| format!("no targets {table}"))?;
            let targets = names
                .iter()
                .map(|l| self.labels.get(&(copy, *l)).copied().ok_or_else(|| format!("no label {l}")))
                .collect::<Result<Vec<u32>, String>>()?;
            self.kernel.code[at].imm = self.kernel.tables.len() as i64;
            self.kernel.tables.push(targets);
        }
        // Dynamic shared memory is behind all static variables.
        let dynamic = self.kernel.shared.next_multiple_of(16);
        for (_, bits, _) in self.kernel.constants.iter_mut().filter(|(_, bits, _)| *bits == DYNAMIC) {
            *bits = SHARED + dynamic as u64;
        }
        self.kernel.predicates = self.predicates as usize;
        self.kernel.local = self.kernel.local.next_multiple_of(16);
        allocate::allocate(&mut self.kernel);
        Ok(self.kernel)
    }

    /// Decode a body. `end` is the label that `ret` jumps to in an inlined function.
    fn body(
        &mut self,
        name: &'a str,
        function: &'a Function,
        bound: Option<HashMap<&'a str, Bound>>,
    ) -> Result<(), String> {
        let module = self.module;
        let text: &'a str = &module.text;
        let inlined = bound.is_some();
        self.stack.push(name);
        self.copies += 1;
        let copy = self.copies;
        let mut names = bound.unwrap_or_default();
        if let Some(kept) = self.kept.get(name) {
            for (name, bound) in kept {
                names.entry(name).or_insert(*bound);
            }
        }
        let base = self.scopes.len();
        let frame = self.frame;
        self.scopes.push(names);
        self.bases.push(base);
        self.families.push(HashMap::new());
        let bytes = text.as_bytes();
        let mut line = module.line(function.body.start);
        let mut at = function.body.start;
        let mut frames = Vec::new();
        let mut last_label = "";
        while at < function.body.end {
            match bytes[at] {
                b'\n' => line += 1,
                c if c.is_ascii_whitespace() || c == b';' => {}
                b'{' => {
                    self.scopes.push(HashMap::new());
                    frames.push(self.frame);
                }
                b'}' => {
                    if self.scopes.len() <= base + 1 {
                        return Err(format!("line {line}: unexpected `}}`"));
                    }
                    self.scopes.pop();
                    self.frame = frames.pop().unwrap_or(self.frame);
                }
                _ => {
                    let rest = &text[at..function.body.end];
                    let stop = rest.find([':', ';']).ok_or_else(|| format!("line {line}: no `;`"))?;
                    let head = &rest[..stop];
                    if rest.as_bytes()[stop] == b':'
                        && !head.contains(char::is_whitespace)
                        && !rest[stop..].starts_with("::")
                    {
                        last_label = head;
                        self.labels.insert((copy, head), self.kernel.code.len() as u32);
                    } else {
                        let stop = rest.find(';').ok_or_else(|| format!("line {line}: no `;`"))?;
                        let statement = &rest[..stop];
                        self.statement(statement.trim_end(), line, copy, inlined, last_label)
                            .map_err(|e| format!("line {line}: `{}`: {e}", module.line_text(line)))?;
                        line += statement.matches('\n').count() as u32;
                        at += stop + 1;
                        continue;
                    }
                    at += stop;
                }
            }
            at += 1;
        }
        self.labels.insert((copy, END), self.kernel.code.len() as u32);
        if !inlined {
            let ins = self.plain(Op::Return, line);
            self.emit(ins);
        }
        let names = self.scopes.swap_remove(base);
        self.scopes.truncate(base);
        self.kept.insert(name, names.into_iter().filter(|(_, b)| matches!(b, Bound::Register(..))).collect());
        self.families.pop();
        self.frame = frame;
        self.stack.pop();
        self.bases.pop();
        if self.kernel.code.len() > LIMIT {
            return Err("the kernel has too many instructions".into());
        }
        Ok(())
    }

    fn statement(
        &mut self,
        text: &'a str,
        line: u32,
        copy: usize,
        inlined: bool,
        label: &'a str,
    ) -> Result<(), String> {
        if let Some(directive) = text.strip_prefix('.') {
            return self.directive(directive, copy, label);
        }
        let mut text = text;
        let mut guard = NONE;
        if let Some(rest) = text.strip_prefix('@') {
            let (name, rest) = rest.split_once(char::is_whitespace).ok_or("a guard without an instruction")?;
            let negated = name.starts_with('!');
            let (kind, mask) = self.register(name.trim_start_matches('!'))?;
            if kind != Kind::Predicate {
                return Err(format!("{name} is no predicate"));
            }
            guard = mask * 2 + u32::from(negated);
            text = rest.trim_start();
        }
        let (opcode, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut ins = self.plain(Op::Nop, line);
        ins.guard = guard;
        let first = opcode.split('.').next().unwrap_or("");
        match first {
            "bra" => {
                ins.op = Op::Branch;
                self.branches.push((self.kernel.code.len(), copy, rest.trim()));
                self.emit(ins);
            }
            "brx" => {
                let (index, table) = rest.split_once(',').ok_or("brx.idx without targets")?;
                ins.op = Op::BranchTable;
                ins.src[0] = self.read(index.trim(), Ty::U32, &mut ins.wide, 0)?;
                self.table_uses.push((self.kernel.code.len(), copy, table.trim()));
                self.emit(ins);
            }
            "ret" if inlined => {
                ins.op = Op::Branch;
                self.branches.push((self.kernel.code.len(), copy, END));
                self.emit(ins);
            }
            "ret" | "exit" => {
                ins.op = Op::Return;
                self.emit(ins);
            }
            "call" => self.call(rest, ins)?,
            _ => {
                let operands = operands(rest);
                let start = self.kernel.code.len();
                if let Err(error) = select(self, opcode, &operands, ins) {
                    // Other kernels and paths of the module can still run.
                    self.kernel.code.truncate(start);
                    self.unknown(ins, error);
                }
            }
        }
        Ok(())
    }

    /// Emit an instruction that fails when it runs.
    fn unknown(&mut self, mut ins: Ins, message: String) {
        ins.op = Op::Unknown;
        ins.imm = self.kernel.messages.len() as i64;
        self.kernel.messages.push(message);
        self.emit(ins);
    }

    fn directive(&mut self, text: &'a str, copy: usize, label: &'a str) -> Result<(), String> {
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match first {
            "reg" => {
                let (ty, names) = rest.trim().split_once(char::is_whitespace).ok_or("a register without a type")?;
                let kind = match ty.trim_start_matches('.') {
                    "pred" => Kind::Predicate,
                    ty => match Ty::of(ty).map(Ty::size) {
                        Some(8) => Kind::Wide,
                        Some(1 | 2) => Kind::Half,
                        Some(_) => Kind::Narrow,
                        None => return Err(format!("registers of type {ty}")),
                    },
                };
                for name in names.split(',').map(str::trim) {
                    if let Some((family, _)) = name.split_once('<') {
                        self.families.last_mut().ok_or("no function")?.insert(family, kind);
                    } else {
                        let scope = self.scopes.len() - 1;
                        if !self.scopes[scope].contains_key(name) {
                            let row = self.fresh(kind);
                            self.scopes[scope].insert(name, Bound::Register(kind, row));
                        }
                    }
                }
            }
            "branchtargets" => {
                self.table_names.insert((copy, label), rest.split(',').map(str::trim).collect());
            }
            "shared" => {
                let (variable, _) = parameter(rest)?;
                self.kernel.shared = self.kernel.shared.next_multiple_of(variable.align.max(16));
                let address = SHARED + self.kernel.shared as u64;
                self.kernel.shared += variable.size;
                self.bind(declared_name(rest), Bound::Address(address));
            }
            "local" | "param" => {
                let (variable, _) = parameter(rest)?;
                let bound = if first == "param" && !variable.array {
                    let kind = if variable.size == 8 { Kind::Wide } else { Kind::Narrow };
                    Bound::Slot(kind, self.fresh(kind))
                } else {
                    Bound::Address(self.reserve(&variable))
                };
                self.bind(declared_name(rest), bound);
            }
            // Hints to the compiler and to debuggers, and prototypes of indirect calls, which fail where they are called.
            _ => {}
        }
        Ok(())
    }

    fn bind(&mut self, name: &'a str, bound: Bound) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, bound);
        }
    }

    /// Local memory for a variable.
    fn reserve(&mut self, variable: &Parameter) -> u64 {
        self.frame = self.frame.next_multiple_of(variable.align.max(8));
        let address = LOCAL + self.frame as u64;
        self.frame += variable.size;
        self.kernel.local = self.kernel.local.max(self.frame);
        address
    }

    fn call(&mut self, rest: &'a str, ins: Ins) -> Result<(), String> {
        let module = self.module;
        let mut groups: Vec<Vec<&'a str>> = Vec::new();
        let mut callee = "";
        for part in operands(rest) {
            match part.strip_prefix('(') {
                Some(list) => {
                    groups
                        .push(list.trim_end_matches(')').split(',').map(str::trim).filter(|n| !n.is_empty()).collect());
                }
                None if callee.is_empty() => callee = part,
                None => {}
            }
        }
        let Some((name, function)) = module.functions.get_key_value(callee) else {
            self.unknown(ins, format!("a call of {callee}, which the module does not define"));
            return Ok(());
        };
        if self.stack.contains(&name.as_str()) {
            self.unknown(ins, format!("a recursive call of {name}"));
            return Ok(());
        }
        let mut arguments = groups.into_iter();
        let mut bound = HashMap::new();
        if !function.results.is_empty() {
            let results = arguments.next().ok_or("a call without results")?;
            self.match_names(&function.results, &results, &mut bound)?;
        }
        if !function.params.is_empty() {
            let params = arguments.next().ok_or("a call without arguments")?;
            self.match_names(&function.params, &params, &mut bound)?;
        }
        // A guarded call branches around the copy.
        let skip = if ins.guard != NONE {
            let mut branch = ins;
            branch.op = Op::Branch;
            branch.guard ^= 1;
            self.emit(branch);
            Some(self.kernel.code.len() - 1)
        } else {
            None
        };
        self.body(name, function, Some(bound))?;
        if let Some(at) = skip {
            self.kernel.code[at].imm = self.kernel.code.len() as i64;
        }
        Ok(())
    }

    fn match_names(
        &mut self,
        formal: &'a [Parameter],
        actual: &[&'a str],
        bound: &mut HashMap<&'a str, Bound>,
    ) -> Result<(), String> {
        if formal.len() != actual.len() {
            return Err(format!("{} arguments for {} parameters", actual.len(), formal.len()));
        }
        for (formal, actual) in formal.iter().zip(actual) {
            let value = self.lookup(actual).ok_or_else(|| format!("no argument {actual}"))?;
            let value = match value {
                Bound::Register(kind, row) => Bound::Slot(kind, row),
                other => other,
            };
            bound.insert(&formal.name, value);
        }
        Ok(())
    }

    /// What a name stands for in the innermost brace of the function that knows it.
    pub fn lookup(&mut self, name: &str) -> Option<Bound> {
        let base = self.bases.last().copied().unwrap_or(0);
        let scopes = self.scopes[base..].iter().rev().chain(self.scopes.first());
        if let Some(bound) = scopes.into_iter().find_map(|s| s.get(name)) {
            return Some(*bound);
        }
        if let Some(address) = self.addresses.get(name).or_else(|| self.shared.get(name)) {
            return Some(Bound::Address(*address));
        }
        let variable = self.module.variables.iter().find(|v| v.space == Space::Shared && v.name == name)?;
        let mut address = DYNAMIC;
        if !variable.dynamic {
            self.kernel.shared = self.kernel.shared.next_multiple_of(variable.align.max(16));
            address = SHARED + self.kernel.shared as u64;
            self.kernel.shared += variable.size;
        }
        self.shared.insert(&variable.name, address);
        Some(Bound::Address(address))
    }

    fn fresh(&mut self, kind: Kind) -> u32 {
        match kind {
            Kind::Predicate => {
                self.predicates += 1;
                self.predicates - 1
            }
            Kind::Half | Kind::Narrow | Kind::Wide => {
                let row = self.kernel.rows as u32;
                self.kernel.rows += if kind == Kind::Wide { 2 } else { 1 };
                self.kernel.registers += 1;
                row
            }
        }
    }

    /// The register with this name.
    pub fn register(&mut self, name: &'a str) -> Result<(Kind, u32), String> {
        if let Some(bound) = self.lookup(name) {
            return match bound {
                Bound::Register(kind, row) => Ok((kind, row)),
                _ => Err(format!("{name} is no register")),
            };
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let family = &name[..name.len() - digits];
        let kind = self.families.last().and_then(|f| f.get(family)).copied();
        let kind = kind.ok_or_else(|| format!("no register {name}"))?;
        let row = self.fresh(kind);
        // The function's own scope, so that the name lives as long as the function.
        let scope = self.bases.last().copied().unwrap_or(0);
        self.scopes[scope].insert(name, Bound::Register(kind, row));
        Ok((kind, row))
    }

    /// Whether the register has 16 bits.
    pub fn is_half(&mut self, name: &'a str) -> bool {
        matches!(self.register(name), Ok((Kind::Half, _)))
    }

    /// A register that is written.
    pub fn write(&mut self, name: &'a str, wide: &mut u8) -> Result<u32, String> {
        if name == "_" {
            *wide |= 0x80;
            return Ok(self.fresh(Kind::Wide));
        }
        let (kind, row) = self.register(name)?;
        if kind == Kind::Wide {
            *wide |= 0x80;
        }
        Ok(row)
    }

    /// A predicate that is written or read.
    pub fn predicate(&mut self, name: &'a str) -> Result<u32, String> {
        if name == "_" {
            return Ok(self.fresh(Kind::Predicate));
        }
        match self.register(name)? {
            (Kind::Predicate, mask) => Ok(mask),
            _ => Err(format!("{name} is no predicate")),
        }
    }

    /// An operand that is read as source `index`: a register, special register, number or address.
    pub fn read(&mut self, name: &'a str, ty: Ty, wide: &mut u8, index: usize) -> Result<u32, String> {
        let long = ty.size() == 8;
        if let Some(special) = special(name) {
            if long {
                // 64-bit reads of special registers are clocks, which are 0.
                *wide |= 1 << index;
                return Ok(self.constant(0, true));
            }
            return Ok(self.special(special));
        }
        let bits = match self.lookup(name) {
            Some(Bound::Address(address)) => {
                *wide |= 1 << index;
                return Ok(self.constant(address, true));
            }
            Some(Bound::Slot(..)) => return Err(format!("{name} is a parameter")),
            Some(Bound::Register(..)) => None,
            None if name == "WARP_SZ" => Some(32),
            None => immediate(name, long),
        };
        if let Some(bits) = bits {
            if long {
                *wide |= 1 << index;
            }
            let bits = if long { bits } else { bits & ty.mask().max(0xffff) & 0xffff_ffff };
            return Ok(self.constant(bits, long));
        }
        let (kind, row) = self.register(name)?;
        match kind {
            Kind::Predicate => Err(format!("{name} is a predicate")),
            Kind::Wide => {
                *wide |= 1 << index;
                Ok(row)
            }
            Kind::Half | Kind::Narrow => Ok(row),
        }
    }

    /// A row that holds a constant.
    pub fn constant(&mut self, bits: u64, wide: bool) -> u32 {
        if let Some(row) = self.constant_rows.get(&(bits, wide)) {
            return *row;
        }
        let row = CONSTANT | self.constants;
        self.constants += if wide { 2 } else { 1 };
        self.constant_rows.insert((bits, wide), row);
        self.kernel.constants.push((row, bits, wide));
        row
    }

    fn special(&mut self, special: Special) -> u32 {
        if let Some(row) = self.special_rows.get(&special) {
            return *row;
        }
        let row = self.fresh(Kind::Narrow);
        self.special_rows.insert(special, row);
        self.kernel.specials.push((row, special));
        row
    }

    /// An instruction without operands.
    pub fn plain(&self, op: Op, line: u32) -> Ins {
        let mods =
            Mods { round: Round::Near, integer: false, sat: false, ftz: false, nan: false, relu: false, mode: 0 };
        Ins {
            op,
            ty: Ty::B32,
            ty2: Ty::B32,
            mods,
            wide: 0,
            guard: NONE,
            dst: NONE,
            dst2: NONE,
            src: [NONE; 4],
            imm: 0,
            line,
        }
    }

    /// Append an instruction.
    pub fn emit(&mut self, ins: Ins) {
        self.kernel.code.push(ins);
    }
}

/// The address of dynamic shared memory until the size of static shared memory is known.
const DYNAMIC: u64 = SHARED | 0x00ff_ffff_0000_0000;
/// The label behind the last instruction of a function: no name in a text has a blank.
const END: &str = " end";

/// The name in a declaration.
fn declared_name(text: &str) -> &str {
    let text = text.split('[').next().unwrap_or(text).trim_end();
    text.rsplit(char::is_whitespace).next().unwrap_or(text)
}

/// Split operands at the commas outside of brackets.
fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (i, c) in text.bytes().enumerate() {
        match c {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

fn special(name: &str) -> Option<Special> {
    let axis = |s: &str| match s {
        "x" => Some(0u8),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    let name = name.strip_prefix('%')?;
    Some(match name {
        "laneid" => Special::Lane,
        "warpid" => Special::Warp,
        "nwarpid" => Special::Warps,
        "lanemask_eq" => Special::LaneMask(Cmp::Eq),
        "lanemask_lt" => Special::LaneMask(Cmp::Lt),
        "lanemask_le" => Special::LaneMask(Cmp::Le),
        "lanemask_gt" => Special::LaneMask(Cmp::Gt),
        "lanemask_ge" => Special::LaneMask(Cmp::Ge),
        "smid" | "gridid" | "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo" => Special::Zero,
        "nsmid" => Special::One,
        _ => {
            let (base, tail) = name.split_once('.')?;
            let axis = axis(tail)?;
            match base {
                "tid" => Special::Tid(axis),
                "ntid" => Special::Ntid(axis),
                "ctaid" => Special::Ctaid(axis),
                "nctaid" => Special::Nctaid(axis),
                _ => return None,
            }
        }
    })
}
