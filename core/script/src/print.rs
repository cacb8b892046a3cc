//! Prints a syntax tree as source code, which parses to the same tree.

use crate::ast::{
    BinaryOp, Class, Clause, CompareOp, ExprId, ExprKind, Function, Item, LogicalOp, Member, Module, Param, Part, Stmt,
    StmtKind, UnaryOp,
};
use std::fmt::Write;

/// The precedence of atoms, calls, attributes and subscripts.
const ATOM: u8 = 14;

/// The source code of a module.
pub fn print_module(module: &Module) -> String {
    let mut printer = Printer { module, out: String::new(), indent: 0 };
    for item in &module.items {
        match item {
            Item::Class(class) => printer.class(class),
            Item::Function(function) => printer.function(function),
            Item::Version(version, _) => {
                printer.line(|printer| printer.display(format_args!("op_version_set = {version}")))
            }
        }
    }
    printer.out
}

/// The source code of one expression.
pub fn print_expression(module: &Module, expr: ExprId) -> String {
    let mut printer = Printer { module, out: String::new(), indent: 0 };
    printer.expr(expr, 0);
    printer.out
}

/// A string in double quotes, with the escapes that PyTorch writes: bytes outside of ASCII are octal.
pub fn print_quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    escape(bytes, &mut out);
    out.push('"');
    out
}

fn escape(bytes: &[u8], out: &mut String) {
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            b'"' => out.push_str("\\\""),
            7 => out.push_str("\\a"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            11 => out.push_str("\\v"),
            b' '..=b'~' => out.push(byte as char),
            _ => out.extend(['\\', octal(byte >> 6), octal(byte >> 3), octal(byte)]),
        }
    }
}

fn octal(value: u8) -> char {
    (b'0' + (value & 7)) as char
}

/// How strongly the parts of an expression hold together.
fn precedence(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::Ternary { .. } | ExprKind::Slice(_) | ExprKind::Starred(_) => 0,
        ExprKind::Logical(op, ..) => op.precedence(),
        ExprKind::Unary(op, _) => op.precedence(),
        ExprKind::Compare(..) => CompareOp::Equal.precedence(),
        ExprKind::Binary(op, ..) => op.precedence(),
        ExprKind::Int(value) if *value < 0 => UnaryOp::Neg.precedence(),
        _ => ATOM,
    }
}

struct Printer<'a> {
    module: &'a Module,
    out: String,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn display(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(arguments);
    }

    fn start_line(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn line(&mut self, content: impl FnOnce(&mut Self)) {
        self.start_line();
        content(self);
        self.out.push('\n');
    }

    fn kind(&self, id: ExprId) -> &'a ExprKind {
        &self.module.expr(id).kind
    }

    fn class(&mut self, class: &Class) {
        self.decorators(&class.decorators);
        self.line(|printer| {
            printer.display(format_args!("class {}", class.name));
            if let Some(base) = class.base {
                printer.push("(");
                printer.expr(base, 0);
                printer.push(")");
            }
            printer.push(":");
        });
        self.indent += 1;
        if class.members.is_empty() {
            self.line(|printer| printer.push("pass"));
        }
        for member in &class.members {
            match member {
                Member::Method(method) => self.function(method),
                _ => self.line(|printer| printer.member(member)),
            }
        }
        self.indent -= 1;
    }

    fn member(&mut self, member: &Member) {
        match member {
            Member::Attribute { name, annotation, value, .. } => {
                let is_identifier = name.chars().all(|c| c == '_' || c.is_alphanumeric())
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && !name.is_empty();
                if is_identifier {
                    self.display(format_args!("{name} : "));
                } else {
                    self.display(format_args!("__annotations__[{}] = ", print_quoted(name.as_bytes())));
                }
                self.expr(*annotation, 0);
                if let Some(value) = value {
                    self.push(" = ");
                    self.expr(*value, 0);
                }
            }
            Member::Value { name, value, .. } => {
                self.display(format_args!("{name} = "));
                self.expr(*value, 0);
            }
            Member::Names { field, names, .. } => {
                self.display(format_args!("{field} = ["));
                for name in names {
                    self.display(format_args!("{}, ", print_quoted(name.as_bytes())));
                }
                self.push("]");
            }
            Member::Method(_) => {}
        }
    }

    fn decorators(&mut self, decorators: &[ExprId]) {
        for &decorator in decorators {
            self.line(|printer| {
                printer.push("@");
                printer.expr(decorator, 0);
            });
        }
    }

    fn function(&mut self, function: &Function) {
        self.decorators(&function.decorators);
        self.line(|printer| {
            printer.display(format_args!("def {}(", function.name));
            printer.params(&function.params);
            printer.push(")");
            if let Some(returns) = function.returns {
                printer.push(" -> ");
                printer.expr(returns, 0);
            }
            printer.push(":");
        });
        self.block(&function.body);
    }

    fn params(&mut self, params: &[Param]) {
        let mut keyword_only = false;
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.push(",\n");
                self.start_line();
                self.push("    ");
            }
            if param.keyword_only && !keyword_only {
                self.push("*, ");
                keyword_only = true;
            }
            self.push(&param.name);
            if let Some(annotation) = param.annotation {
                self.push(": ");
                self.expr(annotation, 0);
            }
            if let Some(default) = param.default {
                self.push("=");
                self.expr(default, 0);
            }
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        self.indent += 1;
        for stmt in block {
            self.stmt(stmt);
        }
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { branches, otherwise } => {
                for (index, (condition, body)) in branches.iter().enumerate() {
                    self.header(if index == 0 { "if " } else { "elif " }, *condition);
                    self.block(body);
                }
                if !otherwise.is_empty() {
                    self.line(|printer| printer.push("else:"));
                    self.block(otherwise);
                }
            }
            StmtKind::While { condition, body } => {
                self.header("while ", *condition);
                self.block(body);
            }
            StmtKind::For { target, iter, body } => {
                self.line(|printer| {
                    printer.push("for ");
                    printer.expr(*target, 0);
                    printer.push(" in ");
                    printer.expr(*iter, 0);
                    printer.push(":");
                });
                self.block(body);
            }
            StmtKind::With { items, body } => {
                self.line(|printer| {
                    printer.push("with ");
                    printer.separated(items, |printer, (context, target)| {
                        printer.expr(*context, 0);
                        if let Some(target) = target {
                            printer.push(" as ");
                            printer.expr(*target, 0);
                        }
                    });
                    printer.push(":");
                });
                self.block(body);
            }
            StmtKind::Function(function) => self.function(function),
            simple => self.line(|printer| printer.simple(simple)),
        }
    }

    fn header(&mut self, keyword: &str, condition: ExprId) {
        self.line(|printer| {
            printer.push(keyword);
            printer.expr(condition, 0);
            printer.push(":");
        });
    }

    fn simple(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Expr(value) => self.expr(*value, 0),
            StmtKind::Assign { targets, annotation, value } => {
                for (index, &target) in targets.iter().enumerate() {
                    if index > 0 {
                        self.push(" = ");
                    }
                    self.expr(target, 0);
                }
                match (annotation, value) {
                    // Only a type comment annotates several targets, or a tuple.
                    (Some(annotation), Some(value)) if !self.can_annotate(targets) => {
                        self.push(" = ");
                        self.expr(*value, 0);
                        self.push("  # type: ");
                        self.expr(*annotation, 0);
                    }
                    _ => {
                        if let Some(annotation) = annotation {
                            self.push(": ");
                            self.expr(*annotation, 0);
                        }
                        if let Some(value) = value {
                            self.push(" = ");
                            self.expr(*value, 0);
                        }
                    }
                }
            }
            StmtKind::AugAssign { target, op, value } => {
                self.expr(*target, 0);
                self.display(format_args!(" {}= ", op.symbol()));
                self.expr(*value, 0);
            }
            StmtKind::Break => self.push("break"),
            StmtKind::Continue => self.push("continue"),
            StmtKind::Pass => self.push("pass"),
            StmtKind::Return(value) => {
                self.push("return");
                if let Some(value) = value {
                    self.push(" ");
                    self.expr(*value, 0);
                }
            }
            StmtKind::Raise(value) => {
                self.push("raise ");
                self.expr(*value, 0);
            }
            StmtKind::Assert { test, message } => {
                self.push("assert ");
                self.expr(*test, 0);
                if let Some(message) = message {
                    self.push(", ");
                    self.expr(*message, 0);
                }
            }
            StmtKind::Delete(targets) => {
                self.push("del ");
                self.separated(targets, |printer, &target| printer.expr(target, 0));
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::With { .. }
            | StmtKind::Function(_) => {}
        }
    }

    fn can_annotate(&self, targets: &[ExprId]) -> bool {
        matches!(targets, [target] if matches!(self.kind(*target), ExprKind::Name(_) | ExprKind::Attribute { .. }))
    }

    fn separated<T>(&mut self, items: &[T], one: impl Fn(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            one(self, item);
        }
    }

    /// Prints an expression, in parentheses if it binds less strongly than `min`.
    fn expr(&mut self, id: ExprId, min: u8) {
        // Chains of operators and attributes have no limit: they are printed from the first operand on.
        let chain = self.module.chain(id);
        let mut brackets: Vec<bool> = Vec::with_capacity(chain.len());
        let mut required = min;
        for &part in &chain {
            let kind = self.kind(part);
            // Tuples and numbers need parentheses before a dot or bracket, strings do not.
            let is_number = matches!(kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Imaginary(_));
            let bracket = precedence(kind) < required || is_number && required == ATOM;
            brackets.push(bracket);
            if bracket {
                self.push("(");
            }
            required = match kind {
                ExprKind::Binary(BinaryOp::Pow, ..) => BinaryOp::Pow.precedence() + 1,
                ExprKind::Binary(op, ..) => op.precedence(),
                ExprKind::Logical(op, ..) => op.precedence(),
                _ => ATOM,
            };
        }
        for (&part, bracket) in chain.iter().zip(brackets).rev() {
            match self.kind(part) {
                ExprKind::Binary(op, _, right) => {
                    self.display(format_args!(" {} ", op.symbol()));
                    let above = if *op == BinaryOp::Pow { UnaryOp::Neg.precedence() } else { op.precedence() + 1 };
                    self.expr(*right, above);
                }
                ExprKind::Logical(op, _, right) => self.logical(*op, *right),
                ExprKind::Attribute { name, .. } => self.display(format_args!(".{name}")),
                ExprKind::Call { args, keywords, .. } => {
                    self.push("(");
                    self.separated(args, |printer, &arg| printer.expr(arg, 0));
                    if !args.is_empty() && !keywords.is_empty() {
                        self.push(", ");
                    }
                    self.separated(keywords, |printer, (name, value)| {
                        printer.display(format_args!("{name}="));
                        printer.expr(*value, 0);
                    });
                    self.push(")");
                }
                ExprKind::Subscript { index, .. } => {
                    self.push("[");
                    self.separated(index, |printer, &index| printer.expr(index, 0));
                    self.push("]");
                }
                other => self.atom(other),
            }
            if bracket {
                self.push(")");
            }
        }
    }

    fn logical(&mut self, op: LogicalOp, right: ExprId) {
        self.display(format_args!(" {} ", op.symbol()));
        self.expr(right, op.precedence() + 1);
    }

    fn atom(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Name(name) => self.push(name),
            ExprKind::Int(value) => self.display(format_args!("{value}")),
            ExprKind::Float(value) => self.float(*value),
            ExprKind::Imaginary(value) => {
                self.float(*value);
                self.push("j");
            }
            ExprKind::Bool(value) => self.push(if *value { "True" } else { "False" }),
            ExprKind::None => self.push("None"),
            ExprKind::Ellipsis => self.push("..."),
            ExprKind::Str(bytes) => {
                let quoted = print_quoted(bytes);
                self.push(&quoted);
            }
            ExprKind::Format(parts) => self.format(parts),
            ExprKind::Unary(op, operand) => {
                self.push(op.symbol());
                self.expr(*operand, op.precedence());
            }
            ExprKind::Compare(first, rest) => {
                self.expr(*first, 5);
                for (op, operand) in rest {
                    self.display(format_args!(" {} ", op.symbol()));
                    self.expr(*operand, 5);
                }
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                self.expr(*then, 1);
                self.push(" if ");
                self.expr(*condition, 1);
                self.push(" else ");
                self.expr(*otherwise, 0);
            }
            ExprKind::Slice([lower, upper, step]) => {
                if let Some(lower) = lower {
                    self.expr(*lower, 0);
                }
                self.push(":");
                if let Some(upper) = upper {
                    self.expr(*upper, 0);
                }
                if let Some(step) = step {
                    self.push(":");
                    self.expr(*step, 0);
                }
            }
            ExprKind::Starred(value) => {
                self.push("*");
                self.expr(*value, 5);
            }
            ExprKind::List(items) => {
                self.push("[");
                self.separated(items, |printer, &item| printer.expr(item, 0));
                self.push("]");
            }
            ExprKind::Tuple(items) => {
                self.push("(");
                self.separated(items, |printer, &item| printer.expr(item, 0));
                self.push(if items.len() == 1 { ",)" } else { ")" });
            }
            ExprKind::Dict(items) => {
                self.push("{");
                self.separated(items, |printer, (key, value)| {
                    printer.expr(*key, 0);
                    printer.push(": ");
                    printer.expr(*value, 0);
                });
                self.push("}");
            }
            ExprKind::ListComp(element, clauses) => {
                self.push("[");
                self.expr(*element, 0);
                self.clauses(clauses);
                self.push("]");
            }
            ExprKind::DictComp(key, value, clauses) => {
                self.push("{");
                self.expr(*key, 0);
                self.push(": ");
                self.expr(*value, 0);
                self.clauses(clauses);
                self.push("}");
            }
            ExprKind::Binary(..)
            | ExprKind::Logical(..)
            | ExprKind::Call { .. }
            | ExprKind::Attribute { .. }
            | ExprKind::Subscript { .. } => {}
        }
    }

    /// A float that reads back as the same float, and not as an integer.
    fn float(&mut self, value: f64) {
        if value.is_infinite() {
            self.push("1e999");
        } else {
            self.display(format_args!("{value:?}"));
        }
    }

    /// In triple quotes: the values may contain strings.
    fn format(&mut self, parts: &[Part]) {
        self.push("f\"\"\"");
        for part in parts {
            match part {
                Part::Text(bytes) => {
                    let mut text = String::new();
                    escape(bytes, &mut text);
                    let text = text.replace('{', "{{").replace('}', "}}");
                    self.push(&text);
                }
                Part::Value(value) => {
                    self.push("{");
                    let start = self.out.len();
                    self.expr(*value, 0);
                    if self.out.get(start..).is_some_and(|value| value.starts_with('{')) {
                        self.out.insert(start, ' ');
                    }
                    self.push("}");
                }
            }
        }
        self.push("\"\"\"");
    }

    fn clauses(&mut self, clauses: &[Clause]) {
        for clause in clauses {
            self.push(" for ");
            self.expr(clause.target, 5);
            self.push(" in ");
            self.expr(clause.iter, 1);
            for &condition in &clause.conditions {
                self.push(" if ");
                self.expr(condition, 1);
            }
        }
    }
}
