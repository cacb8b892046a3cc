//! Values without a module as pickles and as files: `torch::jit::pickle` and `torch::pickle_save`.

use crate::archive;
use crate::program::Program;
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::value::Value;
use crate::save;
use rushlight_base::{Result, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch;
use std::sync::Arc;

/// Pickles a value. Tensors go into `table`; the pickle refers to them by their number.
pub fn pickle(value: dispatch::Value, table: &mut Vec<Tensor>) -> Result<Vec<u8>> {
    save::value_with_table(&from_operator(value)?, &Program::new(), table)
}

/// The value of a pickle, with the tensors that it refers to by number. Objects have the classes of `program`.
pub fn unpickle(bytes: &[u8], table: &[Tensor], program: Option<&Arc<Program>>) -> Result<dispatch::Value> {
    let tensors = list::collect(table.iter().cloned().map(Value::Tensor))?;
    let none = Program::new();
    to_operator(&archive::unpickle(bytes, tensors, program.unwrap_or(&none))?)
}

/// A value as a file that `torch.load` of PyTorch reads.
pub fn save_value(value: dispatch::Value) -> Result<Vec<u8>> {
    save::value_file(&from_operator(value)?, &Program::new())
}

/// The value of a file that [`save_value`] or `torch.save` wrote.
pub fn load_value(bytes: Vec<u8>) -> Result<dispatch::Value> {
    to_operator(&archive::Archive::from_bytes(bytes)?.plain_value()?)
}
