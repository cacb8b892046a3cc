//! Classes that programs define at run time (`torch::class_`): their methods are functions of the program. Objects of
//! such a class are opaque to TorchScript, which only calls their methods.

use crate::ast::Name;
use crate::builtins::{Args, Builtin, Context};
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::value::Value;
use crate::schema::Schema;
use rushlight_base::{Result, bail, ensure, err, list};
use rushlight_tensor::dispatch;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

/// The prefix of the qualified names of such classes.
pub(crate) const PREFIX: &str = "__torch__.torch.classes.";

/// The function of a method. The first argument is the object, except for those of static methods, `__init__` and
/// `__setstate__`, which return the object.
pub type Function = Arc<dyn Fn(&[dispatch::Value]) -> Result<dispatch::Value> + Send + Sync>;

/// A method of a class.
pub struct Method {
    /// The schema, without `self`.
    pub schema: Arc<Schema>,
    /// Whether the method has no object.
    pub is_static: bool,
    function: Function,
}

type Methods = BTreeMap<Name, Arc<Method>>;

static CLASSES: LazyLock<RwLock<HashMap<String, Methods>>> = LazyLock::new(RwLock::default);

/// Defines a class without methods, named `__torch__.torch.classes.<namespace>.<name>`.
pub fn define(class: &str) -> Result<()> {
    ensure!(class.starts_with(PREFIX), Value, "the name of a custom class begins with '{PREFIX}', unlike '{class}'");
    let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
    ensure!(!classes.contains_key(class), Runtime, "the custom class '{class}' is defined already");
    classes.insert(class.to_owned(), Methods::new());
    Ok(())
}

/// Removes a class. Its objects stay.
pub fn remove(class: &str) {
    let removed = CLASSES.write().unwrap_or_else(PoisonError::into_inner).remove(class);
    drop(removed);
}

/// Adds a method: its schema is `name(Tensor x, int n=1) -> Tensor`, without `self`.
pub fn define_method(class: &str, schema: &str, is_static: bool, function: Function) -> Result<()> {
    let schema = Schema::parse(&format!("classes::{schema}"))?.without_namespace();
    let name: Name = schema.name.split_once("::").map_or(&*schema.name, |(_, name)| name).into();
    let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
    let methods = classes.get_mut(class).ok_or_else(|| err!(Runtime, "there is no custom class '{class}'"))?;
    ensure!(
        !methods.contains_key(&name),
        Runtime,
        "the method '{name}' of the custom class '{class}' is defined already"
    );
    let schema = Arc::new(schema.named(name.clone()));
    methods.insert(name, Arc::new(Method { schema, is_static, function }));
    Ok(())
}

/// A method of a class.
pub(crate) fn find(class: &str, name: &str) -> Option<Arc<Method>> {
    let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    classes.get(class)?.get(name).cloned()
}

/// The names of the methods and static methods of a class.
pub(crate) fn names(class: &str) -> Result<(Vec<Name>, Vec<Name>)> {
    let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    let methods = classes.get(class).ok_or_else(|| err!(Runtime, "there is no custom class '{class}'"))?;
    let (fixed, bound): (Vec<_>, Vec<_>) = methods.iter().partition(|(_, method)| method.is_static);
    let names = |list: Vec<(&Name, &Arc<Method>)>| list.into_iter().map(|(name, _)| name.clone()).collect();
    Ok((names(bound), names(fixed)))
}

/// An object that a program creates before `__init__` decides what it is.
struct Created(OnceLock<dispatch::Object>);

/// An object of a class before its `__init__` was called.
pub(crate) fn create(class: &str) -> Result<Value> {
    Ok(Value::Custom(dispatch::Object::new(class, Created(OnceLock::new()))?))
}

/// The object that `__init__` has put into one that [`create`] returned; any other object itself.
pub(crate) fn resolved(object: &dispatch::Object) -> &dispatch::Object {
    object.content::<Created>().and_then(|created| created.0.get()).unwrap_or(object)
}

/// The object of a class from the state in a file; `None` if the class is not defined or has no `__setstate__`.
pub(crate) fn restore(class: &str, state: &Value) -> Result<Option<dispatch::Object>> {
    let Some(method) = find(class, "__setstate__") else { return Ok(None) };
    match (method.function)(&[to_operator(state)?])? {
        dispatch::Value::Object(object) => Ok(Some(object)),
        other => bail!(Type, "__setstate__ of {class} returned a value of type {}, not an object", other.kind()),
    }
}

/// The state of an object; `None` if its class is not defined or has no `__getstate__`.
pub(crate) fn state(object: &dispatch::Object) -> Result<Option<Value>> {
    let object = resolved(object);
    let Some(method) = find(object.class_name(), "__getstate__") else { return Ok(None) };
    from_operator((method.function)(&[dispatch::Value::Object(object.clone())])?).map(Some)
}

/// A method of an object that is not written in TorchScript. The first argument of a call is the object.
pub enum Custom {
    /// One of this library.
    Builtin(Builtin),
    /// One of a class that a program has defined.
    Defined(Arc<Method>),
}

impl Custom {
    /// Calls the method.
    pub fn call(&self, values: &mut [Value], context: &dyn Context) -> Result<Value> {
        match self {
            Custom::Builtin(builtin) => builtin(&mut Args::new(values, context)),
            Custom::Defined(method) => method.call(values),
        }
    }
}

impl Method {
    fn call(&self, values: &[Value]) -> Result<Value> {
        let is_constructor = &*self.schema.name == "__init__";
        let skipped = usize::from(self.is_static || is_constructor);
        let arguments: Vec<dispatch::Value> = list::try_collect(values.iter().skip(skipped).map(to_operator))?;
        let result = (self.function)(&arguments)?;
        if !is_constructor {
            return from_operator(result);
        }
        let (Some(Value::Custom(object)), dispatch::Value::Object(created)) = (values.first(), result) else {
            bail!(Type, "__init__ of a custom class must be called on an object, and return one")
        };
        let slot =
            object.content::<Created>().ok_or_else(|| err!(Runtime, "__init__ is called on an object that exists"))?;
        ensure!(
            slot.0.set(created).is_ok(),
            Runtime,
            "__init__ is called twice on an object of {}",
            object.class_name()
        );
        Ok(Value::None)
    }
}
