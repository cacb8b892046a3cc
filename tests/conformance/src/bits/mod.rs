//! Compares the results of element-wise operators on a device with the CPU's, bit by bit. Any NaN equals any NaN.
//!
//! The operators are those that the declarations call pointwise, without the ones that sample random numbers. Each is
//! called in its functional and its in-place form, for every dtype and layout, with numbers from `numbers`; `sample`
//! chooses the arguments. `exempt` lists known differences.

pub mod exempt;
pub mod numbers;
pub mod sample;

use crate::cases::Item;
use crate::declared::Pointwise;
use crate::door::{Door, Value};
use crate::host::{Element, HostTensor};
use exempt::Distance;
use numbers::mantissa_bits;
use rushlight_base::{DType, Device, Scalar};
use rushlight_schema::Signature;
use sample::{Kind, Layout, Sampler};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Differences that are described for each operator.
const DESCRIBED: usize = 6;

/// How much is compared.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Elements of each tensor, about.
    pub elements: usize,
    /// Calls of each form, dtype and layout.
    pub rounds: u64,
    /// Whether operators of one tensor get every value of the dtypes of 16 bits.
    pub patterns: bool,
    /// Of the numbers.
    pub seed: u64,
}

/// The result of an operator.
#[derive(Debug, Default)]
pub struct Tally {
    /// Elements with the same bits.
    pub equal: usize,
    /// Elements with other bits.
    pub different: usize,
    /// Elements with other bits, for a reason in `exempt`.
    pub excused: usize,
    /// Calls that both devices completed.
    pub calls: usize,
    /// Calls that both reject with the same error.
    pub rejected: usize,
    /// Descriptions of the largest differences of the first calls that have any.
    pub differences: Vec<String>,
}

impl Tally {
    /// Whether results were compared, and all had the same bits or a reason.
    pub fn passed(&self) -> bool {
        self.different == 0 && self.differences.is_empty() && self.equal + self.excused > 0
    }
}

/// The rules and names in `exempt` that were needed, with the largest difference of each.
pub type Used = BTreeMap<(usize, &'static str), f64>;

/// The two devices.
pub struct Bits {
    cpu: Door,
    device: Door,
    extent: Extent,
}

/// The outcome of one call on one device.
type Outcome = Result<Vec<Item>, String>;

impl Bits {
    /// Compares a device of a library with its CPU.
    pub fn new(cpu: &Door, device: Device, extent: Extent) -> Bits {
        Bits { cpu: cpu.clone(), device: cpu.clone().on(device), extent }
    }

    /// Makes all calls of an operator. `used` receives the names in `exempt` that were needed.
    pub fn operator(&self, operator: &Pointwise, used: &mut Used) -> Result<Tally, String> {
        let mut tally = Tally::default();
        for form in &operator.forms {
            let signature: Signature = form.schema.parse().map_err(|error| format!("{}: {error}", form.schema))?;
            for dtype in DType::all() {
                for &layout in Layout::of(&signature) {
                    let rounds = match layout {
                        Layout::Patterns if !self.extent.patterns || !dtype.is_half() || form.is_in_place => 0,
                        Layout::Patterns => 1,
                        _ => self.extent.rounds,
                    };
                    for round in 0..rounds {
                        self.call(&signature, Kind { dtype, layout, round }, &mut tally, used);
                    }
                }
            }
        }
        Ok(tally)
    }

    fn call(&self, signature: &Signature, kind: Kind, tally: &mut Tally, used: &mut Used) {
        let name = signature.full_name();
        let arguments = Sampler::new(self.extent.seed, &name, kind, self.extent.elements).arguments(signature);
        let expected = outcome(&self.cpu, signature, &arguments);
        let actual = outcome(&self.device, signature, &arguments);
        let found = match (&expected, &actual) {
            (Ok(expected), Ok(actual)) => {
                tally.calls += 1;
                compare(expected, actual, tally, &arguments)
            }
            (Err(expected), Err(actual)) if first_line(expected) == first_line(actual) => {
                tally.rejected += 1;
                return;
            }
            (Err(expected), Ok(_)) => vec![Difference::of(format!("no error instead of '{}'", first_line(expected)))],
            (_, Err(actual)) => {
                let instead =
                    expected.as_ref().err().map_or("a result".into(), |error| format!("'{}'", first_line(error)));
                vec![Difference::of(format!("error '{}' instead of {instead}", first_line(actual)))]
            }
        };
        let is_complex = has_complex(&expected, &arguments);
        let mut left = Vec::new();
        for difference in found {
            let excuse = difference.distance.and_then(|distance| exempt::excuse(&name, is_complex, &distance));
            match excuse {
                Some(excuse) => {
                    tally.excused += 1;
                    let largest = used.entry((excuse.rule, excuse.name)).or_insert(0.0);
                    *largest = excuse.size.max(*largest);
                }
                None => left.push(difference),
            }
        }
        tally.different += left.len();
        let known = format!("{name} of {}", kind.dtype);
        let is_known = tally.differences.iter().any(|line| line.starts_with(&known));
        let size = |difference: &Difference| difference.distance.map_or(f64::INFINITY, |distance| distance.relative);
        let largest = left.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        if let Some(largest) = largest.filter(|_| !is_known && tally.differences.len() < DESCRIBED) {
            let Kind { layout, round, .. } = kind;
            let call = format!("{known}, {layout:?}, round {round}{}", described(&arguments));
            tally.differences.push(format!("{call}: {} differ; {}", left.len(), largest.text));
        }
    }
}

/// Whether an argument or a result is complex.
fn has_complex(results: &Outcome, arguments: &[(String, Item)]) -> bool {
    let results = results.iter().flatten();
    results.chain(arguments.iter().map(|(_, item)| item)).any(|item| match item {
        Item::Tensor(host) => host.dtype.is_complex(),
        Item::Scalar(scalar) => matches!(scalar, Scalar::Complex(_)),
        Item::DType(dtype) => dtype.is_complex(),
        _ => false,
    })
}

fn first_line(error: &str) -> &str {
    error.lines().next().unwrap_or_default()
}

/// Results of a call, on the host. A device reports elements that are errors when it is waited for.
fn outcome(door: &Door, signature: &Signature, arguments: &[(String, Item)]) -> Outcome {
    let value = |item: &Item| door.value(item, &mut |_, host| door.tensor(host));
    let kwargs =
        arguments.iter().map(|(name, item)| Ok((name.clone(), value(item)?))).collect::<Result<_, String>>()?;
    let namespace = if signature.namespace.is_empty() { "aten" } else { &signature.namespace };
    let name = format!("{namespace}::{}", signature.name);
    let outs = door.call(&name, &signature.overload, Vec::new(), kwargs)?;
    outs.iter().map(|out: &Value| door.item(out)).collect()
}

/// What is different.
struct Difference {
    text: String,
    /// How far the elements are from each other, if they are numbers that are not integers.
    distance: Option<Distance>,
}

impl Difference {
    fn of(text: String) -> Difference {
        Difference { text, distance: None }
    }
}

/// The elements with other bits; counts the equal ones.
fn compare(expected: &[Item], actual: &[Item], tally: &mut Tally, arguments: &[(String, Item)]) -> Vec<Difference> {
    let mut found = Vec::new();
    if expected.len() != actual.len() {
        found.push(Difference::of(format!("{} results instead of {}", actual.len(), expected.len())));
    }
    for pair in expected.iter().zip(actual) {
        let (Item::Tensor(expected), Item::Tensor(actual)) = pair else {
            found.push(Difference::of(format!("{:?} instead of {:?}", pair.1, pair.0)));
            continue;
        };
        let kinds = [(actual.dtype, &actual.shape), (expected.dtype, &expected.shape)];
        if kinds[0] != kinds[1] {
            found.push(Difference::of(format!("{:?} instead of {:?}", kinds[0], kinds[1])));
            continue;
        }
        let other = other_bits(expected, actual);
        tally.equal += expected.numel() - other.len();
        let (numbers, others) =
            if other.is_empty() { Default::default() } else { (expected.numbers(), actual.numbers()) };
        found.extend(other.into_iter().map(|at| Difference {
            text: element(expected, actual, at, arguments),
            distance: Distance::of(expected.dtype, numbers[at], others[at]),
        }));
    }
    found
}

fn bytes(host: &HostTensor, at: usize) -> &[u8] {
    let size = host.dtype.size();
    host.bytes.as_deref().and_then(|bytes| bytes.get(at * size..(at + 1) * size)).unwrap_or_default()
}

/// The indices of elements with other bits.
fn other_bits(expected: &HostTensor, actual: &HostTensor) -> Vec<usize> {
    if expected.bytes == actual.bytes {
        return Vec::new();
    }
    let part = expected.dtype.to_real();
    let are_nan = |(a, b): (&[u8], &[u8])| a == b || (is_nan(part, a) && is_nan(part, b));
    let is_same = |at: &usize| {
        let (a, b) = (bytes(expected, *at), bytes(actual, *at));
        a == b || a.chunks(part.size()).zip(b.chunks(part.size())).all(are_nan)
    };
    (0..expected.numel()).filter(|at| !is_same(at)).collect()
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    if !dtype.is_floating() {
        return false;
    }
    let sign = 1u64 << (8 * bytes.len() - 1);
    let infinity = (sign - 1) >> mantissa_bits(dtype) << mantissa_bits(dtype);
    bits(bytes) & (sign - 1) > infinity
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// An element of both results, with the elements of the arguments that have as many.
fn element(expected: &HostTensor, actual: &HostTensor, at: usize, arguments: &[(String, Item)]) -> String {
    let mut line = format!("element {at}: {} instead of {}", shown(actual, at), shown(expected, at));
    for (name, item) in arguments {
        if let Item::Tensor(host) = item
            && (host.numel() == expected.numel() || host.numel() == 1)
        {
            let _ = write!(line, ", {name} {}", shown(host, if host.numel() == 1 { 0 } else { at }));
        }
    }
    line
}

/// Value and bits of an element.
fn shown(host: &HostTensor, at: usize) -> String {
    let element = HostTensor { bytes: Some(bytes(host, at).to_vec()), strides: None, shape: vec![], ..*host };
    let digits: String = bytes(host, at).iter().rev().map(|byte| format!("{byte:02x}")).collect();
    match element.elements().first() {
        Some(Element::Int(value)) => format!("{value}"),
        Some(Element::Number(value)) if host.dtype.is_complex() => format!("{value} (0x{digits})"),
        Some(Element::Number(value)) => format!("{:e} (0x{digits})", value.re),
        None => "nothing".into(),
    }
}

/// The arguments that are no tensors.
fn described(arguments: &[(String, Item)]) -> String {
    let mut text = String::new();
    for (name, item) in arguments {
        let _ = match item {
            Item::Tensor(host) => write!(text, ", {name} {} {:?}", host.dtype, host.shape),
            item => write!(text, ", {name}={item:?}"),
        };
    }
    text
}
