//! Models that Python saved: tests/oracle/script_models.py has their source and prints the numbers.

use crate::{assert_close, data, floats};
use rushlight::{ErrorKind, IValue, Script, ScriptModule, Tensor};
use std::sync::{Arc, Mutex};

fn net() -> ScriptModule {
    ScriptModule::load(data("script/net.pt")).unwrap()
}

fn input() -> Tensor {
    floats(&[1.0, 2.0, 3.0]).reshape([1, 3]).unwrap()
}

fn values(value: IValue) -> Vec<f32> {
    Tensor::try_from(value).unwrap().to_vec().unwrap()
}

#[test]
fn a_module_runs_to_the_numbers_of_pytorch() {
    let module = net();
    let x = IValue::from(&input());
    assert_eq!(values(module.forward(std::slice::from_ref(&x)).unwrap()), [17.0, 51.0]);
    assert_eq!(
        values(module.run("forward", std::slice::from_ref(&x), &[("shift", 10.0.into())]).unwrap()),
        [27.0, 61.0]
    );
    assert_eq!(module.forward_tensors(&[&input()]).unwrap().to_vec::<f32>().unwrap(), [17.0, 51.0]);
    assert_eq!(i64::try_from(module.attribute("calls").unwrap()).unwrap(), 3);
    module.train(true).unwrap();
    assert_eq!(values(module.forward(&[x]).unwrap()), [-17.0, -51.0]);
    assert_eq!(module.extra_file("labels.txt").unwrap().unwrap(), b"cat\ndog\n");
    assert_eq!(module.extra_file("missing.txt").unwrap(), None);
    assert_eq!(module.methods().unwrap(), ["forward", "describe"]);
    assert!(module.forward(&[]).is_err());
    assert!(module.run("backward", &[], &[]).is_err());
}

#[test]
fn values_of_every_kind_pass() {
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = printed.clone();
    let module = net().printing_to(move |text| sink.lock().unwrap().push_str(text));
    let counts = IValue::Dict(vec![("x".into(), 2i64.into()), ("y".into(), 3i64.into())]);
    let IValue::Tuple(result) = module.run("describe", &[counts], &[]).unwrap() else { panic!("no tuple") };
    assert_eq!(Vec::<String>::try_from(result[0].clone()).unwrap(), ["a", "b"]);
    assert_eq!(i64::try_from(result[1].clone()).unwrap(), 5);
    assert_eq!(i64::try_from(result[2].get("total").unwrap().clone()).unwrap(), 5);
    assert_eq!(*printed.lock().unwrap(), "x 2\ny 3\n");
    let negative = IValue::Dict(vec![("x".into(), (-1i64).into())]);
    assert!(module.run("describe", &[negative], &[]).unwrap_err().message().contains("the counts are negative"));
}

#[test]
fn a_module_is_trained_saved_and_frozen() {
    let module = net();
    let parameters = module.parameters();
    assert_eq!(parameters.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["fc.weight", "fc.bias"]);
    module.forward_tensors(&[&input()]).unwrap().sum().unwrap().backward().unwrap();
    let weight = parameters.get("fc.weight").unwrap();
    assert_eq!(weight.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 2.0, 4.0, 6.0]);
    let copy = module.deep_clone().unwrap();
    rushlight::autograd::no_grad(|| weight.zero_().map(drop)).unwrap();
    assert_eq!(module.forward_tensors(&[&input()]).unwrap().to_vec::<f32>().unwrap(), [1.0, -1.0]);
    let bytes = copy.to_bytes(&[("note", b"text")]).unwrap();
    let loaded = ScriptModule::from_bytes(bytes).unwrap();
    assert_eq!(loaded.extra_file("note").unwrap().unwrap(), b"text");
    assert_eq!(loaded.forward_tensors(&[&input()]).unwrap().to_vec::<f32>().unwrap(), [17.0, 51.0]);
    loaded.set_attribute("scale", (&Tensor::from_value(1.0f32).unwrap()).into()).unwrap();
    assert_eq!(loaded.forward_tensors(&[&input()]).unwrap().to_vec::<f32>().unwrap(), [8.5, 25.5]);
    loaded.train(true).unwrap();
    assert!(loaded.freeze(&[], false).is_err());
    loaded.eval().unwrap();
    assert!(loaded.set_attribute("scale", "text".into()).is_err());
}

#[test]
fn a_classifier_is_optimized() {
    let module = ScriptModule::load(data("script/classifier.pt")).unwrap();
    module.eval().unwrap();
    let picture = Tensor::linspace(-1, 1, 3 * 32 * 32).unwrap().reshape([1, 3, 32, 32]).unwrap();
    let expected = module.forward_tensors(&[&picture]).unwrap();
    let fast = module.optimize_for_inference(&[]).unwrap();
    assert_close(&fast.forward_tensors(&[&picture]).unwrap(), &expected.detach().unwrap(), "optimized");
}

#[test]
fn what_is_no_module_is_an_error() {
    assert_eq!(ScriptModule::load("no_such_file.pt").unwrap_err().kind(), ErrorKind::Io);
    assert!(ScriptModule::from_bytes(b"no module".to_vec()).is_err());
    let error = Script::compile("def broken(x):\n    return x +\n").unwrap_err();
    assert!(error.message().contains("return x +"), "{error}");
}
