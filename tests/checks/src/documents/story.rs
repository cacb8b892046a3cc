//! Runs the blocks of pages in their order, each page in a folder of its own, with an installed Rushlight.
//!
//! A page tells a story: what a block writes, a later one finds, in whatever language. All programs are compiled first,
//! on all cores, then the pages run beside each other.

use super::page::{Block, Mark, Page};
use super::programs::{self, Language};
use crate::root;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Where things are.
#[derive(Debug)]
pub struct Places {
    /// Where Rushlight is installed
    pub prefix: PathBuf,
    /// The folder of the stories
    pub build: PathBuf,
    /// A Python with PyTorch, if there is one
    pub python: Option<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Blocks that ran
    pub ran: usize,
    /// What is wrong
    pub problems: Vec<String>,
    /// Blocks that were left out, with the reason
    pub left_out: Vec<String>,
}

/// A command with its name for messages.
type Job = (String, Command);

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

/// Does all work, on as many threads as there are processors.
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

/// What a command prints, or why it failed.
fn finished(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{}{}({})", text(&output.stdout), text(&output.stderr), output.status))
    }
}

impl Places {
    fn folder(&self, page: &Page) -> PathBuf {
        self.build.join(programs::identifier(&page.path))
    }

    /// Where compiled programs lie: beside the folder of the page, which is the reader's.
    fn compiled(&self, page: &Page, name: &str) -> PathBuf {
        self.build.join(format!("{}.{name}", programs::identifier(&page.path)))
    }

    fn jar(&self) -> Result<PathBuf, String> {
        let folder = self.prefix.join("share/java");
        let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
        let files: Vec<PathBuf> =
            fs::read_dir(&folder).map_err(problem)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let name = format!("rushlight-{}.jar", env!("CARGO_PKG_VERSION"));
        files.into_iter().find(|file| file.ends_with(&name)).ok_or(format!("{} has no {name}", folder.display()))
    }

    /// A program in the environment that an installation asks for; a program that hangs is an error, too.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let prefix = self.prefix.display();
        let mut command = Command::new("timeout");
        command.arg("300").arg(program);
        command.env("PREFIX", &self.prefix).env("PATH", format!("{prefix}/bin:{path}"));
        command.env("LD_LIBRARY_PATH", format!("{prefix}/lib")).env("CMAKE_PREFIX_PATH", &self.prefix);
        command.env("PKG_CONFIG_PATH", format!("{prefix}/lib/pkgconfig"));
        command
    }

    fn java(&self, classes: &Path) -> Result<Command, String> {
        let mut command = self.command("java");
        let path = format!("{}:{}", self.jar()?.display(), classes.display());
        // Programs that run for a moment: the second compiler of the JVM would cost more than it saves.
        command.args(["-XX:TieredStopAtLevel=1", "-cp", &path]);
        Ok(command)
    }

    fn compiler(&self, language: Language, source: &Path, program: &Path) -> Command {
        let (compiler, standard) = match language {
            Language::Cpp => ("g++", "-std=c++17"),
            Language::C | Language::Java => ("gcc", "-std=c99"),
        };
        let mut command = self.command(compiler);
        // A fragment shows how a value is made and need not use it.
        command.args([
            standard,
            "-O0",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-variable",
            "-Wno-unused-but-set-variable",
        ]);
        command.arg("-isystem").arg(self.prefix.join("include")).arg(source).arg("-o").arg(program);
        command.arg("-L").arg(self.prefix.join("lib")).args(["-lrushlight", "-lm"]);
        command
    }

    /// The C and C++ programs of a page: one of all its fragments in a language, and the whole ones.
    fn compilations(&self, page: &Page) -> Result<Vec<Job>, String> {
        let mut jobs = Vec::new();
        for (language, ending) in [(Language::C, "c"), (Language::Cpp, "cpp")] {
            let whole =
                page.blocks.iter().filter(|block| Language::of(block) == Some(language) && programs::is_whole(block));
            let whole = whole.map(|block| {
                (block.line.to_string(), format!("#line {} \"{}\"\n{}", block.line, page.path, block.text))
            });
            let fragments = programs::fragments(page, language).map(|text| (ending.to_string(), text));
            for (name, text) in fragments.into_iter().chain(whole) {
                let source = self.compiled(page, &format!("{name}.{ending}"));
                write(&source, &text)?;
                let program = self.compiled(page, &name);
                jobs.push((format!("{} ({ending})", page.path), self.compiler(language, &source, &program)));
            }
        }
        Ok(jobs)
    }

    /// The fragments in Java of all pages, which are compiled together.
    fn java_compilation(&self, pages: &[Page]) -> Result<Option<Job>, String> {
        let mut command = self.command("javac");
        command
            .args(["-Xlint:all,-processing,-try", "-Werror", "-d"])
            .arg(self.build.join("classes"))
            .arg("-cp")
            .arg(self.jar()?);
        let mut any = false;
        for page in pages.iter().filter(|page| super::runs(page)) {
            if let Some(text) = programs::fragments(page, Language::Java) {
                let source = self.build.join("java").join(programs::identifier(&page.path)).join("Page.java");
                write(&source, &text)?;
                command.arg(source);
                any = true;
            }
        }
        Ok(any.then(|| ("the fragments in Java".into(), command)))
    }

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
                    // What follows may need what this block should have made.
                    report.problems.push(format!("{place}: {problem}"));
                    break;
                }
            }
        }
        report
    }

    fn step(&self, page: &Page, block: &Block, told: &mut Told) -> Result<Step, String> {
        let folder = self.folder(page);
        for mark in &block.marks {
            if let Mark::With(path) = mark {
                let name = Path::new(path).file_name().ok_or(format!("{path} names no file"))?;
                fs::copy(root().join(path), folder.join(name)).map_err(|error| format!("{path}: {error}"))?;
            }
        }
        if block.is(&Mark::Prints) {
            return match &told.printed {
                None => Err("no block before this one prints".into()),
                Some(Printed::Nothing) => Ok(Step::Shown),
                Some(Printed::Text(text)) => same(&block.text, text).map(|()| Step::Shown),
            };
        }
        told.printed = None;
        if let Some(reason) = block.find(|mark| if let Mark::NotRun(reason) = mark { Some(reason) } else { None }) {
            told.printed = Some(Printed::Nothing);
            return Ok(Step::LeftOut(reason.clone()));
        }
        if let Some(name) = block.find(|mark| if let Mark::Save(name) = mark { Some(name) } else { None }) {
            return write(&folder.join(name), &block.text).map(|()| Step::Shown);
        }
        if block.find(|mark| matches!(mark, Mark::File(_)).then_some(())).is_some() || block.is(&Mark::Top) {
            return Ok(Step::Shown);
        }
        let mut command = match (Language::of(block), block.language.as_str()) {
            (Some(language), _) => self.program(page, block, language)?,
            (None, "sh") => {
                let mut command = self.command("sh");
                command.args(["-euc", &block.text]);
                command
            }
            (None, "console") => return self.transcript(&folder, &block.text),
            (None, "python") => match &self.python {
                None => {
                    told.printed = Some(Printed::Nothing);
                    return Ok(Step::LeftOut("PYTHON=... names no Python with PyTorch".into()));
                }
                Some(python) => {
                    let mut command = self.command(python);
                    command.args(["-c", &block.text]);
                    command
                }
            },
            (None, "text") => return Ok(Step::Shown),
            (None, "") => return Err("a block without a language; use ```sh, ```console or ```text".into()),
            (None, other) => {
                return Err(format!("nothing is known about blocks of {other}; save: or not run: says what it is for"));
            }
        };
        let text = finished(command.current_dir(&folder))?;
        // A block that continues another has printed what that one did before.
        let own = if block.is(&Mark::Continues) { text.strip_prefix(&told.before).unwrap_or(&text) } else { &text };
        told.printed = Some(Printed::Text(own.to_string()));
        told.before = text;
        Ok(Step::Ran)
    }

    fn program(&self, page: &Page, block: &Block, language: Language) -> Result<Command, String> {
        let line = block.line.to_string();
        if language == Language::Java && programs::is_whole(block) {
            let class = programs::class_name(&block.text).ok_or("a program without a class")?;
            let source = self.folder(page).join(format!("{class}.java"));
            write(&source, &block.text)?;
            let mut command = self.java(Path::new("."))?;
            command.arg(source);
            return Ok(command);
        }
        if programs::is_whole(block) {
            return Ok(self.command(self.compiled(page, &line)));
        }
        let mut command = match language {
            Language::C => self.command(self.compiled(page, "c")),
            Language::Cpp => self.command(self.compiled(page, "cpp")),
            Language::Java => {
                let mut command = self.java(&self.build.join("classes"))?;
                command.arg(format!("{}.Page", programs::identifier(&page.path)));
                command
            }
        };
        command.arg(line);
        Ok(command)
    }

    /// A block of commands, each after `$ `, with what they print, errors among it.
    fn transcript(&self, folder: &Path, text: &str) -> Result<Step, String> {
        for part in format!("\n{text}").split("\n$ ").skip(1) {
            let (line, expected) = part.split_once('\n').unwrap_or((part, ""));
            let output = self.command("sh").args(["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(folder).output();
            let output = output.map_err(|error| format!("sh: {error}"))?;
            same(expected, &String::from_utf8_lossy(&output.stdout)).map_err(|problem| format!("{line}: {problem}"))?;
        }
        Ok(Step::Ran)
    }
}

/// What has happened on a page so far.
struct Told {
    /// What the block before printed, if it ran
    printed: Option<Printed>,
    /// All that the last program printed
    before: String,
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

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Is this what was to be printed? Blanks at the ends of lines do not count; `...` is anything.
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
