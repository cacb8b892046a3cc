//! The generator against PyTorch 2.7.1, case by case: `tests/data/random.safetensors`.
//!
//! Each case has a seed, an operator with its arguments, the result, and the four floats that `rand(4)` returned
//! afterwards (the generator must have advanced exactly as far). Tensors are plain vectors here; the operators' code
//! around the generator (such as a mask divided by `1 - p`) is written out below as the reference.

use rushlight_base::random::{
    Bernoulli, BlockNormal, Cauchy, Exponential, Generator, Geometric, LogNormal, Normal, RandomInteger, Real, Uniform,
    normal_pieces, randperm,
};
use rushlight_base::{DType, bf16, f16};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::collections::BTreeMap;

const LATER: &str = "operator arrives with the semantics issue";

/// Operators of the file that are not checked here, and why.
const EXEMPT: [(&str, &str); 8] = [
    ("aten::multinomial", LATER),
    ("aten::poisson", LATER),
    ("aten::binomial", LATER),
    ("aten::rrelu", LATER),
    ("aten::feature_dropout", LATER),
    ("aten::alpha_dropout", LATER),
    ("aten::_standard_gamma", LATER),
    ("aten::_sample_dirichlet", LATER),
];

struct Golden<'data> {
    tensors: SafeTensors<'data>,
}

/// One recorded call.
struct Case<'a> {
    golden: &'a Golden<'a>,
    value: &'a Value,
}

impl Golden<'_> {
    /// Elements of a stored tensor, all dtypes widened to double (exact for what the file holds).
    fn tensor(&self, key: &str) -> Vec<f64> {
        let view = self.tensors.tensor(key).unwrap();
        let data = view.data();
        match view.dtype() {
            Dtype::F64 => words(data, f64::from_le_bytes),
            Dtype::F32 => words(data, |bytes| f32::from_le_bytes(bytes).into()),
            Dtype::F16 => words(data, |bytes| f16::from_le_bytes(bytes).to_f64()),
            Dtype::BF16 => words(data, |bytes| bf16::from_le_bytes(bytes).to_f64()),
            // Integers may not fit a double: stored as a high and a low half, one after the other.
            Dtype::I64 => words(data, i64::from_le_bytes).into_iter().flat_map(halves).collect(),
            Dtype::BOOL => data.iter().map(|&byte| byte.into()).collect(),
            other => panic!("dtype {other:?} is not expected in the file"),
        }
    }
}

fn words<const N: usize, T>(data: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    data.chunks_exact(N).map(|bytes| convert(bytes.try_into().unwrap())).collect()
}

fn halves(value: i64) -> [f64; 2] {
    [(value >> 32) as f64, f64::from(value as u32)]
}

impl Case<'_> {
    fn op(&self) -> &str {
        self.value["op"].as_str().unwrap()
    }
    fn seed(&self) -> u64 {
        self.value["seed"].as_i64().unwrap() as u64
    }
    fn float(&self, arg: usize) -> f64 {
        self.value["args"][arg].as_f64().unwrap()
    }
    fn int(&self, arg: usize) -> i64 {
        self.value["args"][arg].as_i64().unwrap()
    }
    fn input(&self, arg: usize) -> Vec<f64> {
        self.golden.tensor(self.value["args"][arg]["t"].as_str().unwrap())
    }
    fn out(&self, index: usize) -> Vec<f64> {
        self.golden.tensor(self.value["outs"][index]["t"].as_str().unwrap())
    }
    fn next(&self) -> Vec<f64> {
        self.golden.tensor(self.value["next"]["t"].as_str().unwrap())
    }
    fn dtype(&self) -> DType {
        DType::from_name(self.value["outs"][0]["dtype"].as_str().unwrap()).unwrap()
    }
    /// Elements of the first output; a complex one counts twice.
    fn numel(&self) -> usize {
        let stored = self.out(0).len();
        if self.dtype() == DType::I64 { stored / 2 } else { stored }
    }
    fn same_as_input_dtype(&self) -> bool {
        self.value["args"][0]["dtype"] == self.value["outs"][0]["dtype"]
    }
    fn describe(&self) -> String {
        format!(
            "{} seed {} {} {}",
            self.op(),
            self.seed(),
            self.dtype(),
            self.value["args"].to_string().chars().take(80).collect::<String>()
        )
    }
}

fn round(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(value).to_f64(),
        DType::BF16 => bf16::from_f64(value).to_f64(),
        DType::F32 => (value as f32).into(),
        DType::F64 => value,
        other => panic!("no rounding to {other}"),
    }
}

fn uniform<T: Real>(generator: &mut Generator, numel: usize, from: f64, to: f64) -> Vec<f64> {
    let uniform = Uniform::<T>::new(from, to).unwrap();
    let (mut filled, mut beside) = (vec![T::default(); numel], generator.clone());
    uniform.fill(&mut beside, &mut filled);
    let samples: Vec<f64> = (0..numel).map(|_| uniform.sample(generator).to_f64()).collect();
    assert_eq!(filled.into_iter().map(T::to_f64).collect::<Vec<f64>>(), samples, "one by one and together");
    samples
}

fn normal<T: BlockNormal>(generator: &mut Generator, numel: usize, mean: f64, std: f64) -> Vec<f64> {
    if numel < 16 {
        let normal = Normal::new(mean, std).unwrap();
        return (0..numel).map(|_| T::from_f64(normal.sample(generator)).to_f64()).collect();
    }
    let mut out = vec![T::default(); numel];
    let write = |at: usize, piece: &[T]| out[at..at + piece.len()].copy_from_slice(piece);
    normal_pieces(generator, numel, mean, std, write).unwrap();
    out.into_iter().map(T::to_f64).collect()
}

fn uniform_of(dtype: DType, generator: &mut Generator, numel: usize, from: f64, to: f64) -> Vec<f64> {
    match dtype {
        DType::F16 => uniform::<f16>(generator, numel, from, to),
        DType::BF16 => uniform::<bf16>(generator, numel, from, to),
        DType::F32 | DType::C64 => uniform::<f32>(generator, numel, from, to),
        DType::F64 => uniform::<f64>(generator, numel, from, to),
        other => panic!("uniform_ into {other}"),
    }
}

fn normal_of(dtype: DType, generator: &mut Generator, numel: usize, mean: f64, std: f64) -> Vec<f64> {
    match dtype {
        DType::F16 => normal::<f16>(generator, numel, mean, std),
        DType::BF16 => normal::<bf16>(generator, numel, mean, std),
        DType::F32 => normal::<f32>(generator, numel, mean, std),
        // The variance is shared by the two parts.
        DType::C64 => normal::<f32>(generator, numel, mean, std / 2f64.sqrt()),
        DType::F64 => normal::<f64>(generator, numel, mean, std),
        other => panic!("normal_ into {other}"),
    }
}

fn each(case: &Case, mut sample: impl FnMut() -> f64) -> Vec<f64> {
    let dtype = case.dtype();
    (0..case.numel()).map(|_| round(dtype, sample())).collect()
}

fn flips(case: &Case, generator: &mut Generator, p: f64) -> Vec<f64> {
    let coin = Bernoulli::new(p).unwrap();
    (0..case.numel()).map(|_| f64::from(u8::from(coin.sample(generator)))).collect()
}

fn bernoulli_elements(case: &Case, generator: &mut Generator) -> Vec<f64> {
    assert!(case.same_as_input_dtype());
    let flip = |p: f64| match case.dtype() {
        DType::F64 => Bernoulli::sample_element(generator, p),
        _ => Bernoulli::sample_element(generator, p as f32),
    };
    case.input(0).into_iter().map(flip).map(|flip| f64::from(u8::from(flip.unwrap()))).collect()
}

/// The mask in the input's dtype, divided by `1 - p`, times the input.
fn dropout(case: &Case, generator: &mut Generator) -> Vec<f64> {
    let (dtype, keep) = (case.dtype(), 1.0 - case.float(1));
    let mask = flips(case, generator, keep);
    let scaled = mask.into_iter().map(|flip| match dtype {
        DType::F64 => flip / keep,
        _ => round(dtype, (flip as f32 / keep as f32).into()),
    });
    scaled.zip(case.input(0)).map(|(mask, x)| round(dtype, mask * x)).collect()
}

/// The input times the mask, times `1 / (1 - p)`.
fn native_dropout(case: &Case, mask: &[f64]) -> Vec<f64> {
    let (dtype, scale) = (case.dtype(), 1.0 / (1.0 - case.float(1)));
    let scale = if dtype == DType::F64 { scale } else { (scale as f32).into() };
    mask.iter().zip(case.input(0)).map(|(mask, x)| round(dtype, round(dtype, mask * x) * scale)).collect()
}

fn integers(case: &Case, generator: &mut Generator, range: RandomInteger) -> Vec<f64> {
    match case.dtype() {
        DType::I64 => (0..case.numel()).flat_map(|_| halves(range.sample(generator))).collect(),
        _ => each(case, || range.sample(generator) as f64),
    }
}

/// The results of the call, output by output; `None` if the operator is not supported.
fn run(case: &Case, generator: &mut Generator) -> Option<Vec<Vec<f64>>> {
    let (dtype, numel) = (case.dtype(), case.numel());
    let single = match case.op() {
        "aten::rand" => uniform_of(dtype, generator, numel, 0.0, 1.0),
        "aten::uniform_" => uniform_of(dtype, generator, numel, case.float(1), case.float(2)),
        "aten::randn" => normal_of(dtype, generator, numel, 0.0, 1.0),
        "aten::normal_" => normal_of(dtype, generator, numel, case.float(1), case.float(2)),
        "aten::normal.Tensor_float" => {
            let noise = normal_of(dtype, generator, numel, 0.0, case.float(1));
            noise.into_iter().zip(case.input(0)).map(|(noise, mean)| round(dtype, noise + mean)).collect()
        }
        "aten::normal.float_Tensor" => {
            let noise = normal_of(dtype, generator, numel, 0.0, 1.0);
            let scaled = noise.into_iter().zip(case.input(1)).map(|(noise, std)| round(dtype, noise * std));
            scaled.map(|noise| round(dtype, noise + case.float(0))).collect()
        }
        "aten::normal.Tensor_Tensor" => {
            let noise = normal_of(dtype, generator, numel, 0.0, 1.0);
            let scaled = noise.into_iter().zip(case.input(1)).map(|(noise, std)| round(dtype, noise * std));
            scaled.zip(case.input(0)).map(|(noise, mean)| round(dtype, noise + mean)).collect()
        }
        "aten::exponential_" => {
            let exponential = Exponential::new(case.float(1)).unwrap();
            each(case, || exponential.sample(generator))
        }
        "aten::log_normal_" => {
            let log_normal = LogNormal::new(case.float(1), case.float(2)).unwrap();
            each(case, || log_normal.sample(generator))
        }
        "aten::cauchy_" => {
            let cauchy = Cauchy::new(case.float(1), case.float(2)).unwrap();
            each(case, || cauchy.sample(generator))
        }
        "aten::geometric_" => {
            let geometric = Geometric::new(case.float(1)).unwrap();
            each(case, || geometric.sample(generator))
        }
        "aten::bernoulli_.float" => flips(case, generator, case.float(1)),
        "aten::bernoulli" => bernoulli_elements(case, generator),
        "aten::dropout" => dropout(case, generator),
        "aten::native_dropout" => {
            let mask = flips(case, generator, 1.0 - case.float(1));
            return Some(vec![native_dropout(case, &mask), mask]);
        }
        "aten::randint" => integers(case, generator, RandomInteger::between(0, case.int(0), dtype).unwrap()),
        "aten::randint.low" => {
            integers(case, generator, RandomInteger::between(case.int(0), case.int(1), dtype).unwrap())
        }
        "aten::random_" => integers(case, generator, RandomInteger::whole(dtype).unwrap()),
        "aten::random_.from" => {
            integers(case, generator, RandomInteger::between(case.int(1), case.int(2), dtype).unwrap())
        }
        "aten::randperm" => {
            let mut out = vec![0; numel];
            randperm(generator, &mut out, |index| index).unwrap();
            out.into_iter().flat_map(halves).collect()
        }
        _ => return None,
    };
    Some(vec![single])
}

/// Doubles use the system's `log` and `cos`, which may differ in the last bits; everything else is exact.
fn agrees(actual: f64, expected: f64, dtype: DType) -> bool {
    let tolerance = if dtype == DType::F64 { 1e-14 } else { 0.0 };
    (actual - expected).abs() <= tolerance * expected.abs()
}

fn check(case: &Case) -> Result<(), String> {
    let mut generator = Generator::new(case.seed());
    let outs = run(case, &mut generator).ok_or_else(|| format!("{} is neither served nor exempt", case.op()))?;
    for (index, actual) in outs.iter().enumerate() {
        let expected = case.out(index);
        assert_eq!(actual.len(), expected.len(), "{}", case.describe());
        for (at, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            if !agrees(*actual, *expected, case.dtype()) {
                return Err(format!("{}: output {index}[{at}] is {actual}, not {expected}", case.describe()));
            }
        }
    }
    let next = uniform::<f32>(&mut generator, 4, 0.0, 1.0);
    if next == case.next() { Ok(()) } else { Err(format!("{}: the generator stands elsewhere", case.describe())) }
}

#[test]
fn every_recorded_case_has_pytorchs_numbers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/random.safetensors");
    let file = std::fs::read(path).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    let cases: Value = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["cases"]).unwrap();
    let golden = Golden { tensors: SafeTensors::deserialize(&file).unwrap() };

    let mut checked = BTreeMap::<&str, usize>::new();
    let mut failures = Vec::new();
    for value in cases.as_array().unwrap() {
        let case = Case { golden: &golden, value };
        if EXEMPT.iter().any(|(op, _)| *op == case.op()) {
            continue;
        }
        *checked.entry(value["op"].as_str().unwrap()).or_default() += 1;
        failures.extend(check(&case).err());
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(checked.values().sum::<usize>(), 750, "{checked:?}");
}

#[test]
fn a_state_that_pytorch_saved_is_ours_byte_for_byte() {
    let saved = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/rng_state.bin")).unwrap();
    // As in tests/oracle/rng_state.py: an odd number of normals, so that one is cached in the state.
    let mut generator = Generator::new(42);
    uniform::<f32>(&mut generator, 5, 0.0, 1.0);
    normal::<f64>(&mut generator, 3, 0.0, 1.0);
    assert!(generator.get_state()[..] == saved);

    let mut restored = Generator::new(0);
    restored.set_state(&saved).unwrap();
    assert_eq!(normal::<f64>(&mut restored, 2, 0.0, 1.0), normal::<f64>(&mut generator, 2, 0.0, 1.0));
    assert_eq!(restored.random64(), generator.random64());
}
