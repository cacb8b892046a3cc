//! Instructions that create and read containers and objects.

use super::code::{Code, Instruction, Reg};
use super::dict::Dict;
use super::interpreter::{fetch, read, write};
use super::list::{Items, List};
use super::object::{Object, Tuple};
use super::trace::Exception;
use super::value::Value;
use crate::classes;
use crate::types::{NoTypes, Type};
use rushlight_base::{Result, ensure, err, list};
use std::sync::atomic::Ordering;

/// The elements of a tuple, each to its register.
pub(super) fn spread(value: Value, registers: &[Reg], frame: &mut [Value]) -> Result<()> {
    let tuple = value.as_tuple()?;
    ensure!(
        tuple.items().len() == registers.len(),
        Runtime,
        "Expected {} elements in a tuple but found {}",
        registers.len(),
        tuple.items().len()
    );
    for (&register, item) in registers.iter().zip(tuple.items()) {
        write(frame, register, item.clone());
    }
    Ok(())
}

/// Instructions that create and read containers and objects.
pub(super) fn construct(instruction: Instruction, code: &Code, registers: &mut [Value]) -> Result<()> {
    let collect = |site: u32, registers: &mut [Value]| {
        list::collect(code.inputs_of(site).iter().map(|&input| fetch(registers, code, input)))
    };
    let set = |site: u32, registers: &mut [Value], value: Value| {
        if let Some(&to) = code.outputs_of(site).first() {
            write(registers, to, value);
        }
    };
    let missing = || err!(Internal, "a part of the code is missing");
    match instruction {
        Instruction::List { kind, site } => {
            let element = code.kinds.get(kind as usize).ok_or_else(missing)?;
            let mut items = Items::of_type(element);
            let inputs = code.inputs_of(site);
            items.reserve(inputs.len())?;
            for &input in inputs {
                items.push(fetch(registers, code, input))?;
            }
            set(site, registers, List::new(element.clone(), items).into());
        }
        Instruction::Dict { kind, site } => {
            let Some(Type::Dict(kinds)) = code.kinds.get(kind as usize) else { return Err(missing()) };
            let mut values = collect(site, registers)?.into_iter();
            let dict = Dict::new(kinds.0.clone(), kinds.1.clone());
            while let (Some(key), Some(value)) = (values.next(), values.next()) {
                dict.insert(key, value)?;
            }
            set(site, registers, dict.into());
        }
        Instruction::Tuple { site } => {
            let items = collect(site, registers)?;
            set(site, registers, Tuple::new(items).into());
        }
        Instruction::NamedTuple { class, site } => {
            let class = code.named_tuples.get(class as usize).ok_or_else(missing)?.clone();
            let items = collect(site, registers)?;
            set(site, registers, Tuple::named(class, items).into());
        }
        Instruction::UnpackTuple { site } => {
            let value = collect(site, registers)?.pop().unwrap_or_default();
            spread(value, code.outputs_of(site), registers)?;
        }
        Instruction::UnpackList { site } => {
            let value = collect(site, registers)?.pop().unwrap_or_default();
            let items = value.as_list()?.values();
            let outputs = code.outputs_of(site);
            ensure!(
                items.len() == outputs.len(),
                Runtime,
                "Expected {} elements in a list but found {}",
                outputs.len(),
                items.len()
            );
            for (&to, item) in outputs.iter().zip(items) {
                write(registers, to, item);
            }
        }
        Instruction::Create { class, to } => {
            let class = code.classes.get(class as usize).ok_or_else(missing)?.clone();
            let object = match class.name.starts_with(classes::PREFIX) {
                true => classes::create(&class.name)?,
                false => Object::new(class).into(),
            };
            write(registers, to, object);
        }
        Instruction::GetAttr { from, name, to } => {
            let attribute = code.attributes.get(name as usize).ok_or_else(missing)?;
            let mut slot = attribute.slot.load(Ordering::Relaxed) as usize;
            let value = match read(registers, code, from) {
                Value::Object(object) => object.get_near(&attribute.name, &mut slot)?,
                Value::Tuple(tuple) => named_item(tuple, &attribute.name)?,
                other => return Err(other.is_not("object")),
            };
            attribute.slot.store(slot as u32, Ordering::Relaxed);
            if from.is_last() {
                write(registers, from.index() as Reg, Value::None);
            }
            write(registers, to, value);
        }
        Instruction::SetAttr { object, value, name } => {
            let attribute = code.attributes.get(name as usize).ok_or_else(missing)?;
            let value = fetch(registers, code, value);
            fetch(registers, code, object).as_object()?.set(&attribute.name, value)?;
        }
        Instruction::GetSlot { from, slot, to } => {
            let value = fetch(registers, code, from).as_object()?.get_slot(slot as usize)?;
            write(registers, to, value);
        }
        Instruction::SetSlot { object, value, slot } => {
            let value = fetch(registers, code, value);
            let object = fetch(registers, code, object);
            let object = object.as_object()?;
            object.class().extend_to(slot as usize);
            object.set_slot(slot as usize, value)?;
        }
        Instruction::IsInstance { from, kinds, to } => {
            let kinds = code.instance_kinds.get(kinds as usize).ok_or_else(missing)?;
            let actual = fetch(registers, code, from).type_of();
            let holds = kinds.iter().any(|kind| actual.is_subtype_of(kind, &NoTypes));
            write(registers, to, Value::Bool(holds));
        }
        Instruction::Raise { message, class } => {
            let message = fetch(registers, code, message);
            let message = match &message {
                Value::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                other => String::from_utf8_lossy(&super::print::printed(other)).into_owned(),
            };
            let class = match fetch(registers, code, class) {
                Value::Str(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                _ => None,
            };
            return Err(Exception { class, message }.into_error());
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn named_item(tuple: &Tuple, name: &str) -> Result<Value> {
    let at = tuple.class().and_then(|class| class.fields.iter().position(|(field, _)| &**field == name));
    at.and_then(|at| tuple.items().get(at)).cloned().ok_or_else(|| err!(Runtime, "a tuple has no attribute '{name}'"))
}
