//! Properties that hold for every operator, checked on the golden inputs.
//!
//! `forms`: in-place, out= and functional forms give the same results. `layout`: strided inputs give the results of
//! contiguous ones. `meta`: the meta device gives the same shapes, dtypes and strides. `second`: second derivatives
//! match finite differences. `dtypes`: no dtype makes the library panic. `effect`: no argument is ignored. `gradcheck`:
//! derivatives, and theirs, pass the library's own check in double precision. `threads`: any number of threads gives
//! the same bits.

mod domain;
mod dtypes;
mod effect;
mod forms;
mod gradcheck;
mod layout;
mod meta;
mod second;
mod threads;

pub use gradcheck::is_defined;

use crate::cases::{Case, Item};
use crate::door::{Door, Tensor, Value};
use crate::freedom;
use crate::host::HostTensor;
use rushlight_schema::Signature;

/// The operators of the library and the properties checked on them.
pub struct Properties<'a> {
    door: &'a Door,
    operators: Vec<Signature>,
}

/// Describes a violation by a case, if any.
type Property<'a> = fn(&Properties<'a>, &Case) -> Result<(), String>;

/// The arguments of a call.
struct Arguments {
    args: Vec<Value>,
    kwargs: Vec<(String, Value)>,
}

impl<'a> Properties<'a> {
    /// The properties over the operators that the library lists.
    pub fn new(door: &'a Door) -> Result<Properties<'a>, String> {
        let schemas = door.schemas()?;
        let parse = |schema: &String| schema.parse::<Signature>().map_err(|error| error.message().to_owned());
        Ok(Properties { door, operators: schemas.iter().map(parse).collect::<Result<_, _>>()? })
    }

    /// The properties that a case violates.
    pub fn check(&self, case: &Case) -> Vec<String> {
        if case.error.is_some() {
            return Vec::new();
        }
        let properties: [(&str, Property<'a>); 5] = [
            ("forms", Properties::forms),
            ("layout", Properties::layout),
            ("meta", Properties::meta),
            ("second", Properties::second),
            ("dtypes", Properties::dtypes),
        ];
        let broken = |(name, property): (&str, Property<'a>)| {
            property(self, case).err().map(|reason| format!("{name}: {reason}"))
        };
        properties.into_iter().filter_map(broken).collect()
    }

    fn signature(&self, case: &Case) -> Option<&Signature> {
        let (name, overload) = case.name();
        let bare = name.strip_prefix("aten::").unwrap_or(name);
        self.operators.iter().find(|op| op.name == bare && op.overload == overload)
    }

    fn arguments(
        &self,
        case: &Case,
        make: &mut dyn FnMut(&str, &HostTensor) -> Result<Tensor, String>,
    ) -> Result<Arguments, String> {
        let mut value = |key: &str, item: &Item| {
            self.door.value(item, &mut |path, host| {
                let key = if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") };
                make(&key, host)
            })
        };
        let positional = case.args.iter().enumerate().map(|(at, item)| value(&at.to_string(), item));
        let args = positional.collect::<Result<_, _>>()?;
        let named = case.kwargs.iter().map(|(name, item)| Ok((name.clone(), value(name, item)?)));
        Ok(Arguments { args, kwargs: named.collect::<Result<_, String>>()? })
    }

    fn hosts(&self, outs: &[Value]) -> Result<Vec<HostTensor>, String> {
        outs.iter().filter_map(Value::tensor).map(|out| self.door.host(out)).collect()
    }

    fn call(&self, case: &Case, arguments: Arguments) -> Result<Vec<Value>, String> {
        let (name, overload) = case.name();
        self.door.call(name, overload, arguments.args, arguments.kwargs)
    }
}

/// Whether a case has only deterministic tensors.
fn is_deterministic(case: &Case) -> bool {
    let draws = case.random || case.op.contains("dropout") && !case.op.ends_with("_backward");
    !draws && !freedom::is_unwritten(case.name().0)
}

/// Whether the library reports that the derivative does not exist, as PyTorch does. Then none can be wrong.
fn is_rejection(error: &str) -> bool {
    error.contains("derivative for") && error.contains("is not implemented") || error.contains("not implemented for '")
}
