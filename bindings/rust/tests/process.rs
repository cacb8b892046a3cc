//! What belongs to the process: memory and the log. It is a separate program, because other tests allocate and log too.

use rushlight::nn::{Linear, Module};
use rushlight::optim::{Adam, AdamOptions, Optimizer};
use rushlight::{IValue, LogLevel, Result, Script, ScriptModule, Tensor, call, memory_stats, remove_log, set_log};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Creates graphs, errors, hooks, modules and states.
fn use_everything() -> Result<()> {
    let net = (Linear::new(64, 64)?, Linear::new(64, 8)?);
    let mut optimizer = Adam::new([net.0.parameters(), net.1.parameters()].concat(), AdamOptions::default());
    for _ in 0..5 {
        let x = Tensor::randn([32, 64])?;
        optimizer.zero_grad()?;
        let hidden = net.0.forward(&x)?.relu()?;
        hidden.register_hook(|gradient| gradient.mul_scalar(1).map(Some))?;
        let y = net.1.forward(&hidden)?;
        assert!(y.add(&x).is_err());
        y.square()?.mean()?.backward()?;
        optimizer.step()?;
    }
    let parts: Vec<Tensor> = net.0.weight.chunk(4)?;
    let listed = IValue::from(parts);
    assert!(call("aten::cat", "", &[listed, 0i64.into()], &[])?.len() == 1);
    // A graph that never runs.
    let _unused = net.0.weight.exp()?;
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/script/net.pt");
    let module = ScriptModule::load(file)?;
    module.forward_tensors(&[&Tensor::ones([1, 3])?])?.sum()?.backward()?;
    Ok(())
}

#[test]
fn memory_is_freed_and_the_log_is_called() {
    // What stays: plans of loops and similar caches of the first calls.
    use_everything().unwrap();
    let before = memory_stats().allocated;
    for _ in 0..3 {
        use_everything().unwrap();
        assert_eq!(memory_stats().allocated, before);
    }
    assert!(memory_stats().peak > before);
    assert_eq!(before, 0, "bytes of tensors are still allocated");

    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    set_log(move |level, text| sink.lock().unwrap().push((level, text.to_owned())));
    let script = Script::compile("def careful() -> int:\n    torch.warn('careful')\n    return 1\n").unwrap();
    script.run("careful", &[], &[]).unwrap();
    remove_log();
    script.run("careful", &[], &[]).unwrap();
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].0, LogLevel::Warning);
    assert!(lines[0].1.contains("careful"), "{lines:?}");
}
