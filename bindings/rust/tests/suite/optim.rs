//! Optimizers take the steps of PyTorch 2.7.1 (tests/oracle/java_optim.py).

use crate::{assert_close, data, floats};
use rushlight::optim::{
    Adagrad, AdagradOptions, Adam, AdamOptions, AdamW, AdamWOptions, Optimizer, RmsProp, RmsPropOptions, Sgd,
    SgdOptions,
};
use rushlight::{Result, StateDict, Tensor};

fn parameters() -> Vec<Tensor> {
    let v = floats(&[0.1, -0.2, 1.5, 0.7]).reshape([2, 2]).unwrap();
    [floats(&[0.5, -1.0, 2.0]), v].map(|parameter| parameter.requiring_grad().unwrap()).into()
}

fn loss(w: &Tensor, v: &Tensor) -> Result<Tensor> {
    let first = (w.pow_tensor_scalar(4)? - 3 * (w * w) + w).sum()?;
    let second = (v * v).sum()? * (1 + w.sum()?.square()?);
    (first + second).sub(&v.sum()?)
}

fn step(optimizer: &mut dyn Optimizer, parameters: &[Tensor]) {
    optimizer.zero_grad().unwrap();
    loss(&parameters[0], &parameters[1]).unwrap().backward().unwrap();
    optimizer.step().unwrap();
}

#[test]
fn steps_are_those_of_pytorch() {
    let recorded = StateDict::load(data("java_optim.safetensors")).unwrap();
    let sgd = SgdOptions { lr: 0.01, momentum: 0.9, ..Default::default() };
    let adam = AdamOptions { lr: 0.02, ..Default::default() };
    let adamw = AdamWOptions { lr: 0.02, ..Default::default() };
    let rmsprop = RmsPropOptions { lr: 0.01, ..Default::default() };
    type Make<'a> = &'a dyn Fn(Vec<Tensor>) -> Box<dyn Optimizer>;
    let cases: [(&str, Make); 11] = [
        ("SGD(ps, 0.01)", &|ps| Box::new(Sgd::new(ps, SgdOptions { lr: 0.01, ..Default::default() }))),
        ("SGD(ps, 0.01, momentum=0.9, weight_decay=0.1)", &|ps| {
            Box::new(Sgd::new(ps, SgdOptions { weight_decay: 0.1, ..sgd }))
        }),
        ("SGD(ps, 0.01, momentum=0.9, nesterov=True)", &|ps| {
            Box::new(Sgd::new(ps, SgdOptions { nesterov: true, ..sgd }))
        }),
        ("SGD(ps, 0.01, momentum=0.9, dampening=0.3, maximize=True)", &|ps| {
            Box::new(Sgd::new(ps, SgdOptions { dampening: 0.3, maximize: true, ..sgd }))
        }),
        ("Adam(ps, 0.02)", &|ps| Box::new(Adam::new(ps, adam))),
        ("Adam(ps, 0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1, amsgrad=True)", &|ps| {
            let options = AdamOptions { betas: (0.8, 0.95), eps: 1e-6, weight_decay: 0.1, amsgrad: true, ..adam };
            Box::new(Adam::new(ps, options))
        }),
        ("AdamW(ps, 0.02)", &|ps| Box::new(AdamW::new(ps, adamw))),
        ("AdamW(ps, 0.02, weight_decay=0.3, amsgrad=True, maximize=True)", &|ps| {
            Box::new(AdamW::new(ps, AdamWOptions { weight_decay: 0.3, amsgrad: true, maximize: true, ..adamw }))
        }),
        ("Adagrad(ps, 0.05)", &|ps| Box::new(Adagrad::new(ps, AdagradOptions { lr: 0.05, ..Default::default() }))),
        ("RMSprop(ps, 0.01)", &|ps| Box::new(RmsProp::new(ps, rmsprop))),
        ("RMSprop(ps, 0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1)", &|ps| {
            let options = RmsPropOptions { alpha: 0.9, momentum: 0.5, centered: true, weight_decay: 0.1, ..rmsprop };
            Box::new(RmsProp::new(ps, options))
        }),
    ];
    for (name, make) in cases {
        let parameters = parameters();
        let mut optimizer = make(parameters.clone());
        for number in 0..6 {
            step(&mut *optimizer, &parameters);
            for (index, parameter) in parameters.iter().enumerate() {
                let expected = recorded.get(&format!("{name}|{}", index + 1)).unwrap().i(number).unwrap();
                assert_close(parameter, &expected, &format!("{name} step {number}"));
            }
        }
    }
}

#[test]
fn a_loaded_state_continues() {
    let options = AdamOptions { lr: 0.02, ..Default::default() };
    let (one, two) = (parameters(), parameters());
    let mut first = Adam::new(one.clone(), options);
    (0..3).for_each(|_| step(&mut first, &one));
    let saved = StateDict::from_bytes(&first.state_dict().to_bytes(rushlight::Format::SafeTensors).unwrap()).unwrap();
    for (from, to) in one.iter().zip(&two) {
        to.set_data(&from.detach().unwrap().deep_clone().unwrap()).unwrap();
    }
    let mut second = Adam::new(two.clone(), options);
    second.load_state_dict(&saved).unwrap();
    step(&mut first, &one);
    step(&mut second, &two);
    assert!(one[0].equal(&two[0]).unwrap() && one[1].equal(&two[1]).unwrap());
    let mut wrong = StateDict::new();
    wrong.insert("2.step", &Tensor::zeros([]).unwrap());
    assert!(second.load_state_dict(&wrong).is_err());
    assert_eq!(second.state_dict().len(), 6);
}

#[test]
fn invalid_options_are_errors_and_nothing_moves() {
    let parameters = parameters();
    loss(&parameters[0], &parameters[1]).unwrap().backward().unwrap();
    let before = parameters[0].to_vec::<f32>().unwrap();
    let mut sgd = Sgd::new(parameters.clone(), SgdOptions { lr: -1.0, ..Default::default() });
    assert_eq!(sgd.step().unwrap_err().message(), "Invalid learning rate: -1");
    let mut adam = Adam::new(parameters.clone(), AdamOptions { betas: (1.0, 0.9), ..Default::default() });
    assert!(adam.step().is_err() && adam.state_dict().is_empty());
    sgd.set_lr(0.5);
    assert_eq!(sgd.lr(), 0.5);
    assert_eq!(parameters[0].to_vec::<f32>().unwrap(), before);
    sgd.step().unwrap();
    assert_ne!(parameters[0].to_vec::<f32>().unwrap(), before);
}
