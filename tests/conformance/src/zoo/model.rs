//! The cases of a model.

use super::compare::{Compare, numbers};
use super::module::{Library, Module, Tensors};
use super::record::Reader;
use super::value::Value;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// A saved model: its file, description and tensors.
pub struct Model {
    library: Library,
    file: PathBuf,
    /// Whether it is a file of the lite interpreter.
    lite: bool,
    /// Whether its methods are compiled for inference.
    compiled: bool,
    meta: Json,
    tensors: Tensors,
}

/// What a call got and gave.
struct Called {
    args: Vec<Value>,
    result: Result<Value, String>,
}

fn entries(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    json.as_object().into_iter().flatten()
}

fn items(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}

fn at(place: impl std::fmt::Display) -> impl FnOnce(String) -> String {
    move |error| format!("{place}: {error}")
}

impl Model {
    /// The model of a file, described by the `meta.json` beside it.
    pub fn open(library: &Library, file: &Path, compiled: bool) -> Result<Model, String> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let text = std::fs::read(folder.join("meta.json")).map_err(|error| format!("meta.json: {error}"))?;
        let meta: Json = serde_json::from_slice(&text).map_err(|error| format!("meta.json: {error}"))?;
        let tensors = library.tensors(&folder.join("cases.safetensors"))?;
        let lite = file.extension().is_some_and(|extension| extension == "ptl");
        // What trains, or has a state between its calls, is not made for inference.
        let compiled = compiled && !lite && meta["mode"] != "train" && meta["stateful"] != true;
        Ok(Model { library: library.clone(), file: file.to_owned(), lite, compiled, meta, tensors })
    }

    /// Runs every case; the reason if one disagrees. A note about the compiled methods.
    pub fn run(&self) -> Result<String, String> {
        let cases = self.cases()?;
        if !self.lite {
            // Files of the lite interpreter have no constants of classes.
            self.attributes()?;
        }
        let stateful = self.meta["stateful"] == true;
        let trains = self.meta["mode"] == "train";
        let used = self.load()?;
        for (index, case) in cases {
            let judged = if trains {
                self.train(&self.load()?, case)
            } else if stateful {
                self.case(&used, case)
            } else {
                self.case(&self.load()?, case).and_then(|()| self.case(&used, case).map_err(at("used instance")))
            };
            judged.map_err(at(format_args!("case {index}")))?;
        }
        if let Some(count) = self.meta["ptl"]["bundled_inputs"].as_u64().filter(|_| self.lite) {
            self.bundled(count).map_err(at("bundled inputs"))?;
        }
        if self.compiled { self.plans(&used) } else { Ok(String::new()) }
    }

    /// How the methods ran: by a plan, or why not.
    fn plans(&self, module: &Module) -> Result<String, String> {
        let mut notes = Vec::new();
        for method in self.methods() {
            let plans = module.plan(&method)?;
            let heads = plans.lines().filter(|line| !line.starts_with(' '));
            notes.extend(heads.map(|line| line.rsplit_once("): ").map_or(line, |(_, note)| note).to_owned()));
        }
        notes.dedup();
        Ok(if notes.is_empty() { "not compiled".to_owned() } else { notes.join("; ") })
    }

    /// The methods that the cases call.
    fn methods(&self) -> Vec<String> {
        let name = |case: &Json| case["method"].as_str().unwrap_or("forward").to_owned();
        let mut names: Vec<String> = items(&self.meta["cases"]).map(name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The cases that the file serves, with their numbers.
    fn cases(&self) -> Result<Vec<(usize, &Json)>, String> {
        let all: Vec<_> = items(&self.meta["cases"]).enumerate().collect();
        let served = match self.meta["ptl"]["cases"].as_array().filter(|_| self.lite) {
            Some(numbers) => all.into_iter().filter(|(index, _)| numbers.contains(&(*index).into())).collect(),
            None => all,
        };
        if served.is_empty() { Err("it has no cases".into()) } else { Ok(served) }
    }

    /// The file holds inputs, and runs with them.
    fn bundled(&self, count: u64) -> Result<(), String> {
        let module = self.load()?;
        let Value::List(inputs) = module.run("get_all_bundled_inputs", &[], &[])? else {
            return Err("they are no list".into());
        };
        if inputs.len() as u64 != count {
            return Err(format!("there are {}, not {count}", inputs.len()));
        }
        for input in inputs {
            let Value::Tuple(args) = input else { return Err("one is no tuple".into()) };
            module.run("forward", &args, &[])?;
        }
        Ok(())
    }

    fn load(&self) -> Result<Module, String> {
        let module = Module::load(&self.library, &self.file, self.lite)?;
        if !self.compiled {
            return Ok(module);
        }
        // A module that cannot be frozen runs as it is.
        Ok(module.compiled(&self.methods()).unwrap_or(module))
    }

    fn attributes(&self) -> Result<(), String> {
        let module = Module::load(&self.library, &self.file, self.lite)?;
        entries(&self.meta["attributes"]).try_for_each(|(name, expected)| {
            self.check(&module.attribute(name)?, expected).map_err(at(format_args!("attribute {name}")))
        })
    }

    fn reader(&self) -> Reader<'_> {
        Reader { door: &self.library.door, tensors: &self.tensors }
    }

    fn check(&self, actual: &Value, expected: &Json) -> Result<(), String> {
        let absolute = self.meta["tolerance"]["atol"].as_f64().unwrap_or(0.0);
        Compare { door: &self.library.door, absolute }.agrees(actual, &self.reader().value(expected)?)
    }

    fn call(&self, module: &Module, case: &Json) -> Result<Called, String> {
        if let Some(seed) = case["seed"].as_i64() {
            self.library.door.seed(seed.cast_unsigned())?;
        }
        let reader = self.reader();
        let args = items(&case["args"]).map(|value| reader.value(value)).collect::<Result<Vec<_>, _>>()?;
        let kwargs = entries(&case["kwargs"]).map(|(name, value)| Ok((name.clone(), reader.value(value)?)));
        let kwargs = kwargs.collect::<Result<Vec<_>, String>>()?;
        let result = module.run(case["method"].as_str().unwrap_or("forward"), &args, &kwargs);
        Ok(Called { args, result })
    }

    fn case(&self, module: &Module, case: &Json) -> Result<(), String> {
        let called = self.call(module, case)?;
        let printed = module.printed();
        let expected = case["stdout"].as_str().unwrap_or("");
        if case["raises"].is_null() {
            self.results(called, case)?;
        } else {
            raises(called.result, &case["raises"])?;
        }
        if printed != expected {
            return Err(format!("printed {printed:?}, not {expected:?}"));
        }
        Ok(())
    }

    fn results(&self, called: Called, case: &Json) -> Result<(), String> {
        let result = called.result?;
        self.check(&result, &case["result"]).or_else(|error| match &case["result_other_engine"] {
            Json::Null => Err(error),
            other => self.check(&result, other),
        })?;
        let mut after = called.args.iter().zip(items(&case["args_after"]));
        after.try_for_each(|(value, expected)| self.check(value, expected).map_err(at("argument after the call")))
    }

    fn train(&self, module: &Module, case: &Json) -> Result<(), String> {
        module.train()?;
        let called = self.call(module, case)?;
        let result = called.result?;
        if !case["result"].is_null() {
            self.check(&result, &case["result"])?;
        }
        self.library.backward(result.first_tensor().ok_or("the result has no tensor")?)?;
        self.parameters(&module.parameters()?, case)?;
        let buffers = module.buffers()?;
        for (name, expected) in entries(&case["buffers_after"]) {
            let buffer = buffers.get(name).ok_or_else(|| format!("there is no buffer {name}"))?;
            self.check(&Value::Tensor(buffer.clone()), expected).map_err(at(name))?;
        }
        for (index, expected) in items(&case["input_grads"]).enumerate() {
            if let (Some(Value::Tensor(input)), false) = (called.args.get(index), expected.is_null()) {
                let grad = self.library.grad(input)?.ok_or_else(|| format!("input {index} has no gradient"))?;
                self.check(&Value::Tensor(grad), expected).map_err(at(format_args!("gradient of input {index}")))?;
            }
        }
        Ok(())
    }

    fn parameters(&self, parameters: &Tensors, case: &Json) -> Result<(), String> {
        for (name, norm) in entries(&case["grad_norms"]) {
            let parameter = parameters.get(name).ok_or_else(|| format!("there is no parameter {name}"))?;
            let grad = self.library.grad(parameter)?.ok_or_else(|| format!("{name} has no gradient"))?;
            let squares = numbers(&self.library.door, &grad)?.iter().map(|value| value * value).sum::<f64>();
            let (found, norm) = (squares.sqrt(), norm.as_f64().ok_or("a norm that is no number")?);
            // Gradients that are zero but for rounding have no digits to compare.
            let near = (found - norm).abs() <= 1e-4 * norm.abs() + 1e-6;
            if !near {
                return Err(format!("the gradient of {name} has the norm {found}, not {norm}"));
            }
        }
        Ok(())
    }
}

fn raises(result: Result<Value, String>, expected: &Json) -> Result<(), String> {
    let message = expected["message"].as_str().unwrap_or_default();
    match result {
        Ok(_) => Err(format!("it does not raise '{message}'")),
        Err(found) if found.contains(message) => Ok(()),
        Err(found) => Err(format!("raised '{found}', not '{message}'")),
    }
}
