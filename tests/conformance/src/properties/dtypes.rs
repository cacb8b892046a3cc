//! Every dtype is supported or rejected with an ordinary error: never a panic inside the library.

use super::Properties;
use crate::cases::{Case, Item};
use crate::door::{INTERNAL, Value, tag};
use rushlight_base::DType;

impl Properties<'_> {
    pub(super) fn dtypes(&self, case: &Case) -> Result<(), String> {
        let Some(Item::Tensor(model)) = case.args.first().map(first_of) else { return Ok(()) };
        let from = model.dtype;
        for to in DType::all() {
            let arguments = self.arguments(case, &mut |_, host| {
                let tensor = self.door.tensor(host)?;
                if host.dtype != from {
                    return Ok(tensor);
                }
                let code = Value::Code(tag::DTYPE, to as i64);
                let cast = self.door.call("aten::to", "dtype", vec![Value::Tensor(tensor), code], Vec::new())?;
                cast.first().and_then(Value::tensor).cloned().ok_or_else(|| "to gave no tensor".into())
            })?;
            if let Err(error) = self.call(case, arguments)
                && error.starts_with(INTERNAL)
            {
                return Err(format!("{to}: {error}"));
            }
        }
        Ok(())
    }
}

/// The item, or the first of a list.
fn first_of(item: &Item) -> &Item {
    match item {
        Item::List(items) => items.first().unwrap_or(item),
        item => item,
    }
}
