//! Layers: initial parameters and results of PyTorch 2.7.1 (tests/oracle/java_layers.py, linear_init.py).

use crate::{assert_close, data, floats, seeded};
use rushlight::nn::{
    BatchNorm, BatchNormOptions, Conv1d, Conv2d, Conv3d, ConvOptions, Dropout, Embedding, Forward, GroupNorm, Gru,
    LayerNorm, Linear, Lstm, Module, RecurrentOptions, Sequential, clip_grad_norm,
};
use rushlight::{DType, Result, StateDict, Tensor, manual_seed};

/// Creates the layer, compares its parameters, runs it, and compares results and buffers.
fn check<M: Module>(
    recorded: &StateDict,
    name: &str,
    make: impl FnOnce() -> Result<M>,
    call: impl FnOnce(&M, &Tensor) -> Result<Vec<Tensor>>,
) {
    let get = |part: &str| recorded.get(&format!("{name}|{part}"));
    seeded(5, || {
        let module = make().unwrap();
        let state = module.state_dict();
        let prefix = format!("{name}|state|");
        assert_eq!(state.len(), recorded.iter().filter(|(key, _)| key.starts_with(&prefix)).count(), "{name}");
        for (part, tensor) in state.iter() {
            assert_close(tensor, get(&format!("state|{part}")).unwrap(), &format!("{name} {part}"));
        }
        manual_seed(7);
        let results = call(&module, get("input|0").unwrap()).unwrap();
        for (index, result) in results.iter().enumerate() {
            assert_close(result, get(&format!("output|{index}")).unwrap(), &format!("{name} result {index}"));
        }
        assert!(get(&format!("output|{}", results.len())).is_none(), "{name}");
        for (part, tensor) in module.named_buffers() {
            if let Some(after) = get(&format!("after|{part}")) {
                assert_close(&tensor, after, &format!("{name} {part}"));
            }
        }
    });
}

fn check_one<M: Forward>(recorded: &StateDict, name: &str, make: impl FnOnce() -> Result<M>) {
    check(recorded, name, make, |module, input| Ok(vec![module.forward(input)?]));
}

#[test]
fn layers_are_those_of_pytorch() {
    let recorded = &StateDict::load(data("java_layers.safetensors")).unwrap();
    check_one(recorded, "nn.Linear(3, 4)", || Linear::new(3, 4));
    check_one(recorded, "nn.Linear(3, 4, bias=False)", || Linear::without_bias(3, 4));
    check_one(recorded, "nn.Conv1d(2, 4, 3)", || Conv1d::new(2, 4, 3));
    let options = ConvOptions { stride: 2, padding: 1, groups: 2, ..Default::default() };
    check_one(recorded, "nn.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=2)", || {
        Conv2d::with(4, 6, [3, 2], options)
    });
    check_one(recorded, "nn.Conv3d(2, 3, 2)", || Conv3d::new(2, 3, 2));
    let every = BatchNormOptions { momentum: None, ..Default::default() };
    for dims in 1..=3 {
        check_one(recorded, &format!("nn.BatchNorm{dims}d(2)"), || BatchNorm::new(2));
        let name = format!("nn.BatchNorm{dims}d(2, momentum=None)");
        // In evaluation mode after a step in training mode.
        check(
            recorded,
            &name,
            || BatchNorm::with(2, every),
            |layer, input| {
                layer.forward(input)?;
                layer.eval();
                Ok(vec![layer.forward(input)?])
            },
        );
    }
    check_one(recorded, "nn.LayerNorm((3, 4))", || LayerNorm::new([3, 4]));
    check_one(recorded, "nn.GroupNorm(2, 4)", || GroupNorm::new(2, 4));
    check_one(recorded, "nn.Embedding(7, 3)", || Embedding::new(7, 3));
    check_one(recorded, "nn.Dropout(0.4)", || Ok(Dropout::new(0.4)));
    let nested = || {
        let (first, inner) = (Linear::new(3, 4)?, Sequential::new().with(Dropout::new(0.0)));
        Ok(Sequential::new().with(first).with_fn(Tensor::relu).with(inner.with(Linear::new(4, 2)?)))
    };
    check_one(
        recorded,
        "nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Dropout(0.0), nn.Linear(4, 2)))",
        nested,
    );
    let lstm = |module: &Lstm, input: &Tensor| module.forward(input, None).map(|(output, h, c)| vec![output, h, c]);
    check(recorded, "nn.LSTM(3, 4)", || Lstm::new(3, 4, RecurrentOptions::default()), lstm);
    let two = RecurrentOptions { layers: 2, dropout: 0.5, ..Default::default() };
    check(recorded, "nn.LSTM(3, 4, num_layers=2, dropout=0.5)", || Lstm::new(3, 4, two), lstm);
    let gru = |module: &Gru, input: &Tensor| module.forward(input, None).map(|(output, h)| vec![output, h]);
    let batch_first = RecurrentOptions { batch_first: true, ..Default::default() };
    check(recorded, "nn.GRU(3, 4, batch_first=True)", || Gru::new(3, 4, batch_first), gru);
}

/// To the last bit, and the random numbers after them too.
#[test]
fn linear_layers_begin_as_in_pytorch() {
    let recorded = StateDict::load(data("linear_init.safetensors")).unwrap();
    let cases = recorded.iter().filter_map(|(key, _)| key.strip_suffix(".next")).filter(|key| !key.ends_with("f64"));
    let mut count = 0;
    for name in cases.filter(|key| key.starts_with("linear_")) {
        let mut numbers = name.split('_').skip(1).map_while(|part| part.parse::<i64>().ok());
        let [inputs, outputs, seed] = [(); 3].map(|()| numbers.next().unwrap());
        seeded(seed as u64, || {
            let layer = if name.ends_with("nobias") {
                Linear::without_bias(inputs, outputs)
            } else {
                Linear::new(inputs, outputs)
            };
            for (part, tensor) in layer.unwrap().named_parameters() {
                assert!(tensor.equal(recorded.get(&format!("{name}.{part}")).unwrap()).unwrap(), "{name}.{part}");
            }
            let next = Tensor::rand([4]).unwrap();
            assert!(next.equal(recorded.get(&format!("{name}.next")).unwrap()).unwrap(), "{name}");
        });
        count += 1;
    }
    assert_eq!(count, 10);
}

#[test]
fn modes_and_padding_change_results() {
    let x = Tensor::ones([4, 3]).unwrap();
    let net = Sequential::new().with(Dropout::new(0.5)).with(BatchNorm::new(3).unwrap());
    net.eval();
    let y = net.forward(&x).unwrap();
    assert_close(&y, &Tensor::full([4, 3], 1.0 / (1.0f64 + 1e-5).sqrt()).unwrap(), "evaluation");
    net.train(true);
    let trained = seeded(1, || net.forward(&x)).unwrap();
    assert_ne!(trained.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    let table = seeded(2, || Embedding::with_padding(4, 2, -1)).unwrap();
    let rows = table.forward(&Tensor::try_from([3i64, 0]).unwrap()).unwrap();
    assert_eq!(rows.i(0).unwrap().to_vec::<f32>().unwrap(), [0.0, 0.0]);
    rows.sum().unwrap().backward().unwrap();
    assert_eq!(table.weight.grad().unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(Embedding::with_padding(4, 2, 4).is_err());
}

#[test]
fn states_are_loaded_or_nothing_is() {
    let [from, to, other] = seeded(3, || [3, 3, 4].map(|outputs| Linear::new(2, outputs).unwrap()));
    to.load_state_dict(&from.state_dict()).unwrap();
    assert!(to.weight.equal(&from.weight).unwrap());
    let mut state = other.state_dict();
    state.insert("other", &floats(&[1.0]));
    let error = to.load_state_dict(&state).unwrap_err();
    assert!(error.message().starts_with("Error(s) in loading state_dict for Linear:"), "{error}");
    assert!(error.message().contains("Unexpected key(s) in state_dict: \"other\""), "{error}");
    assert!(error.message().contains("size mismatch for bias"), "{error}");
    assert!(to.weight.equal(&from.weight).unwrap());
    let mut partial = StateDict::new();
    partial.insert("bias", &Tensor::zeros([3]).unwrap());
    let left = to.load_state_dict_with(&partial, false).unwrap();
    assert_eq!((left.missing, left.unexpected), (vec!["weight".to_owned()], Vec::new()));
    to.to(None, Some(DType::F64)).unwrap();
    assert_eq!((to.weight.dtype(), to.weight.requires_grad()), (DType::F64, true));
    assert_eq!(to.forward(&Tensor::zeros_with([1, 2], DType::F64).unwrap()).unwrap().dtype(), DType::F64);
}

#[test]
fn gradients_are_clipped() {
    let x = floats(&[3.0, 4.0]).requiring_grad().unwrap();
    x.square().unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(clip_grad_norm(&[&x], 5.0).unwrap(), 10.0);
    assert_close(&x.grad().unwrap(), &floats(&[3.0, 4.0]), "half of the gradients");
    assert!((clip_grad_norm(&[&x], 50.0).unwrap() - 5.0).abs() < 1e-5);
}
