//! Fits y = 2 a - 3 b + 1 by gradient descent.
use rushlight::nn::{Linear, Module};
use rushlight::optim::{Optimizer, Sgd, SgdOptions};
use rushlight::{Result, Tensor, manual_seed};

fn main() -> Result<()> {
    manual_seed(0);
    let model = Linear::new(2, 1)?;
    let mut optimizer = Sgd::new(model.parameters(), SgdOptions { lr: 0.1, ..Default::default() });
    let x = Tensor::randn([64, 2])?;
    let y = x.mm(&Tensor::from_slice(&[2.0f32, -3.0], [2, 1])?)?.add_scalar(1)?;
    for _ in 0..300 {
        optimizer.zero_grad()?;
        model.forward(&x)?.mse_loss(&y)?.backward()?;
        optimizer.step()?;
    }
    assert_eq!(model.weight.to_string(), "tensor([[ 2.0000, -3.0000]], requires_grad=True)");
    Ok(())
}
