//! The data of a run: the machine, its limits, and the time of each case in each round. Defines the JSON format.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A line that a benchmark program prints.
#[derive(Clone, Debug, Deserialize)]
pub struct Line {
    #[serde(flatten)]
    pub case: Case,
    pub ns: Option<f64>,
    pub checksum: Option<f64>,
    /// Why the library cannot run the case: it has no such function, or not for this dtype.
    pub missing: Option<String>,
    /// The error of a function that should have worked.
    pub failed: Option<String>,
}

/// The timed code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub group: String,
    pub name: String,
    pub size: String,
    /// Bytes that must be read and written; 0 if not meaningful.
    pub bytes: f64,
    /// Arithmetic operations; 0 if not meaningful.
    pub operations: f64,
}

impl Case {
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.group, self.name, self.size)
    }
}

/// A line that the program `compare_machine` prints: rates per second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub threads: usize,
    pub compiler: String,
    pub fma_f32: f64,
    pub fma_f64: f64,
    pub copies: Vec<Copy>,
}

/// Speed of copying arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copy {
    /// Read and written.
    pub bytes: f64,
    pub rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Contender {
    Rushlight,
    Libtorch,
}

impl Contender {
    pub fn name(self) -> &'static str {
        match self {
            Contender::Rushlight => "Rushlight",
            Contender::Libtorch => "libtorch",
        }
    }
}

/// The times of a case with one library and a number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub contender: Contender,
    pub threads: usize,
    /// Nanoseconds per call: the median of each process.
    pub rounds: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Figure {
    pub fn new(contender: Contender, threads: usize) -> Self {
        Figure { contender, threads, rounds: Vec::new(), checksum: None, missing: None, failed: None }
    }
    pub fn median(&self) -> Option<f64> {
        median(&self.rounds)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    #[serde(flatten)]
    pub case: Case,
    pub figures: Vec<Figure>,
}

impl Measured {
    pub fn figure(&self, contender: Contender, threads: usize) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.contender == contender && figure.threads == threads)
    }
    /// The same, created if it does not exist.
    pub fn figure_mut(&mut self, contender: Contender, threads: usize) -> &mut Figure {
        let at = self.figures.iter().position(|figure| figure.contender == contender && figure.threads == threads);
        let at = at.unwrap_or_else(|| {
            self.figures.push(Figure::new(contender, threads));
            self.figures.len() - 1
        });
        &mut self.figures[at]
    }
    pub fn nanoseconds(&self, contender: Contender, threads: usize) -> Option<f64> {
        self.figure(contender, threads)?.median()
    }
}

/// Machine, date and commit of the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setting {
    pub date: String,
    pub commit: String,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub compiler: String,
    pub rushlight: String,
    pub libtorch: Option<String>,
    /// `NAME=value` in the environment of libtorch alone.
    #[serde(default)]
    pub libtorch_env: Vec<String>,
    pub rounds: usize,
    /// Number of runnable processes just before the start, averaged over a minute.
    pub load: f64,
    /// Processors that other programs kept busy during the run, on average.
    pub others: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub setting: Setting,
    pub limits: Vec<Limits>,
    pub cases: Vec<Measured>,
}

impl Record {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
    pub fn write(&self, path: &Path) -> Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self)?).with_context(|| path.display().to_string())
    }
}

/// The middle of the values; of an even number the mean of the two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_line_of_a_program_is_understood() {
        let line: Line = serde_json::from_str(
            r#"{"group":"elementwise","name":"tanh","size":"10^2","bytes":800,"operations":0,"missing":"no such function"}"#,
        )
        .unwrap();
        assert_eq!(line.case.id(), "elementwise/tanh/10^2");
        assert_eq!(line.ns, None);
        assert_eq!(line.missing.as_deref(), Some("no such function"));
    }
}
