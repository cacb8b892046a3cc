//! Trains a convolutional network on handwritten digits.
//!
//! ```text
//! cargo run --release -p rushlight --example digits -- tests/data/digits/digits.safetensors OUT_DIR
//! ```
//!
//! Writes the weights into OUT_DIR (model.safetensors, and model.pt for Python), and the losses (run.safetensors). The recipe is that
//! of tests/oracle/digits_reference.py: the same random numbers in the same order, so the losses are PyTorch's, and those of the
//! programs in examples/digits.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

use rushlight::nn::{BatchNorm, Conv2d, ConvOptions, Dropout, Linear, Module};
use rushlight::optim::{AdamW, AdamWOptions, Optimizer};
use rushlight::{DType, Result, StateDict, Tensor, autograd, manual_seed, module, options};
use std::path::Path;

const TRAIN: i64 = 1437;
const BATCH: i64 = 64;
const EPOCHS: i32 = 12;

/// Images in [0, 1], `[N, 1, 8, 8]`, and their labels.
struct Digits {
    images: Tensor,
    labels: Tensor,
}

impl Digits {
    fn load(path: &Path) -> Result<Digits> {
        let file = StateDict::load(path)?;
        let images = file.require("images")?.to(DType::F32)?.div_scalar(16)?.view([-1, 1, 8, 8])?;
        Ok(Digits { images, labels: file.require("labels")?.clone() })
    }

    fn rows(&self, rows: &Tensor) -> Result<Digits> {
        Ok(Digits { images: self.images.index_select(0, rows)?, labels: self.labels.index_select(0, rows)? })
    }
}

struct Net {
    conv1: Conv2d,
    norm1: BatchNorm,
    conv2: Conv2d,
    norm2: BatchNorm,
    dropout: Dropout,
    output: Linear,
}

module!(Net { conv1, norm1, conv2, norm2, dropout, output });

impl Net {
    // A norm removes the effect of a preceding bias, so the convolutions have none.
    fn new() -> Result<Net> {
        let options = ConvOptions { padding: 1, bias: false, ..Default::default() };
        Ok(Net {
            conv1: Conv2d::with(1, 16, 3, options)?,
            conv2: Conv2d::with(16, 32, 3, options)?,
            norm1: BatchNorm::new(16)?,
            norm2: BatchNorm::new(32)?,
            dropout: Dropout::new(0.25),
            output: Linear::new(32 * 2 * 2, 10)?,
        })
    }

    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let x = self.norm1.forward(&self.conv1.forward(images)?)?.gelu()?.avg_pool2d(2)?;
        let x = self.norm2.forward(&self.conv2.forward(&x)?)?.gelu()?.avg_pool2d(2)?;
        self.output.forward(&self.dropout.forward(&x.reshape([-1, 32 * 2 * 2])?)?)
    }

    /// The logits without gradients, in evaluation mode.
    fn logits(&self, images: &Tensor) -> Result<Tensor> {
        self.eval();
        autograd::no_grad(|| self.forward(images))
    }
}

/// A trained network.
pub struct Run {
    net: Net,
    /// The loss of each batch.
    pub losses: Vec<f32>,
    /// The accuracy on the test images.
    pub accuracy: f64,
    /// The logits for the test images.
    pub logits: Tensor,
}

/// Trains the network.
pub fn train(data: &Path) -> Result<Run> {
    let all = Digits::load(data)?;
    manual_seed(0);
    let order = Tensor::randperm(all.labels.size(0)?)?;
    let (train, test) = (all.rows(&order.i(..TRAIN)?)?, all.rows(&order.i(TRAIN..)?)?);
    let net = Net::new()?;
    let mut optimizer = AdamW::new(net.parameters(), AdamWOptions { weight_decay: 0.01, ..Default::default() });
    let mut losses = Vec::new();
    let mut accuracy = 0.0;
    let mut logits = test.labels.clone();
    for epoch in 0..EPOCHS {
        optimizer.set_lr(0.01 * 0.3f64.powi(epoch / 4));
        net.train(true);
        let order = Tensor::randperm(TRAIN)?;
        for start in (0..TRAIN).step_by(BATCH as usize) {
            let batch = train.rows(&order.i(start..start + BATCH)?)?;
            optimizer.zero_grad()?;
            let loss = net.forward(&batch.images)?.cross_entropy_loss(&batch.labels)?;
            loss.backward()?;
            optimizer.step()?;
            losses.push(f32::try_from(&loss)?);
        }
        logits = net.logits(&test.images)?;
        let digits = logits.argmax_with(options::Argmax { dim: Some(1), keepdim: false })?;
        accuracy = f64::try_from(&digits.eq(&test.labels)?.mean_with(DType::F64)?)?;
    }
    Ok(Run { net, losses, accuracy, logits })
}

fn run(data: &Path, out: &Path) -> Result<()> {
    let run = train(data)?;
    let state = run.net.state_dict();
    state.save(out.join("model.safetensors"))?;
    state.save(out.join("model.pt"))?;
    let numbers = [("losses", Tensor::try_from(&run.losses[..])?), ("logits", run.logits)];
    numbers.into_iter().collect::<StateDict>().save(out.join("run.safetensors"))?;
    let (first, last) =
        (run.losses.first().copied().unwrap_or_default(), run.losses.last().copied().unwrap_or_default());
    println!("test accuracy {:.4}, first loss {first}, last loss {last}", run.accuracy);
    Ok(())
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, out] = &arguments[..] else {
        eprintln!("usage: digits DIGITS.safetensors OUT_DIR");
        return 2.into();
    };
    match run(data.as_ref(), out.as_ref()) {
        Ok(()) => 0.into(),
        Err(error) => {
            eprintln!("{error}");
            1.into()
        }
    }
}
