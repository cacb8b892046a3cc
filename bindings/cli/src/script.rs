//! Saved models (TorchScript): their classes, methods, graphs, and the operators that they call.

use crate::inspect::grouped;
use crate::plain::plain;
use anyhow::{Context, Result};
use rushlight_script::archive::Archive;
use rushlight_script::graph::{Attribute, BlockId, Graph, Node, NodeId, Origin};
use rushlight_script::module::Module;
use rushlight_script::runtime::function::{Function, Linker};
use rushlight_script::types::Type;
use rushlight_tensor::Tensor;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What `rushlight inspect` tells about a saved model.
pub struct Description {
    module: Module,
    extra_files: Vec<String>,
    version: u64,
    /// Each class with the place of its first module; the model's own is the first.
    classes: Vec<(String, String)>,
    /// The functions by their qualified names: methods of modules, and what they call.
    functions: BTreeMap<String, Arc<Function>>,
    /// The functions that do not compile, most often for an operator that this build lacks, and the reasons.
    failures: BTreeMap<String, String>,
    /// How many nodes call each operator.
    operators: BTreeMap<String, u64>,
}

impl Description {
    /// The description of a file; none if it is not a saved model.
    pub fn of(path: &Path) -> Result<Option<Description>> {
        let Some(archive) = Archive::open(path).ok().filter(Archive::is_script) else { return Ok(None) };
        let describe = || -> Result<Description> {
            let extra = archive.names();
            let extra = extra.iter().filter_map(|name| name.strip_prefix("extra/")).map(str::to_owned).collect();
            let version = archive.version();
            let mut description = Description {
                module: Module::from_archive(archive)?,
                extra_files: extra,
                version,
                classes: Vec::new(),
                functions: BTreeMap::new(),
                failures: BTreeMap::new(),
                operators: BTreeMap::new(),
            };
            description.find()?;
            Ok(description)
        };
        describe().map(Some).with_context(|| path.display().to_string())
    }

    /// Finds the classes, their methods, and the functions that these call.
    fn find(&mut self) -> rushlight_base::Result<()> {
        let (mut pending, mut seen) = (Vec::new(), BTreeSet::new());
        let mut modules = vec![(String::new(), self.module.clone())];
        while let Some((place, module)) = modules.pop() {
            let class = module.class().to_string();
            // Modules of one class have the same methods.
            if !seen.insert(class.clone()) {
                continue;
            }
            pending.extend(module.methods()?.iter().map(|method| format!("{class}.{method}")));
            let join = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
            modules.extend(module.children().into_iter().rev().map(|(name, child)| (join(&name), child)));
            self.classes.push((place, class));
        }
        while let Some(name) = pending.pop() {
            if self.functions.contains_key(&name) || self.failures.contains_key(&name) {
                continue;
            }
            match self.module.program().function(&name) {
                Ok(function) => {
                    self.calls_of(&function.graph, &mut pending);
                    self.functions.insert(name, function);
                }
                Err(error) => drop(self.failures.insert(name, reason(error.message()))),
            }
        }
        Ok(())
    }

    /// Counts the operators of a graph, and collects the functions that it calls.
    fn calls_of(&mut self, graph: &Graph, pending: &mut Vec<String>) {
        let mut blocks = vec![(graph, graph.top())];
        while let Some((graph, block)) = blocks.pop() {
            for node in graph.nodes(block).filter_map(|id| graph.node(id).ok()) {
                blocks.extend(node.blocks().iter().map(|&inner| (graph, inner)));
                blocks.extend(node.attributes.iter().filter_map(|(_, attribute)| match attribute {
                    Attribute::Graph(inner) => Some((&**inner, inner.top())),
                    _ => None,
                }));
                match &*node.kind {
                    "prim::CallFunction" | "prim::CallMethod" => pending.extend(callee(graph, node)),
                    kind if kind.starts_with("prim::") => {}
                    kind => *self.operators.entry(kind.to_owned()).or_default() += 1,
                }
            }
        }
    }

    fn schemas(&self) -> Result<Vec<String>> {
        let methods = self.module.methods()?;
        let schema = |name: &str| match self.module.method(name) {
            Ok(method) => method.schema.to_string(),
            Err(_) => format!("{name}: does not compile"),
        };
        Ok(methods.iter().map(|name| schema(name)).collect())
    }

    /// One JSON object.
    pub fn as_json(&self, file: &Path, graph: bool) -> serde_json::Value {
        let tensors = |tensors: &[(String, Tensor)]| -> Vec<_> {
            let row = |(name, tensor): &(String, Tensor)| json!({"name": name, "dtype": tensor.dtype().name(), "shape": tensor.sizes().as_slice()});
            tensors.iter().map(row).collect()
        };
        let classes = self.classes.iter().map(|(place, class)| json!({"module": place, "class": class}));
        let mut description = json!({
            "file": file.display().to_string(), "format": "TorchScript", "version": self.version,
            "parameters": tensors(&self.module.parameters()), "buffers": tensors(&self.module.buffers()),
            "classes": classes.collect::<Vec<_>>(), "methods": self.schemas().unwrap_or_default(),
            "extra_files": self.extra_files, "operators": self.operators, "failures": self.failures,
        });
        if graph {
            let graphs =
                self.functions.iter().map(|(name, function)| (name.clone(), function.graph.to_string().into()));
            description["graphs"] = serde_json::Value::Object(graphs.collect());
        }
        description
    }

    /// The description for readers.
    pub fn as_text(&self, file: &Path, graph: bool) -> String {
        let (parameters, buffers) = (self.module.parameters(), self.module.buffers());
        let elements = |tensors: &[(String, Tensor)]| grouped(tensors.iter().map(|(_, tensor)| tensor.numel()).sum());
        let mut text = format!(
            "{}: TorchScript, version {}, {} parameters with {} elements, {} buffers with {} elements\n",
            plain(file.display()),
            self.version,
            parameters.len(),
            elements(&parameters),
            buffers.len(),
            elements(&buffers)
        );
        let schemas = self.schemas().unwrap_or_default();
        section(&mut text, "methods", schemas);
        let class = |(place, class): &(String, String)| match place.is_empty() {
            true => class.clone(),
            false => format!("{place}: {class}"),
        };
        section(&mut text, "classes, with the first module of each", self.classes.iter().map(class));
        section(&mut text, "extra files", self.extra_files.iter().cloned());
        section(
            &mut text,
            "operators, and how many nodes call them",
            self.operators.iter().map(|(name, count)| format!("{name} {count}")),
        );
        section(
            &mut text,
            "cannot run in this build",
            self.failures.iter().map(|(name, reason)| format!("{name}: {reason}")),
        );
        if graph {
            for (name, function) in &self.functions {
                text.push_str(&format!("{}\n", plain(name)));
                function.graph.to_string().lines().for_each(|line| text.push_str(&format!("  {}\n", plain(line))));
            }
        }
        text
    }

    /// The graphs of all functions in the language of Graphviz.
    pub fn write_dot(&self, out: &mut impl Write) -> Result<()> {
        let mut text = String::from("digraph model {\n  node [shape=box];\n");
        for (at, (name, function)) in self.functions.iter().enumerate() {
            writeln!(text, "  subgraph cluster_f{at} {{\n    label={};", quoted(name))?;
            Dot { graph: &function.graph, prefix: format!("f{at}_"), text: &mut text, names: HashMap::new() }
                .write()?;
            text.push_str("  }\n");
        }
        text.push_str("}\n");
        Ok(out.write_all(text.as_bytes())?)
    }
}

fn section(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        text.push_str(&format!(" {title}:\n"));
    }
    lines.for_each(|line| text.push_str(&format!("  {}\n", plain(line))));
}

/// The first line of an error that says something, without source code.
fn reason(message: &str) -> String {
    message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().trim_end_matches(':').to_owned()
}

/// The qualified name of what a node calls; none for a method of an interface, whose class the values decide.
fn callee(graph: &Graph, node: &Node) -> Option<String> {
    let first = graph.value(*node.inputs().first()?).ok()?;
    let name = |node: &Node| match node.attribute("name") {
        Some(Attribute::Str(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    };
    match (&*node.kind, first.origin(), &first.kind) {
        ("prim::CallFunction", Origin::Node(constant), _) => name(graph.node(constant).ok()?),
        ("prim::CallMethod", _, Type::Class(class)) => Some(format!("{class}.{}", name(node)?)),
        _ => None,
    }
}

/// The text as a string of Graphviz.
fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a graph: a box for each node, an arrow for each value that it reads.
struct Dot<'a> {
    graph: &'a Graph,
    prefix: String,
    text: &'a mut String,
    /// The boxes that values come from.
    names: HashMap<String, String>,
}

/// What is to be written next.
enum Step {
    /// A block, its label, and the box of its node; the top has neither.
    Block(BlockId, String, String),
    Node(NodeId),
    /// The end of such a block.
    Close(BlockId, String),
}

impl Dot<'_> {
    fn write(&mut self) -> Result<()> {
        let top = self.graph.top();
        // Blocks nest as deeply as the file says, so they wait in a list.
        let mut steps = vec![Step::Block(top, String::new(), String::new())];
        let mut count = 0;
        while let Some(step) = steps.pop() {
            count += 1;
            match step {
                Step::Close(block, owner) => {
                    self.text.push_str("    }\n");
                    let outputs = self.graph.block(block)?.outputs();
                    outputs.iter().try_for_each(|value| self.arrow(&self.graph.name(*value), &owner))?;
                }
                Step::Block(block, label, owner) => {
                    if !label.is_empty() {
                        writeln!(
                            self.text,
                            "    subgraph cluster_{}{count} {{ label={};",
                            self.prefix,
                            quoted(&label)
                        )?;
                        steps.push(Step::Close(block, owner));
                    }
                    self.inputs(block, count)?;
                    let nodes: Vec<_> = self.graph.nodes(block).collect();
                    steps.extend(nodes.into_iter().rev().map(Step::Node));
                }
                Step::Node(id) => {
                    let node = self.graph.node(id)?;
                    let place = self.node(node, count)?;
                    let inner = node.blocks().iter().enumerate().rev();
                    steps
                        .extend(inner.map(|(at, &block)| {
                            Step::Block(block, format!("{} block {at}", node.kind), place.clone())
                        }));
                }
            }
        }
        let outputs = self.graph.block(top)?.outputs().to_vec();
        let result = format!("{}result", self.prefix);
        writeln!(self.text, "    {result} [label=\"return\", shape=ellipse];")?;
        outputs.iter().try_for_each(|value| self.arrow(&self.graph.name(*value), &result))
    }

    fn inputs(&mut self, block: BlockId, count: usize) -> Result<()> {
        for (at, value) in self.graph.block(block)?.inputs().iter().enumerate() {
            let (name, place) = (self.graph.name(*value), format!("{}i{count}_{at}", self.prefix));
            let label = quoted(&format!("{name}: {}", self.graph.value(*value)?.kind));
            writeln!(self.text, "    {place} [label={label}, shape=ellipse];")?;
            self.names.insert(name, place);
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, count: usize) -> Result<String> {
        let place = format!("{}n{count}", self.prefix);
        writeln!(self.text, "    {place} [label={}];", quoted(&node.kind))?;
        node.inputs().iter().try_for_each(|value| self.arrow(&self.graph.name(*value), &place))?;
        self.names.extend(node.outputs().iter().map(|value| (self.graph.name(*value), place.clone())));
        Ok(place)
    }

    fn arrow(&mut self, value: &str, to: &str) -> Result<()> {
        if let Some(from) = self.names.get(value) {
            writeln!(self.text, "    {from} -> {to} [label={}];", quoted(value))?;
        }
        Ok(())
    }
}
