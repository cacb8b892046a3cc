//! Runs the models of an unpacked zoo (`RUSHLIGHT_ZOO=/path cargo test --test zoo -- --nocapture`) and compares them with
//! the recorded results, as the README of the zoo says. `RUSHLIGHT_ZOO_ONLY` chooses models by a part of their name.

mod zoo_values;

use rushlight_base::{Result, err};
use rushlight_script::module::Module;
use rushlight_script::runtime::Exception;
use rushlight_script::runtime::value::Value;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::by_name;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use zoo_values::{Close, Tensors, compare, doubles, read};

/// One model: its file, description and tensors.
struct Model {
    file: PathBuf,
    meta: Json,
    tensors: Tensors,
}

impl Model {
    fn open(folder: &Path) -> Result<Model> {
        let read = |name: &str| std::fs::read(folder.join(name)).map_err(|error| err!(Io, "{name}: {error}"));
        let meta = serde_json::from_slice(&read("meta.json")?).map_err(|error| err!(Io, "meta.json: {error}"))?;
        let entries = rushlight_io::safetensors::load(folder.join("cases.safetensors"))?.entries;
        let tensors = entries.into_iter().map(|entry| Ok((entry.name.clone(), entry.into_tensor()?)));
        Ok(Model { file: folder.join("model.pt"), meta, tensors: tensors.collect::<Result<HashMap<_, _>>>()? })
    }

    fn cases(&self) -> &[Json] {
        self.meta["cases"].as_array().map_or(&[], Vec::as_slice)
    }

    fn run(&self) -> Result<()> {
        let stateful = self.meta["stateful"].as_bool() == Some(true);
        let trains = self.meta["mode"] == "train";
        let mut used: Option<Module> = None;
        for (index, case) in self.cases().iter().enumerate() {
            let case_of = |error: rushlight_base::Error| error.context(format_args!("case {index}"));
            let fresh = Module::load(&self.file)?;
            if let Some(attributes) = self.meta["attributes"].as_object().filter(|_| index == 0) {
                for (name, expected) in attributes {
                    self.check(&fresh.attribute(name)?, expected).map_err(|error| error.context(name))?;
                }
            }
            if trains {
                self.train(&fresh, case).map_err(case_of)?;
                continue;
            }
            let module = if stateful { used.get_or_insert(fresh).clone() } else { fresh };
            self.case(&module, case).map_err(case_of)?;
            if !stateful {
                // A used instance gives the same.
                let again = used.get_or_insert(module);
                self.case(again, case).map_err(|error| case_of(error).context("used instance"))?;
            }
        }
        Ok(())
    }

    fn arguments(&self, case: &Json) -> (Vec<Value>, Vec<(String, Value)>) {
        let args = case["args"].as_array().into_iter().flatten().map(|value| read(value, &self.tensors)).collect();
        let kwargs = case["kwargs"].as_object().into_iter().flatten();
        (args, kwargs.map(|(name, value)| (name.clone(), read(value, &self.tensors))).collect())
    }

    fn call(&self, module: &Module, case: &Json) -> Result<(Value, Vec<Value>)> {
        if let Some(seed) = case["seed"].as_i64() {
            rushlight_tensor::manual_seed(seed as u64);
        }
        let (args, kwargs) = self.arguments(case);
        let named = kwargs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let method = case["method"].as_str().unwrap_or("forward");
        Ok((module.run_method(method, args.clone(), named)?, args))
    }

    fn case(&self, module: &Module, case: &Json) -> Result<()> {
        let text = Arc::new(Mutex::new(Vec::new()));
        let sink = text.clone();
        let module =
            module.clone().printing_to(Arc::new(move |bytes: &[u8]| sink.lock().unwrap().extend_from_slice(bytes)));
        let called = self.call(&module, case);
        if let Some(raises) = case["raises"].as_object() {
            let Err(error) = called else { return Err(err!(Runtime, "it does not raise {raises:?}")) };
            let exception = error.payload().and_then(|payload| payload.downcast_ref::<Exception>());
            let wanted = raises["message"].as_str().unwrap_or("");
            let found = exception.map_or(error.message(), |exception| &exception.message);
            let agrees = error.message().trim() == wanted.trim() || wanted.contains(found) || found.contains(wanted);
            return if agrees { Ok(()) } else { Err(err!(Runtime, "raised '{found}', not '{wanted}'")) };
        }
        let (result, args) = called?;
        self.check(&result, &case["result"]).or_else(|error| match &case["result_other_engine"] {
            Json::Null => Err(error),
            other => self.check(&result, other),
        })?;
        if let Some(after) = case["args_after"].as_array() {
            for (value, expected) in args.iter().zip(after) {
                self.check(value, expected).map_err(|error| error.context("argument after the call"))?;
            }
        }
        let printed = String::from_utf8_lossy(&text.lock().unwrap()).into_owned();
        let expected = case["stdout"].as_str().unwrap_or("");
        if printed != expected {
            return Err(err!(Runtime, "printed {printed:?}, not {expected:?}"));
        }
        Ok(())
    }

    fn check(&self, actual: &Value, expected: &Json) -> Result<()> {
        let close = Close { absolute: self.meta["tolerance"]["atol"].as_f64().unwrap_or(0.0), tensors: &self.tensors };
        compare(actual, expected, &close).map_err(|error| err!(Runtime, "{error}"))
    }

    fn train(&self, module: &Module, case: &Json) -> Result<()> {
        module.train(true)?;
        let (result, args) = self.call(module, case)?;
        if !case["result"].is_null() {
            self.check(&result, &case["result"])?;
        }
        let output = first_tensor(&result).ok_or_else(|| err!(Runtime, "the result has no tensor"))?;
        rushlight_tensor::autograd::backward(&[&output], &[None], false, false, &[])?;
        let parameters: HashMap<String, Tensor> = module.parameters().into_iter().collect();
        for (name, norm) in case["grad_norms"].as_object().into_iter().flatten() {
            let parameter = parameters.get(name).ok_or_else(|| err!(Runtime, "there is no parameter {name}"))?;
            let grad = parameter.grad().ok_or_else(|| err!(Runtime, "{name} has no gradient"))?;
            let found = doubles(&grad)?.iter().map(|value| value * value).sum::<f64>().sqrt();
            let norm = norm.as_f64().unwrap_or(f64::NAN);
            // Gradients that are zero but for rounding have no digits to compare.
            if (found - norm).abs() > 1e-4 * norm.abs() + 1e-6 {
                return Err(err!(Runtime, "the gradient of {name} has the norm {found}, not {norm}"));
            }
        }
        let buffers: HashMap<String, Tensor> = module.buffers().into_iter().collect();
        for (name, expected) in case["buffers_after"].as_object().into_iter().flatten() {
            let buffer = buffers.get(name).ok_or_else(|| err!(Runtime, "there is no buffer {name}"))?;
            self.check(&buffer.clone().into(), expected).map_err(|error| error.context(name))?;
        }
        for (index, expected) in case["input_grads"].as_array().into_iter().flatten().enumerate() {
            if let (Some(Value::Tensor(input)), false) = (args.get(index), expected.is_null()) {
                let grad = input.grad().ok_or_else(|| err!(Runtime, "input {index} has no gradient"))?;
                self.check(&grad.into(), expected).map_err(|error| error.context("gradient of an input"))?;
            }
        }
        Ok(())
    }
}

fn first_tensor(value: &Value) -> Option<Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor.clone()),
        Value::Tuple(tuple) => tuple.items().iter().find_map(first_tensor),
        Value::List(list) => list.values().iter().find_map(first_tensor),
        Value::Dict(dict) => dict.entries().iter().find_map(|(_, value)| first_tensor(value)),
        _ => None,
    }
}

#[test]
fn the_models_of_the_zoo_agree_with_pytorch() {
    let Some(folder) = std::env::var_os("RUSHLIGHT_ZOO") else { return };
    let only = std::env::var("RUSHLIGHT_ZOO_ONLY").unwrap_or_default();
    let _ = by_name::find("add", "Tensor");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.join("model.pt").exists() && path.to_string_lossy().contains(&only));
    folders.sort();
    let (mut passed, mut failed) = (0, 0);
    let mut out = std::io::stdout();
    for path in folders {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let start = std::time::Instant::now();
        let result = std::panic::catch_unwind(|| Model::open(&path).and_then(|model| model.run()));
        let result = result.unwrap_or_else(|_| Err(err!(Internal, "panicked")));
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                passed += 1;
                writeln!(out, "ok     {name} {seconds:.1} s").unwrap();
            }
            Err(error) => {
                failed += 1;
                writeln!(out, "FAILED {name} {seconds:.1} s: {error}").unwrap();
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed").unwrap();
    assert_eq!(failed, 0);
}
