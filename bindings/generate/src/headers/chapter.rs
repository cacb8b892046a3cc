//! The beginning of a header: the documentation of the Rust module. Its example runs as a test, and its output must be
//! the documented one.
//!
//! A block "c" is the body of a function that has a `status`; a block "c top" is placed before it, for callbacks. A
//! line of the example ends with `// prints TEXT` if it prints.

use opgen::emit::{examples, header};
use opgen::model::Family;
use std::fmt::Write;

/// The beginning of a header.
pub struct Chapter {
    /// `tensor`, `ops/loss`
    pub name: String,
    /// One line.
    pub title: String,
    /// Everything after the title, with code indented.
    text: Vec<String>,
    /// The part of the example at file scope.
    top: Vec<String>,
    /// The example.
    body: Vec<String>,
}

impl Chapter {
    /// The beginning of a hand-written module, from its `//!` lines.
    pub fn of_module(name: &str, source: &str) -> Result<Chapter, String> {
        let mut lines = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        let title = lines.next().ok_or("the module has no documentation")?.to_owned();
        let mut chapter = Chapter { name: name.to_owned(), title, text: Vec::new(), top: Vec::new(), body: Vec::new() };
        let mut fence = None;
        for line in lines {
            match (line.strip_prefix("```"), fence) {
                (Some(language), None) => fence = Some(language == "c top"),
                (Some(_), Some(_)) => fence = None,
                (None, None) => chapter.text.push(line.to_owned()),
                (None, Some(top)) => {
                    chapter.text.push(format!("    {line}"));
                    if top { &mut chapter.top } else { &mut chapter.body }.push(line.to_owned());
                }
            }
        }
        if chapter.body.is_empty() {
            return Err("the documentation of the module has no example".into());
        }
        Ok(chapter)
    }

    /// The beginning of the header of a family: an example of one of its operators.
    pub fn of_family(family: &Family) -> Result<Chapter, String> {
        let name = format!("ops/{}", family.name);
        let body = examples::opening(family)?;
        let mut text = Vec::new();
        if !body.is_empty() {
            text.push(String::new());
            text.extend(body.iter().map(|line| format!("    {line}")));
        }
        Ok(Chapter { name, title: family.doc.clone(), text, top: Vec::new(), body })
    }

    /// Whether there is an example. Families whose operators only write to their arguments have none.
    pub fn has_example(&self) -> bool {
        !self.body.is_empty()
    }

    /// The function of the test program that runs the example.
    fn function(&self) -> String {
        format!("chapter_{}", self.name.replace('/', "_"))
    }

    /// Formats the beginning as a C comment.
    pub fn comment(&self) -> String {
        let mut comment = format!("/**\n * # {}\n", self.title);
        for line in &self.text {
            comment.push_str(format!(" * {line}").trim_end());
            comment.push('\n');
        }
        comment + " */"
    }

    fn prints(&self) -> impl Iterator<Item = &str> {
        self.body.iter().filter_map(|line| Some(line.split_once("// prints ")?.1))
    }
}

/// A program that runs the example of each chapter.
pub fn program(chapters: &[&Chapter]) -> String {
    let mut text = format!("/* {} */\n{OPENING}", header("capi/src"));
    for chapter in chapters {
        text.push('\n');
        for line in &chapter.top {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "\nstatic int32_t {}(void) {{", chapter.function());
        for line in &chapter.body {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("  return status;\n}\n");
    }
    text.push_str("\nint main(void) {\n");
    for chapter in chapters {
        let _ = writeln!(text, "  run(\"{}\", {});", chapter.name, chapter.function());
    }
    text + "  return failures;\n}\n"
}

/// The beginning of that program.
const OPENING: &str = r#"/* Runs the example of every chapter of the headers; chapters.txt is what it prints. */
#include <rushlight/rushlight.h>
#include <stdio.h>

static int failures = 0;

/* The example succeeds and leaves nothing behind. */
static void run(const char *name, int32_t (*example)(void)) {
  int64_t live = -1;
  printf("%s.h\n", name);
  if (example() || rlt_live_handles(&live)) {
    printf("%s\n", rlt_last_error_message());
    ++failures;
  } else if (live != 0) {
    printf("handles are left over: %lld\n", (long long)live);
    ++failures;
  }
}
"#;

/// The output of that program.
pub fn printed(chapters: &[&Chapter]) -> String {
    let mut text = String::new();
    for chapter in chapters {
        let _ = writeln!(text, "{}.h", chapter.name);
        for line in chapter.prints() {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}
