//! The paths of an installed Rushlight, and how its users compile and run programs with it.

use super::page::{Block, Page};
use super::programs::{self, Language};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths that programs need.
#[derive(Debug)]
pub struct Places {
    /// The prefix of Rushlight
    pub prefix: PathBuf,
    /// The folder of the stories
    pub build: PathBuf,
    /// A Python with PyTorch, if there is one
    pub python: Option<String>,
}

/// A command with its name for messages.
pub type Job = (String, Command);

impl Places {
    /// The working folder of a page.
    pub fn folder(&self, page: &Page) -> PathBuf {
        self.build.join(programs::identifier(&page.path))
    }

    /// The folder of compiled programs: next to the page's folder, which belongs to its reader.
    fn compiled(&self, page: &Page, name: &str) -> PathBuf {
        self.build.join(format!("{}.{name}", programs::identifier(&page.path)))
    }

    fn jar(&self) -> Result<PathBuf, String> {
        let jar = self.prefix.join(format!("share/java/rushlight-{}.jar", env!("CARGO_PKG_VERSION")));
        if jar.is_file() { Ok(jar) } else { Err(format!("{} is not there", jar.display())) }
    }

    /// Runs a program in the environment that an installation needs; a program that hangs is an error.
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

    /// A program with arguments in that environment.
    pub fn command_with<const N: usize>(&self, program: &str, arguments: [&str; N]) -> Command {
        let mut command = self.command(program);
        command.args(arguments);
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
        // A fragment shows how a value is created and need not use it.
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
    pub fn compilations(&self, page: &Page) -> Result<Vec<Job>, String> {
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
    pub fn java_compilation(&self, pages: &[Page]) -> Result<Option<Job>, String> {
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

    /// Runs a block of a language that is compiled.
    pub fn program(&self, page: &Page, block: &Block) -> Result<Command, String> {
        let language = Language::of(block).ok_or("a block that is not compiled")?;
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
}

/// The output of a command, or why it failed.
pub fn finished(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{}{}({})", text(&output.stdout), text(&output.stderr), output.status))
    }
}

/// Writes a file, and its folder.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}
