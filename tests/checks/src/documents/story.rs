//! Runs the blocks of pages in order, each page in its own folder, with an installed Rushlight.
//!
//! A block may use files written by earlier blocks, in any language. All programs are compiled first, on all cores,
//! then the pages run concurrently.

use super::page::{Block, Mark, Page};
use super::places::{Places, finished, write};
use crate::root;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// The result.
#[derive(Debug, Default)]
pub struct Report {
    /// Blocks that ran
    pub ran: usize,
    /// The problems
    pub problems: Vec<String>,
    /// Blocks that were left out, with the reason
    pub left_out: Vec<String>,
}

/// Compiles and runs the pages.
pub fn run(pages: &[Page], places: &Places) -> Result<Report, String> {
    let mut jobs = Vec::new();
    for page in pages.iter().filter(|page| super::runs(page)) {
        // A story begins in an empty folder.
        let folder = places.folder(page);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        jobs.extend(places.compilations(page)?);
    }
    jobs.extend(places.java_compilation(pages)?);
    let problems = parallel(jobs, |(name, mut command)| {
        let result = finished(&mut command);
        result.err().map(|text| format!("{name} does not compile:\n{text}"))
    });
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    if !problems.is_empty() {
        return Ok(Report { problems, ..Report::default() });
    }
    let mut whole = Report::default();
    for report in parallel(pages.iter().filter(|page| super::runs(page)).collect(), |page| places.tell(page)) {
        whole.ran += report.ran;
        whole.problems.extend(report.problems);
        whole.left_out.extend(report.left_out);
    }
    Ok(whole)
}

/// Runs all tasks, on as many threads as there are processors.
fn parallel<T: Send, R: Send>(work: Vec<T>, one: impl Fn(T) -> R + Sync) -> Vec<R> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let (waiting, done) = (Mutex::new(VecDeque::from(work)), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop_front());
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                while let Some(item) = next() {
                    let result = one(item);
                    if let Ok(mut done) = done.lock() {
                        done.push(result);
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

impl Places {
    /// Runs the blocks of a page.
    fn tell(&self, page: &Page) -> Report {
        let mut report = Report::default();
        let mut told = Told { printed: None, before: String::new() };
        for block in &page.blocks {
            let place = format!("{}:{}", page.path, block.line);
            match self.step(page, block, &mut told) {
                Ok(Step::Ran) => report.ran += 1,
                Ok(Step::LeftOut(reason)) => report.left_out.push(format!("{place} not run: {reason}")),
                Ok(Step::Shown) => {}
                Err(problem) => {
                    // Later blocks may need the results of this block.
                    report.problems.push(format!("{place}: {problem}"));
                    break;
                }
            }
        }
        report
    }

    /// Runs a block of any kind.
    fn step(&self, page: &Page, block: &Block, told: &mut Told) -> Result<Step, String> {
        let folder = self.folder(page);
        self.bring(block, &folder)?;
        if block.is(&Mark::Prints) {
            return match &told.printed {
                None => Err("no block before this one prints".into()),
                Some(Printed::Nothing) => Ok(Step::Shown),
                Some(Printed::Text(text)) => same(&block.text, text).map(|()| Step::Shown),
            };
        }
        told.printed = None;
        for mark in &block.marks {
            match mark {
                Mark::NotRun(reason) => return Ok(told.leave_out(reason)),
                Mark::Save(name) => return write(&folder.join(name), &block.text).map(|()| Step::Shown),
                // Another test compares it with the file; it belongs to the blocks that follow.
                Mark::File(_) | Mark::Top => return Ok(Step::Shown),
                Mark::With(_) | Mark::Continues | Mark::Prints => {}
            }
        }
        let mut command = match block.language.as_str() {
            "c" | "cpp" | "java" => self.program(page, block)?,
            "sh" => self.command_with("sh", ["-euc", &block.text]),
            "console" => return self.transcript(&folder, &block.text),
            "python" => match &self.python {
                None => return Ok(told.leave_out("PYTHON=... names no Python with PyTorch")),
                Some(python) => self.command_with(python, ["-c", &block.text]),
            },
            "text" => return Ok(Step::Shown),
            "" => return Err("a block without a language; use ```sh, ```console or ```text".into()),
            other => return Err(format!("what is a block of {other} for? save: or not run: says it")),
        };
        told.hear(block, finished(command.current_dir(&folder))?);
        Ok(Step::Ran)
    }

    /// Copies the repository files that a block needs into the folder.
    fn bring(&self, block: &Block, folder: &Path) -> Result<(), String> {
        for mark in &block.marks {
            if let Mark::With(path) = mark {
                let name = Path::new(path).file_name().ok_or(format!("{path} names no file"))?;
                fs::copy(root().join(path), folder.join(name)).map_err(|error| format!("{path}: {error}"))?;
            }
        }
        Ok(())
    }

    /// A block of commands, each after `$ `, with their output, including errors.
    fn transcript(&self, folder: &Path, text: &str) -> Result<Step, String> {
        for part in format!("\n{text}").split("\n$ ").skip(1) {
            let (line, expected) = part.split_once('\n').unwrap_or((part, ""));
            let output = self.command_with("sh", ["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(folder).output();
            let output = output.map_err(|error| format!("sh: {error}"))?;
            same(expected, &String::from_utf8_lossy(&output.stdout)).map_err(|problem| format!("{line}: {problem}"))?;
        }
        Ok(Step::Ran)
    }
}

/// The state of a page so far.
struct Told {
    /// The output of the previous block, if it ran
    printed: Option<Printed>,
    /// All that the last program printed
    before: String,
}

impl Told {
    fn leave_out(&mut self, reason: &str) -> Step {
        self.printed = Some(Printed::Nothing);
        Step::LeftOut(reason.into())
    }

    /// The output of a block that continues another one begins with the other's.
    fn hear(&mut self, block: &Block, text: String) {
        let own = if block.is(&Mark::Continues) { text.strip_prefix(&self.before).unwrap_or(&text) } else { &text };
        self.printed = Some(Printed::Text(own.to_string()));
        self.before = text;
    }
}

enum Printed {
    Text(String),
    /// It was left out.
    Nothing,
}

enum Step {
    Ran,
    Shown,
    LeftOut(String),
}

/// Compares with the expected output. Trailing blanks do not count; `...` matches anything.
fn same(expected: &str, found: &str) -> Result<(), String> {
    let trimmed = |text: &str| text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let (expected, found) = (trimmed(expected), trimmed(found));
    let mut pieces = expected.split("...");
    let begin = pieces.next().unwrap_or_default();
    let pieces: Vec<&str> = pieces.collect();
    let mut rest = found.strip_prefix(begin);
    if let [middle @ .., end] = &pieces[..] {
        for piece in middle {
            rest = rest.and_then(|text| text.find(piece).map(|at| &text[at + piece.len()..]));
        }
        rest = rest.and_then(|text| text.ends_with(end).then_some(""));
    }
    if rest == Some("") { Ok(()) } else { Err(format!("the page shows\n{expected}\nbut it is\n{found}")) }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn dots_stand_for_anything_and_nothing_else_does() {
        assert!(same("a ... c\n", "a b\nb c").is_ok());
        assert!(same("1 ...\n... 4", "1 2\n3 4  \n").is_ok());
        assert!(same("...", "").is_ok());
        assert!(same("a", "ab").is_err());
        assert!(same("a...a", "a").is_err());
        assert!(same("a...b", "a b c").is_err());
        assert!(same("", "a").is_err());
    }
}
