//! Files of the lite interpreter: each call returns what PyTorch's lite interpreter returns, for every version of the
//! code and both forms; files that are damaged or lie are rejected when they are loaded.

mod values;

use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::value::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use values::{matches, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/script/lite")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Calls a method with arguments as they are written in `cases.txt`.
fn run(module: &Module, method: &str, arguments: &str) -> rushlight_base::Result<Value> {
    module.run_method(method, read(arguments).as_tuple().unwrap().items().to_vec(), Vec::new())
}

#[test]
fn every_call_returns_what_pytorch_returns() {
    let text = std::fs::read_to_string(folder().join("cases.txt")).unwrap();
    let mut count = HashMap::new();
    // The calls of a file are those of one module, which keeps its state.
    let mut current: Option<(String, Module)> = None;
    for line in text.lines() {
        let [file, method, arguments, expected] = line.splitn(4, " | ").collect::<Vec<_>>().try_into().unwrap();
        if current.as_ref().is_none_or(|(name, _)| name != file) || method == "forward" {
            let path = folder().join(file);
            let module = if file.ends_with(".ptl") { Module::load_lite(path) } else { Module::load(path) };
            current = Some((file.to_owned(), module.unwrap_or_else(|error| panic!("{error}"))));
        }
        let result = run(&current.as_ref().unwrap().1, method, arguments);
        match (expected.strip_prefix("raises "), result) {
            (Some(message), Err(error)) => assert!(error.to_string().contains(message), "{line}\n{error}"),
            (None, Ok(result)) => {
                matches(&result, &read(expected)).unwrap_or_else(|difference| panic!("{line}\n{difference}"));
            }
            (_, result) => panic!("{line}\n{result:?}"),
        }
        *count.entry(file.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(count.remove("control.ptl"), Some(24 * 6));
    assert_eq!((count.remove("old.pt"), count.remove("old.ptl")), (Some(1), Some(1)));
    assert_eq!(count.len(), 6, "{count:?}");
    assert!(count.values().all(|count| *count == 12), "{count:?}");
}

#[test]
fn any_form_is_recognised() {
    for file in ["net.ptl", "net_flat.ptl", "net_v4.ptl"] {
        for module in [
            Module::load(folder().join(file)),
            Module::from_bytes(bytes(file)),
            Module::lite_from_bytes(bytes(file)),
            Module::from_reader(std::io::Cursor::new(bytes(file))),
        ] {
            let module = module.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(matches(&run(&module, "kinds", "(4,)").unwrap(), &Value::Int(5)).is_ok());
            assert_eq!(module.extra_file("labels.txt").unwrap().unwrap(), b"cat\ndog\n");
            assert_eq!(module.extra_file("other.txt").unwrap(), None);
        }
    }
    let error = Module::load_lite(folder().join("old.pt")).err().unwrap().to_string();
    assert!(error.contains("no code for the lite interpreter"), "{error}");
}

#[test]
fn attributes_have_their_names_and_roles() {
    for file in ["net.ptl", "net_flat.ptl", "net_v5.ptl"] {
        let module = Module::load_lite(folder().join(file)).unwrap();
        let names = |tensors: Vec<(String, rushlight_tensor::Tensor)>| {
            tensors.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(module.buffers()), ["flags", "quantized"], "{file}");
        let parameters = names(module.parameters());
        assert_eq!(&parameters[..2], ["fc.weight", "fc.bias"], "{file}");
        assert!(matches(&module.attribute("sizes").unwrap(), &read("[3, 4]")).is_ok());
        assert!(matches(&module.attribute("fc.bias").unwrap(), &read("T([2], [0.5, -0.5])")).is_ok());
        module.train(true).unwrap();
        assert!(
            matches(&run(&module, "choose", "(T([1], [1.0]), T([1], [2.0]))").unwrap(), &read("'training'")).is_ok()
        );
        let copy = module.deep_copy().unwrap();
        module.eval().unwrap();
        assert!(matches(&copy.attribute("training").unwrap(), &Value::Bool(true)).is_ok());
    }
}

#[test]
fn arguments_have_defaults_and_are_converted() {
    let module = Module::load_lite(folder().join("net.ptl")).unwrap();
    assert!(matches(&run(&module, "loops", "(3,)").unwrap(), &read("([0, 1, 2], 0.0)")).is_ok());
    // The limit is an int here.
    let named = vec![("limit", Value::Int(60)), ("n", Value::Int(9))];
    let result = module.run_method("loops", Vec::new(), named).unwrap();
    assert!(matches(&result, &read("([0, 1, 2, 3, 4, 5, 6, 7, 8], 68.0)")).is_ok());
    let error = run(&module, "loops", "()").unwrap_err().to_string();
    assert!(error.contains("loops() is missing value for argument 'n'"), "{error}");
}

#[test]
fn code_without_a_graph_is_not_saved_or_frozen() {
    let module = Module::load_lite(folder().join("net.ptl")).unwrap();
    let error = module.to_bytes(&[]).unwrap_err().to_string();
    assert!(error.contains("has no graph: it is code for the lite interpreter"), "{error}");
}

#[test]
fn the_gradients_of_a_module_are_computed() {
    let module = Module::load_lite(folder().join("net.ptl")).unwrap();
    let Value::Tuple(result) = run(&module, "forward", "(T([1, 2], [1.0, 2.0]),)").unwrap() else { panic!() };
    let program = Program::compile("def f(y: Tensor):\n    y.sum().backward()\n").unwrap();
    program.call("f", vec![result.items()[0].clone()], Vec::new()).unwrap();
    let weight = module.attribute("fc.weight").unwrap();
    let grad = weight.as_tensor().unwrap().grad().unwrap();
    // y = relu([1 - 2 + 0.5, 0.5 + 4 - 0.5]) = [0, 4]; the sum of y @ [[1, 2], [3, -4]] has the derivative -1 by y[1].
    assert!(matches(&grad.into(), &read("T([2, 2], [0.0, 0.0, -1.0, -2.0])")).is_ok());
}

#[test]
fn saved_code_is_read_again() {
    let names = ["forward", "loops", "choose", "containers", "numbers", "kinds"];
    let module = Module::load(folder().join("net.ptl")).unwrap();
    let bytes = module.to_lite_bytes(&[("note.txt", b"text")]).unwrap();
    let text = std::fs::read_to_string(folder().join("cases.txt")).unwrap();
    let (lite, source) = (Module::lite_from_bytes(bytes.clone()).unwrap(), Module::from_bytes(bytes).unwrap());
    assert_eq!(lite.extra_file("note.txt").unwrap().unwrap(), b"text");
    for module in [lite, source] {
        let mut methods = module.methods().unwrap();
        methods.retain(|name| names.contains(&&**name));
        assert_eq!(methods.len(), names.len());
        for line in text.lines().filter(|line| line.starts_with("net.ptl")) {
            let [_, method, arguments, expected] = line.splitn(4, " | ").collect::<Vec<_>>().try_into().unwrap();
            match (expected.strip_prefix("raises "), run(&module, method, arguments)) {
                (Some(message), Err(error)) => assert!(error.to_string().contains(message), "{line}\n{error}"),
                (None, Ok(result)) => {
                    matches(&result, &read(expected)).unwrap_or_else(|difference| panic!("{line}\n{difference}"));
                }
                (_, result) => panic!("{line}\n{result:?}"),
            }
        }
    }
}

#[test]
fn mapped_files_give_the_same_results() {
    let path = std::env::temp_dir().join(format!("rushlight-mapped-module-{}.pt", std::process::id()));
    std::fs::write(&path, bytes("net.ptl")).unwrap();
    let modules = [Module::load(&path).unwrap(), Module::load_mapped(&path).unwrap()];
    let results = modules.each_ref().map(|module| run(module, "forward", "(T([1, 2], [1.0, 2.0]),)").unwrap());
    matches(&results[0], &results[1]).unwrap();
    // Changes stay in memory.
    let program = Program::compile("def f(x: Tensor):\n    x.detach().fill_(7.0)\n").unwrap();
    program.call("f", vec![modules[1].attribute("fc.weight").unwrap()], Vec::new()).unwrap();
    assert!(matches(&modules[1].attribute("fc.weight").unwrap(), &read("T([2, 2], [7.0, 7.0, 7.0, 7.0])")).is_ok());
    assert_eq!(std::fs::read(&path).unwrap(), bytes("net.ptl"));
    drop(modules);
    std::fs::remove_file(&path).unwrap();
}
