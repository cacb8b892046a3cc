//! The bars, case by case. A ratio is Rushlight's time over libtorch's; a share is a fraction of the
//! machine's limit.

use crate::record::Case;

/// A limit for a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Bar {
    /// At most this ratio, with this number of threads (or with any).
    Ratio { most: f64, threads: Option<usize> },
    /// At least this share of the peak, with this number of threads.
    Share { least: f64, threads: usize },
    /// Maximum number of nanoseconds, with one thread.
    Nanoseconds { most: f64 },
    /// Minimum GB/s, with any number of threads.
    Rate { least: f64 },
    /// Maximum time with two threads, relative to the time with one.
    Threads { most: f64 },
    /// Maximum time relative to another case of the same size.
    Against { name: &'static str, most: f64 },
}

impl Bar {
    pub fn text(&self) -> String {
        match self {
            Bar::Ratio { most, .. } => format!("ratio ≤ {most}"),
            Bar::Share { least, threads: 1 } => format!("≥ {:.0} % of the peak", 100.0 * least),
            Bar::Share { least, threads } => format!("≥ {:.0} % of the peak of {threads} cores", 100.0 * least),
            Bar::Nanoseconds { most } => format!("≤ {most} ns"),
            Bar::Rate { least } => format!("≥ {least} GB/s"),
            Bar::Threads { most } => format!("2T ≤ {most} × 1T"),
            Bar::Against { name, most } => format!("≤ {most} × \"{name}\""),
        }
    }
}

/// The geometric means that a case contributes to, and their limits, at every size and number of threads.
pub fn means(case: &Case) -> Vec<(String, Option<f64>)> {
    let group = case.group.clone();
    match case.group.as_str() {
        // Products of different dtypes have different bars.
        "gemm" => vec![(format!("{group} {}", case.name), None)],
        "elementwise" if TRANSCENDENTAL.contains(&case.name.as_str()) => {
            vec![(format!("{group}, transcendental"), Some(0.4)), (group, Some(0.6))]
        }
        "elementwise" | "reduction" | "rows" => vec![(group, Some(0.6))],
        "fft" | "linalg" => vec![(group, Some(1.0))],
        "selection" => vec![(group, Some(0.8))],
        "saved" if case.size == "cold" => vec![(group, Some(0.3))],
        "saved" if case.size == "compiled" => vec![(format!("{group}, compiled"), Some(0.6))],
        "saved" if case.name.starts_with("other/") => {
            vec![(group.clone(), Some(1.1)), (format!("{group}, without convolutions"), Some(0.7))]
        }
        "saved" => vec![(group, Some(1.1))],
        _ => vec![(group, None)],
    }
}

const MEMORY_BOUND: [&str; 26] = [
    "add",
    "mul",
    "add number",
    "relu",
    "clamp",
    "where",
    "eq",
    "copy_",
    "clone",
    "add row",
    "f32 to f16",
    "f32 to bf16",
    "f64 to f32",
    "add out=",
    "sum",
    "mean",
    "max",
    "argmax",
    "var",
    "norm",
    "sum dim 0",
    "sum dim 1",
    "max dim 1",
    "softmax",
    "log_softmax",
    "layer_norm",
];
const TRANSCENDENTAL: [&str; 10] =
    ["exp", "log", "tanh", "sigmoid", "gelu", "sin", "pow", "exp out=", "tanh out=", "sigmoid out="];

pub fn bars(case: &Case) -> Vec<Bar> {
    let any = |most| Bar::Ratio { most, threads: None };
    let name = case.name.as_str();
    let mut bars = match (case.group.as_str(), name) {
        ("call", "add") => vec![Bar::Nanoseconds { most: 120.0 }],
        ("call", "add, recorded") => vec![Bar::Nanoseconds { most: 200.0 }],
        ("elementwise", "add transposed") => vec![Bar::Against { name: "add", most: 3.0 }],
        ("elementwise" | "reduction" | "rows", _) if MEMORY_BOUND.contains(&name) => vec![any(1.1)],
        ("gemm", "f64") => vec![any(0.55)],
        ("gemm", "bf16" | "int8") => vec![any(1.15)],
        ("gemm", "f16") => vec![any(0.2)],
        ("gemm" | "linear" | "bmm", _) => products(case),
        // The figure is one of 4 million parameters: smaller ones stay in the caches.
        ("optimizer", "Adam") if case.size == "4 of 1000x1000" => vec![Bar::Rate { least: 45.0 }],
        ("optimizer", _) => vec![any(1.0)],
        ("models" | "linalg", _) => vec![any(2.0)],
        ("pooling" | "networks", _) => vec![any(1.0)],
        _ => Vec::new(),
    };
    if case.group != "call" {
        bars.push(Bar::Threads { most: 1.1 });
    }
    bars
}

/// Products of matrices of floats: the table of the report, and shares of the peak for squares.
fn products(case: &Case) -> Vec<Bar> {
    if case.size.starts_with("1x") || case.size == "32x4096x4096" {
        return vec![Bar::Ratio { most: 1.0, threads: None }];
    }
    let mut bars = vec![Bar::Ratio { most: 0.55, threads: Some(1) }, Bar::Ratio { most: 0.65, threads: Some(2) }];
    if case.group == "gemm" {
        let side = [128, 256, 512, 1024, 2048].into_iter().find(|n| case.size == format!("{n}x{n}x{n}"));
        bars.extend(side.map(|_| Bar::Share { least: 0.88, threads: 1 }));
        bars.extend(side.filter(|&n| n >= 512).map(|_| Bar::Share { least: 0.85, threads: 2 }));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(group: &str, name: &str, size: &str) -> Case {
        Case { group: group.into(), name: name.into(), size: size.into(), bytes: 0.0, operations: 0.0 }
    }

    #[test]
    fn squares_have_a_share_of_the_peak_to_reach() {
        let share = |size: &str| {
            bars(&case("gemm", "f32", size)).into_iter().filter(|bar| matches!(bar, Bar::Share { .. })).count()
        };
        assert_eq!([share("64x64x64"), share("128x128x128"), share("512x512x512"), share("128x512x784")], [0, 1, 2, 0]);
    }

    #[test]
    fn products_that_read_a_matrix_once_need_only_be_level() {
        let level = Bar::Ratio { most: 1.0, threads: None };
        assert_eq!(bars(&case("gemm", "f32", "1x1000x4096"))[0], level);
        assert_eq!(bars(&case("linear", "f32", "1x512x512"))[0], level);
        assert_eq!(bars(&case("linear", "f32", "128x512x784"))[0], Bar::Ratio { most: 0.55, threads: Some(1) });
    }

    #[test]
    fn elementary_functions_are_judged_by_their_mean_and_with_all_others() {
        let means = |name: &str| means(&case("elementwise", name, "10^6"));
        assert_eq!(
            means("exp"),
            [("elementwise, transcendental".into(), Some(0.4)), ("elementwise".into(), Some(0.6))]
        );
        assert_eq!(means("add"), [("elementwise".into(), Some(0.6))]);
    }

    #[test]
    fn decompositions_are_judged_by_their_mean_and_one_by_one() {
        let eigh = case("linalg", "eigh", "64x64");
        assert_eq!(means(&eigh), [("linalg".into(), Some(1.0))]);
        assert_eq!(bars(&eigh)[0], Bar::Ratio { most: 2.0, threads: None });
        assert_eq!(means(&case("selection", "sort", "10^6")), [("selection".into(), Some(0.8))]);
    }

    #[test]
    fn saved_models_are_judged_by_their_first_and_their_later_runs() {
        let means = |name: &str, size: &str| means(&case("saved", name, size));
        assert_eq!(means("other/gpt2", "cold"), [("saved".into(), Some(0.3))]);
        assert_eq!(means("convolutional/vgg", "steady"), [("saved".into(), Some(1.1))]);
        assert_eq!(means("convolutional/vgg", "compiled"), [("saved, compiled".into(), Some(0.6))]);
        assert_eq!(means("other/gpt2", "steady")[1], ("saved, without convolutions".into(), Some(0.7)));
    }

    #[test]
    fn threads_may_not_slow_down_but_calls_have_no_second_thread() {
        assert!(bars(&case("elementwise", "pow", "10^2")).contains(&Bar::Threads { most: 1.1 }));
        assert!(bars(&case("call", "view", "4")).is_empty());
    }
}
