//! The results of the digits programs in their folders, and their bars. `demo-check` prints them.

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folders that the programs leave; the first is the one that the others are compared with.
pub const LANGUAGES: [&str; 3] = ["c", "cpp", "java"];
/// On the test images.
pub const LEAST_ACCURACY: f64 = 0.97;
/// Allowed difference of the loss of a step from that of another language.
pub const AMONG_LANGUAGES: f64 = 1e-6;
/// How far it may be from PyTorch's.
pub const FROM_PYTORCH: f64 = 1e-4;
/// Allowed difference of a logit from that of the program that wrote the model, relative to the largest logit: an
/// element of a matrix product is no more exact than its largest terms.
pub const OF_LARGEST_LOGIT: f64 = 1e-6;
const PICTURES: [&str; 2] = ["curves.svg", "confusion.svg"];

/// The results of one program: its own training, and its evaluation of the other models.
pub struct Run {
    /// The language, or `pytorch`.
    pub name: String,
    /// On the test images, after training.
    pub accuracy: f64,
    /// The loss of each step.
    pub losses: Vec<f64>,
    /// The scores of the test images.
    logits: Vec<f64>,
    /// How long training took.
    pub train_seconds: Option<f64>,
    /// The files that it wrote its model to.
    pub models: Vec<PathBuf>,
    folder: PathBuf,
    /// For each model that it read: the file, the accuracy and the scores.
    readings: Vec<(PathBuf, f64, Vec<f64>)>,
}

/// The results of a reader for a model.
pub struct Exchange {
    /// On the test images.
    pub accuracy: f64,
    /// The largest difference of a logit, as a part of the largest logit.
    pub gap: f64,
    /// The bars that do not hold.
    pub faults: Vec<String>,
}

impl Run {
    /// PyTorch's recorded results.
    pub fn recorded(folder: &Path) -> Result<Run, String> {
        Run::trained("pytorch", folder, &["model.pt"])
    }

    /// The results of a language's program in its folder below `out`.
    pub fn of(language: &str, out: &Path) -> Result<Run, String> {
        let folder = out.join(language);
        let mut run = Run::trained(language, &folder, &["model.pt", "model.safetensors"])?;
        let result = json_lines(&folder.join("result.txt"))?.pop().unwrap_or_default();
        run.check_report(&result)?;
        run.train_seconds = Some(number(&result, "train_seconds")?);
        let file = Tensors::read(&folder.join("logits.safetensors"))?;
        for (i, line) in json_lines(&folder.join("infer.txt"))?.iter().enumerate() {
            let model = line["model"].as_str().ok_or_else(|| format!("no model in {line}"))?;
            run.readings.push((model.into(), number(line, "test_accuracy")?, file.numbers(&i.to_string())?));
        }
        Ok(run)
    }

    /// Whether the program's JSON line matches its saved results. Its losses were printed with the digits of a float32.
    fn check_report(&self, result: &Value) -> Result<(), String> {
        let told = (number(result, "first_loss")? as f32, number(result, "last_loss")? as f32);
        let saved = (self.losses[0] as f32, self.losses[self.losses.len() - 1] as f32);
        let accurate = same_share(number(result, "test_accuracy")?, self.accuracy);
        if result["lang"] != self.name.as_str() || told != saved || !accurate {
            return Err(format!(
                "{}: {result} is not what run.safetensors says: {} {saved:?}",
                self.name, self.accuracy
            ));
        }
        Ok(())
    }

    fn trained(name: &str, folder: &Path, models: &[&str]) -> Result<Run, String> {
        let file = Tensors::read(&folder.join("run.safetensors"))?;
        let (accuracies, losses) = (file.numbers("test_accuracies")?, file.numbers("losses")?);
        let (Some(accuracy), false) = (accuracies.last(), losses.is_empty()) else {
            return Err(format!("{}: no epoch", folder.display()));
        };
        Ok(Run {
            name: name.to_string(),
            accuracy: *accuracy,
            losses,
            logits: file.numbers("logits")?,
            train_seconds: None,
            models: models.iter().map(|model| folder.join(model)).collect(),
            folder: folder.to_path_buf(),
            readings: Vec::new(),
        })
    }
}

/// The largest difference of the loss of a step.
pub fn loss_gap(run: &Run, other: &Run) -> Result<f64, String> {
    largest_gap(&run.losses, &other.losses).map_err(|text| format!("losses of {} and {}: {text}", run.name, other.name))
}

/// The bars that the training does not hold.
pub fn training_faults(run: &Run, from_c: f64, from_pytorch: f64) -> Vec<String> {
    let mut faults = Vec::new();
    if run.accuracy < LEAST_ACCURACY {
        faults.push(format!("{}: test accuracy {} is below {LEAST_ACCURACY}", run.name, run.accuracy));
    }
    if run.name != "pytorch" && from_c > AMONG_LANGUAGES {
        faults.push(format!("{}: a loss is {from_c:e} away from that of C, more than {AMONG_LANGUAGES:e}", run.name));
    }
    if from_pytorch > FROM_PYTORCH {
        faults
            .push(format!("{}: a loss is {from_pytorch:e} away from PyTorch's, more than {FROM_PYTORCH:e}", run.name));
    }
    faults
}

/// Compares the results of `reader` for a model with those of its writer.
pub fn exchange(writer: &Run, model: &Path, reader: &Run) -> Result<Exchange, String> {
    let file = std::fs::canonicalize(model).map_err(|error| format!("{}: {error}", model.display()))?;
    let same = |path: &Path| std::fs::canonicalize(path).is_ok_and(|path| path == file);
    let (_, accuracy, logits) = reader
        .readings
        .iter()
        .find(|(path, ..)| same(path))
        .ok_or_else(|| format!("{} has not read {}", reader.name, model.display()))?;
    let largest = writer.logits.iter().fold(0.0, |largest: f64, logit| largest.max(logit.abs()));
    let gap = largest_gap(logits, &writer.logits)? / largest;
    let mut faults = Vec::new();
    if !same_share(*accuracy, writer.accuracy) {
        let text = format!("accuracy {accuracy}, not {}", writer.accuracy);
        faults.push(format!("{} read by {}: {text}", model.display(), reader.name));
    }
    if gap > OF_LARGEST_LOGIT {
        let text = format!("a logit is off by {gap:e} of the largest, more than {OF_LARGEST_LOGIT:e}");
        faults.push(format!("{} read by {}: {text}", model.display(), reader.name));
    }
    Ok(Exchange { accuracy: *accuracy, gap, faults })
}

/// The pictures of two programs that differ.
pub fn compare_pictures(run: &Run, other: &Run) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for picture in PICTURES {
        if svg(&run.folder.join(picture))? != svg(&other.folder.join(picture))? {
            faults.push(format!("{picture} of {} and of {} differ", run.name, other.name));
        }
    }
    Ok(faults)
}

/// Whether two accuracies are the same. (`serde_json` parses a number to within one bit.)
fn same_share(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// The largest difference of two numbers at the same index; infinite for NaN, so that no bar holds.
fn largest_gap(a: &[f64], b: &[f64]) -> Result<f64, String> {
    if a.is_empty() || a.len() != b.len() {
        return Err(format!("{} and {} numbers", a.len(), b.len()));
    }
    let gaps = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    Ok(gaps.map(|gap| if gap.is_nan() { f64::INFINITY } else { gap }).fold(0.0, f64::max))
}

/// A picture that was written to its end.
fn svg(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !text.starts_with("<svg ") || !text.ends_with("</svg>\n") {
        return Err(format!("{}: not a complete SVG file", path.display()));
    }
    Ok(text)
}

/// A safetensors file.
struct Tensors {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Tensors {
    fn read(path: &Path) -> Result<Tensors, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Tensors { path: path.to_path_buf(), bytes })
    }

    /// The elements of a tensor of float32 or float64.
    fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {name}: {error}", self.path.display());
        let file = SafeTensors::deserialize(&self.bytes).map_err(|error| wrong(&error))?;
        let tensor = file.tensor(name).map_err(|error| wrong(&error))?;
        match tensor.dtype() {
            Dtype::F32 => {
                Ok(tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect())
            }
            Dtype::F64 => Ok(tensor.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()),
            other => Err(wrong(&format!("the dtype is {other:?}"))),
        }
    }
}

fn number(result: &Value, name: &str) -> Result<f64, String> {
    result[name].as_f64().ok_or_else(|| format!("no number {name:?} in {result}"))
}

fn json_lines(path: &Path) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, accuracy: f64, losses: &[f64]) -> Run {
        Run {
            name: name.to_string(),
            accuracy,
            losses: losses.to_vec(),
            logits: vec![8.0, -2.0],
            train_seconds: None,
            models: Vec::new(),
            folder: PathBuf::new(),
            readings: Vec::new(),
        }
    }

    #[test]
    fn a_gap_is_the_largest_and_no_number_is_infinitely_far() {
        assert_eq!(largest_gap(&[1.0, 2.0, 3.0], &[1.0, 2.5, 2.75]), Ok(0.5));
        assert_eq!(largest_gap(&[1.0, f64::NAN, 3.0], &[1.0, 2.0, 3.0]), Ok(f64::INFINITY));
        assert!(largest_gap(&[1.0], &[1.0, 2.0]).is_err() && largest_gap(&[], &[]).is_err());
    }

    #[test]
    fn each_bar_of_the_training_has_its_fault() {
        let (c, pytorch) = (run("c", 0.98, &[2.0, 1.0]), run("pytorch", 0.98, &[2.0, 1.00009]));
        let faults = |other: &Run| {
            training_faults(other, loss_gap(other, &c).unwrap(), loss_gap(other, &pytorch).unwrap()).len()
        };
        assert_eq!(faults(&c), 0);
        assert_eq!(faults(&run("cpp", 0.97, &[2.0, 1.0000009])), 0);
        assert_eq!(faults(&run("cpp", 0.96, &[2.0, 1.0])), 1);
        assert_eq!(faults(&run("cpp", 0.98, &[2.0, 1.000002])), 1);
        assert_eq!(faults(&run("cpp", 0.98, &[2.0, 0.9])), 2);
    }

    #[test]
    fn a_loaded_model_must_have_the_accuracy_and_the_logits_of_its_writer() {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let writer = run("cpp", 0.98, &[1.0]);
        let read = |accuracy, logits: &[f64]| {
            let mut reader = run("c", 0.98, &[1.0]);
            reader.readings.push((model.clone(), accuracy, logits.to_vec()));
            exchange(&writer, &model, &reader).map(|exchange| exchange.faults.len())
        };
        assert_eq!(read(0.98, &[8.0, -2.000004]), Ok(0));
        assert_eq!(read(0.98, &[8.0, -2.00002]), Ok(1));
        assert_eq!(read(0.97, &[8.0, -2.0]), Ok(1));
        assert!(exchange(&writer, &model, &writer).is_err(), "nobody has read it");
    }

    #[test]
    fn pictures_must_be_complete_and_the_same() {
        let folder = std::env::temp_dir().join(format!("rushlight-pictures-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            PICTURES.iter().for_each(|picture| std::fs::write(folder.join(name).join(picture), text).unwrap());
            Run { folder: folder.join(name), ..run(name, 0.98, &[1.0]) }
        };
        let (c, same, other) =
            (write("c", "<svg >1</svg>\n"), write("cpp", "<svg >1</svg>\n"), write("java", "<svg >2</svg>\n"));
        assert_eq!(compare_pictures(&c, &same), Ok(Vec::new()));
        assert_eq!(compare_pictures(&c, &other).unwrap()[0], "curves.svg of c and of java differ");
        assert!(compare_pictures(&c, &write("cut", "<svg >1")).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
