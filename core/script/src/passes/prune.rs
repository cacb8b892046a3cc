//! The objects of a frozen module: with the attributes that its graphs still use.

use super::freeze::{Slot, slot_of};
use super::only_output;
use crate::ast::Name;
use crate::graph::{Graph, ValueId};
use crate::program::Program;
use crate::runtime::object::{Attribute, Class, Object};
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Result, err};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A frozen module whose class is not yet known to its program.
pub(super) struct Frozen {
    pub(super) object: Object,
    /// The classes of the modules in it.
    pub(super) children: Vec<Arc<Class>>,
    pub(super) methods: Vec<(Name, Graph)>,
}

/// Creates the objects, and changes the types in the graphs.
pub(super) fn rebuild(
    program: &Arc<Program>,
    root: &Object,
    kept: &HashSet<Slot>,
    whole: &HashSet<usize>,
    mut methods: Vec<(Name, Graph)>,
) -> Result<Frozen> {
    let mut used: HashSet<Slot> = kept.clone();
    for (_, graph) in &methods {
        let known = modules(program, root, graph)?;
        for id in graph.all_nodes() {
            if let Some((object, name)) = slot_of(graph, id, &known)? {
                used.insert((object.address(), name));
            }
        }
    }
    let mut builder = Builder { program, used: &used, whole, done: HashMap::new(), classes: Vec::new() };
    let object = builder.object(root)?;
    for (_, graph) in &mut methods {
        let known = modules(program, root, graph)?;
        for (value, object) in known {
            if let Some(new) = builder.done.get(&object.address()) {
                graph.value_mut(value)?.kind = Type::Class(new.class().name.clone());
            }
        }
        *graph = graph.compacted()?;
    }
    let own = object.class().name.clone();
    let children = builder.classes.into_iter().filter(|class| class.name != own).collect();
    Ok(Frozen { object, children, methods })
}

/// The modules that values of a graph are.
fn modules(program: &Program, root: &Object, graph: &Graph) -> Result<HashMap<ValueId, Object>> {
    let own = graph.block(graph.top())?.inputs().first().copied();
    let own = own.ok_or_else(|| err!(Runtime, "a method has no argument 'self'"))?;
    let mut known = HashMap::from([(own, root.clone())]);
    for id in graph.all_nodes() {
        if let Some((object, name)) = slot_of(graph, id, &known)?
            && &*graph.node(id)?.kind == "prim::GetAttr"
            && let Ok(Value::Object(inner)) = object.get(&name)
            && program.is_module(&inner.class().name)
        {
            known.insert(only_output(graph, id)?, inner);
        }
    }
    Ok(known)
}

struct Builder<'a> {
    program: &'a Arc<Program>,
    used: &'a HashSet<Slot>,
    whole: &'a HashSet<usize>,
    done: HashMap<usize, Object>,
    classes: Vec<Arc<Class>>,
}

impl Builder<'_> {
    /// The object without the attributes that are not used, and the modules in it.
    fn object(&mut self, root: &Object) -> Result<Object> {
        // Inner modules first.
        let mut pending = vec![(root.clone(), false)];
        while let Some((object, ready)) = pending.pop() {
            if self.done.contains_key(&object.address()) {
                continue;
            }
            let parts = self.parts(&object);
            if !ready {
                pending.push((object.clone(), true));
                let inner = parts.iter().filter_map(|(_, value)| self.module(value));
                pending.extend(
                    inner.filter(|inner| !self.done.contains_key(&inner.address())).map(|inner| (inner, false)),
                );
                continue;
            }
            let new = self.copy(&object, parts)?;
            self.done.insert(object.address(), new);
        }
        let new = self.done.get(&root.address()).cloned();
        new.ok_or_else(|| err!(Internal, "the frozen module is missing"))
    }

    /// The attributes that are used.
    fn parts(&self, object: &Object) -> Vec<(Attribute, Value)> {
        let attributes = object.attributes().into_iter();
        attributes.filter(|(attribute, _)| self.used.contains(&(object.address(), attribute.name.clone()))).collect()
    }

    /// A module of which less is needed.
    fn module(&self, value: &Value) -> Option<Object> {
        match value {
            Value::Object(inner)
                if self.program.is_module(&inner.class().name) && !self.whole.contains(&inner.address()) =>
            {
                Some(inner.clone())
            }
            _ => None,
        }
    }

    fn copy(&mut self, object: &Object, parts: Vec<(Attribute, Value)>) -> Result<Object> {
        let mut attributes = Vec::new();
        let mut values = Vec::new();
        for (mut attribute, value) in parts {
            let value = match self.module(&value).and_then(|inner| self.done.get(&inner.address()).cloned()) {
                Some(new) => {
                    attribute.kind = Type::Class(new.class().name.clone());
                    new.into()
                }
                None => value,
            };
            attributes.push(attribute);
            values.push(value);
        }
        let class = Arc::new(Class::new(self.program.free_class_name(&object.class().name), attributes));
        self.classes.push(class.clone());
        let new = Object::new(class);
        for (slot, value) in values.into_iter().enumerate() {
            new.set_slot(slot, value)?;
        }
        Ok(new)
    }
}
