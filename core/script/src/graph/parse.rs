//! Reads graphs as they are printed, PyTorch's `parse_ir`. Tests and tools write graphs in this form.

use super::{Attribute, BlockId, Graph, Location, NodeId, ValueId};
use crate::types::{EnumType, NamedTuple, Type};
use rushlight_base::{Error, Result, bail, ensure, err};
use std::collections::HashMap;
use std::sync::Arc;

/// Types in types, lists in lists.
const MAX_DEPTH: usize = 64;

impl Graph {
    /// Reads a printed graph, and those that follow as `with prim::fork_0 = graph(...)`.
    ///
    /// A tensor type with dtype and sizes is read as Tensor; constants printed as `<Tensor>` have no value.
    pub fn parse(text: &str) -> Result<Graph> {
        let mut reader = Reader { text, at: 0 };
        let mut graph = reader.graph()?;
        let mut inner = Vec::new();
        loop {
            reader.skip_space();
            if reader.at == text.len() {
                break;
            }
            reader.word("with")?;
            let name = reader.kind()?;
            reader.expect("=")?;
            inner.push((name, reader.graph()?));
        }
        graph.attach(inner)?;
        Ok(graph)
    }

    /// Gives the nodes that were printed with the name of a graph that graph.
    fn attach(&mut self, inner: Vec<(String, Graph)>) -> Result<()> {
        // Graphs that follow belong to the graph before them or to one that follows later.
        let mut known: HashMap<String, Graph> = HashMap::new();
        for (name, mut graph) in inner.into_iter().rev() {
            graph.attach_known(&mut known)?;
            known.insert(name, graph);
        }
        self.attach_known(&mut known)
    }

    fn attach_known(&mut self, known: &mut HashMap<String, Graph>) -> Result<()> {
        let ids: Vec<NodeId> = (0..self.nodes.len()).map(|id| NodeId(id as u32)).collect();
        for id in ids {
            let node = self.node_mut(id)?;
            if let Some(graph) = known.remove(&*node.kind) {
                let kind = node.kind.rsplit_once('_').map_or("", |(kind, _)| kind);
                node.kind = kind.into();
                node.attributes.push(("Subgraph".into(), Attribute::Graph(Arc::new(graph))));
            }
        }
        Ok(())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// The values by their printed names.
type Scope = HashMap<String, ValueId>;

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    #[cold]
    fn error(&self, message: impl AsRef<str>) -> Error {
        let before = self.text.get(..self.at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let found: String = self.rest().chars().take(30).collect();
        err!(Runtime, "line {line} of a graph: {} at '{}'", message.as_ref(), found.escape_debug())
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn peek(&mut self, token: &str) -> bool {
        self.skip_space();
        self.rest().starts_with(token)
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.error(format!("expected '{token}'"))) }
    }

    fn word(&mut self, word: &str) -> Result<()> {
        let found = self.name();
        if found == word { Ok(()) } else { Err(self.error(format!("expected '{word}', not '{found}'"))) }
    }

    /// Letters, digits, `_` and `.`.
    fn name(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    /// `aten::add`
    fn kind(&mut self) -> Result<String> {
        let mut kind = self.name().to_owned();
        while self.rest().starts_with("::") {
            self.at += 2;
            kind.push_str("::");
            kind.push_str(self.name());
        }
        if kind.is_empty() { Err(self.error("expected an operator")) } else { Ok(kind) }
    }

    fn value_name(&mut self) -> Result<String> {
        self.expect("%")?;
        let name = self.name();
        if name.is_empty() { Err(self.error("expected the name of a value")) } else { Ok(name.to_owned()) }
    }

    // ---- graphs --------------------------------------------------------------------------------------------

    fn graph(&mut self) -> Result<Graph> {
        self.word("graph")?;
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let top = graph.top();
        self.parameters(&mut graph, top, &mut scope)?;
        // The open blocks, innermost last, with the node that they belong to.
        let mut blocks = vec![top];
        let mut last: Vec<Option<NodeId>> = vec![None];
        loop {
            let (Some(&block), Some(owner)) = (blocks.last(), last.last_mut()) else {
                return Err(self.error("a block ends twice"));
            };
            if self.peek("block")
                && let Some(node) = *owner
            {
                self.name();
                let inner = graph.add_block(node)?;
                self.parameters(&mut graph, inner, &mut scope)?;
                blocks.push(inner);
                last.push(None);
            } else if blocks.len() > 1 && self.eat("->") {
                self.outputs(&mut graph, block, &scope)?;
                blocks.pop();
                last.pop();
            } else if blocks.len() == 1 && self.peek("return") {
                self.name();
                self.outputs(&mut graph, top, &scope)?;
                return Ok(graph);
            } else {
                *owner = Some(self.node(&mut graph, block, &mut scope)?);
            }
        }
    }

    /// `(%x : Tensor, %y : int):`
    fn parameters(&mut self, graph: &mut Graph, block: BlockId, scope: &mut Scope) -> Result<()> {
        self.expect("(")?;
        while !self.eat(")") {
            let name = self.value_name()?;
            let kind = if self.eat(":") { self.kind_of_value(0)? } else { Type::Tensor };
            let value = graph.add_input(block, kind)?;
            self.define(graph, scope, name, value)?;
            self.eat(",");
        }
        self.expect(":")
    }

    fn define(&self, graph: &mut Graph, scope: &mut Scope, name: String, value: ValueId) -> Result<()> {
        if !name.chars().all(|c| c.is_ascii_digit()) {
            graph.set_name(value, &name)?;
        }
        if scope.insert(name.clone(), value).is_some() {
            return Err(self.error(format!("%{name} is defined twice")));
        }
        Ok(())
    }

    fn outputs(&mut self, graph: &mut Graph, block: BlockId, scope: &Scope) -> Result<()> {
        for value in self.values(scope)? {
            graph.add_output(block, value)?;
        }
        Ok(())
    }

    /// `(%x, %y)`
    fn values(&mut self, scope: &Scope) -> Result<Vec<ValueId>> {
        self.expect("(")?;
        let mut values = Vec::new();
        while !self.eat(")") {
            let name = self.value_name()?;
            let value = scope.get(&name).ok_or_else(|| self.error(format!("%{name} is not defined")))?;
            values.push(*value);
            self.eat(",");
        }
        Ok(values)
    }

    fn node(&mut self, graph: &mut Graph, block: BlockId, scope: &mut Scope) -> Result<NodeId> {
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        while self.peek("%") {
            names.push(self.value_name()?);
            kinds.push(if self.eat(":") { self.kind_of_value(0)? } else { Type::Tensor });
            self.eat(",");
        }
        // A node without outputs may be printed without the equals sign.
        if !self.eat("=") && !names.is_empty() {
            return Err(self.error("expected '='"));
        }
        let kind = self.kind()?;
        let attributes = self.attributes()?;
        let inputs = self.values(scope)?;
        let location = self.location();
        let id = graph.append(block, &kind, &inputs, &kinds)?;
        let node = graph.node_mut(id)?;
        node.attributes = attributes;
        node.location = location;
        let outputs = node.outputs().to_vec();
        for (name, value) in names.into_iter().zip(outputs) {
            self.define(graph, scope, name, value)?;
        }
        Ok(id)
    }

    /// `# file.py:3:8` at the end of the line.
    fn location(&mut self) -> Option<Location> {
        let line = self.rest().split('\n').next().unwrap_or("");
        let comment = line.trim_start().strip_prefix('#')?.trim();
        self.at += line.len();
        let mut parts = comment.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some(Location { file: parts.next()?.into(), line, column })
    }

    // ---- attributes ----------------------------------------------------------------------------------------

    fn attributes(&mut self) -> Result<Vec<(Arc<str>, Attribute)>> {
        let mut attributes = Vec::new();
        if !self.eat("[") {
            return Ok(attributes);
        }
        while !self.eat("]") {
            let name = self.name();
            self.expect("=")?;
            let value = if name == "types" { self.types()? } else { self.attribute(0)? };
            attributes.push((name.into(), value));
            self.eat(",");
        }
        Ok(attributes)
    }

    fn types(&mut self) -> Result<Attribute> {
        self.expect("[")?;
        let mut types = Vec::new();
        while !self.eat("]") {
            types.push(Attribute::Type(self.kind_of_value(0)?));
            self.eat(",");
        }
        Ok(Attribute::List(types))
    }

    fn attribute(&mut self, depth: usize) -> Result<Attribute> {
        ensure!(depth < MAX_DEPTH, Runtime, "an attribute of a graph is nested more than {MAX_DEPTH} deep");
        if self.peek("\"") {
            return Ok(Attribute::Str(self.string()?.into()));
        }
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.eat(open) {
                let mut items = Vec::new();
                while !self.eat(close) {
                    items.push(self.attribute(depth + 1)?);
                    self.eat(",");
                }
                return Ok(Attribute::List(items));
            }
        }
        if self.eat("annotate(") {
            self.kind_of_value(0)?;
            self.expect(",")?;
            let value = self.attribute(depth + 1)?;
            self.expect(")")?;
            return Ok(value);
        }
        if self.eat("{") {
            // A tensor of one element.
            let value = self.attribute(depth + 1)?;
            self.expect("}")?;
            return Ok(value);
        }
        if self.peek("<") {
            bail!(Runtime, "{}", self.error("the value of this constant is not printed").message())
        }
        self.number()
    }

    fn number(&mut self) -> Result<Attribute> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c| !is_part_of_number(c)).unwrap_or(rest.len());
        let text = rest.get(..length).unwrap_or("");
        self.at += length;
        if let Some(complex) = text.strip_suffix('j') {
            let sign = complex.char_indices().skip(1).filter(|(at, c)| {
                matches!(c, '+' | '-') && !complex.get(..*at).is_some_and(|head| head.ends_with('e'))
            });
            let (at, _) = sign.last().ok_or_else(|| self.error("expected a complex number"))?;
            let (real, imaginary) = complex.split_at(at);
            return match (float(real), float(imaginary)) {
                (Some(real), Some(imaginary)) => Ok(Attribute::Complex(real, imaginary)),
                _ => Err(self.error("expected a complex number")),
            };
        }
        if let Ok(value) = text.parse::<i64>() {
            return Ok(Attribute::Int(value));
        }
        match text {
            "True" => Ok(Attribute::Int(1)),
            "False" => Ok(Attribute::Int(0)),
            _ => float(text).map(Attribute::Float).ok_or_else(|| self.error("expected a value")),
        }
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        self.expect("\"")?;
        let mut out = Vec::new();
        let bytes = self.rest().as_bytes();
        let mut at = 0;
        loop {
            let Some(&byte) = bytes.get(at) else { return Err(self.error("a string does not end")) };
            at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let Some(&escape) = bytes.get(at) else { return Err(self.error("a string does not end")) };
                    at += 1;
                    out.push(match escape {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'a' => 0x07,
                        b'b' => 0x08,
                        b'f' => 0x0c,
                        b'v' => 0x0b,
                        b'0'..=b'7' => {
                            let digits = bytes.get(at - 1..).unwrap_or_default().iter().take(3);
                            let digits: Vec<u32> =
                                digits.take_while(|d| (b'0'..=b'7').contains(d)).map(|d| u32::from(d - b'0')).collect();
                            at += digits.len() - 1;
                            digits.iter().fold(0, |value, digit| value * 8 + digit) as u8
                        }
                        other => other,
                    });
                }
                other => out.push(other),
            }
        }
        self.at += at;
        Ok(out)
    }

    // ---- types ---------------------------------------------------------------------------------------------

    fn kind_of_value(&mut self, depth: usize) -> Result<Type> {
        ensure!(depth < MAX_DEPTH, Runtime, "a type of a graph is nested more than {MAX_DEPTH} deep");
        let mut kind = if self.eat("(") { Type::tuple(self.kinds(")", depth)?) } else { self.simple_kind(depth)? };
        loop {
            // A list follows without a space; attributes of a node do not follow a type.
            if self.rest().starts_with("[]") {
                self.at += 2;
                kind = kind.list();
            } else if self.rest().starts_with('?') {
                self.at += 1;
                kind = kind.optional()?;
            } else {
                return Ok(kind);
            }
        }
    }

    fn kinds(&mut self, close: &str, depth: usize) -> Result<Vec<Type>> {
        let mut kinds = Vec::new();
        while !self.eat(close) {
            kinds.push(self.kind_of_value(depth + 1)?);
            self.eat(",");
        }
        Ok(kinds)
    }

    fn simple_kind(&mut self, depth: usize) -> Result<Type> {
        let name = self.name();
        let rest = self.rest();
        let close = match rest.chars().next() {
            Some('(') => ")",
            Some('[') if !rest.starts_with("[]") => "]",
            Some('<') if name == "Enum" => ">",
            _ => "",
        };
        if !close.is_empty() {
            self.at += 1;
            return self.parametrized(name, close, depth);
        }
        Ok(match name {
            "" => return Err(self.error("expected a type")),
            "Any" => Type::Any,
            "Tensor" => Type::Tensor,
            "int" => Type::Int,
            "float" => Type::Float,
            "complex" => Type::Complex,
            "Scalar" | "number" => Type::Number,
            "bool" => Type::Bool,
            "str" => Type::Str,
            "NoneType" | "None" => Type::None,
            "Device" => Type::Device,
            "Generator" => Type::Generator,
            "Stream" => Type::Stream,
            "Capsule" => Type::Capsule,
            "list" => Type::AnyList,
            "tuple" => Type::AnyTuple,
            name if is_tensor(name) => Type::Tensor,
            name => Type::Class(name.into()),
        })
    }

    fn parametrized(&mut self, name: &str, close: &str, depth: usize) -> Result<Type> {
        if is_tensor(name) {
            // Sizes, strides, device.
            let mut open = 1;
            while open > 0 {
                let rest = self.rest();
                let next = rest.find(['(', ')']).ok_or_else(|| self.error("a type does not end"))?;
                open = if rest.get(next..).is_some_and(|rest| rest.starts_with('(')) { open + 1 } else { open - 1 };
                self.at += next + 1;
            }
            return Ok(Type::Tensor);
        }
        if name == "Enum" {
            let class = self.name();
            self.expect(close)?;
            return Ok(Type::Enum(Arc::new(EnumType { name: class.into(), value: Type::Int })));
        }
        if name == "NamedTuple" {
            let mut fields = Vec::new();
            while !self.eat(close) {
                let field = self.name();
                self.expect(":")?;
                fields.push((field.into(), self.kind_of_value(depth + 1)?));
                self.eat(",");
            }
            return Ok(Type::NamedTuple(Arc::new(NamedTuple { name: "NamedTuple".into(), fields })));
        }
        let kinds = self.kinds(close, depth)?;
        Ok(match (name, kinds.as_slice()) {
            ("Dict", [key, value]) => Type::dict(key.clone(), value.clone())?,
            ("List", [element]) => element.clone().list(),
            ("Optional", [element]) => element.clone().optional()?,
            ("Future", [element]) => element.clone().future(),
            ("Await", [element]) => Type::Await(element.clone().into()),
            ("RRef", [element]) => Type::RRef(element.clone().into()),
            ("Tuple", elements) => Type::tuple(elements),
            ("Union", members) => Type::union(members)?,
            (name, kinds) => {
                return Err(self.error(format!("{name} is no type of {} parameters", kinds.len())));
            }
        })
    }
}

fn is_part_of_number(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')
}

fn float(text: &str) -> Option<f64> {
    text.strip_suffix('.').unwrap_or(text).parse().ok()
}

/// Whether this is the name of a tensor type with a dtype.
fn is_tensor(name: &str) -> bool {
    let dtypes = [
        "Float",
        "Double",
        "Half",
        "BFloat16",
        "Long",
        "Int",
        "Short",
        "Char",
        "Byte",
        "Bool",
        "ComplexFloat",
        "ComplexDouble",
        "ComplexHalf",
        "QInt8",
        "QUInt8",
        "QInt32",
    ];
    name == "Tensor" || dtypes.contains(&name)
}
