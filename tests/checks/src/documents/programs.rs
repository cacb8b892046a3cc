//! Programs from the blocks of a page. Compilers are slow to start, so all fragments of a page in one language are one
//! program, with a function for each; its argument selects which to run.

use super::page::{Block, Mark, Page};
use std::fmt::Write;

/// A language that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99
    C,
    /// C++17
    Cpp,
    /// Java 17
    Java,
}

impl Language {
    /// Every one.
    pub const ALL: [Language; 3] = [Language::C, Language::Cpp, Language::Java];

    /// The language of a block that is compiled.
    pub fn of(block: &Block) -> Option<Language> {
        let elsewhere = |mark: &Mark| matches!(mark, Mark::File(_) | Mark::Save(_) | Mark::NotRun(_)).then_some(());
        match block.language.as_str() {
            _ if block.find(elsewhere).is_some() => None,
            "c" => Some(Language::C),
            "cpp" => Some(Language::Cpp),
            "java" => Some(Language::Java),
            _ => None,
        }
    }

    /// The first word of lines that must be at the top of a file.
    fn hoisted(self) -> &'static str {
        if self == Language::Java { "import " } else { "#include " }
    }

    /// How a compiler is told the origin of a text.
    fn origin(self, page: &Page, line: usize) -> String {
        match self {
            Language::Java => format!("// {}:{line}\n", page.path),
            Language::C | Language::Cpp => format!("#line {line} \"{}\"\n", page.path),
        }
    }
}

/// Whether the block has its own `main`.
pub fn is_whole(block: &Block) -> bool {
    ["int main(", "void main("].iter().any(|main| block.text.contains(main))
}

/// The program of the fragments of a page in one language. In Java it is the class `Page` in a package named after the
/// page.
pub fn fragments(page: &Page, language: Language) -> Option<String> {
    let blocks: Vec<&Block> =
        page.blocks.iter().filter(|block| Language::of(block) == Some(language) && !is_whole(block)).collect();
    if blocks.is_empty() {
        return None;
    }
    let (mut imports, mut top, mut functions, mut cases) = (String::new(), String::new(), String::new(), String::new());
    let mut before = String::new();
    for block in blocks {
        let mut body = language.origin(page, block.line);
        for line in block.text.lines() {
            if line.starts_with(language.hoisted()) {
                let _ = writeln!(imports, "{line}");
                body.push('\n');
            } else {
                let _ = writeln!(body, "{line}");
            }
        }
        if block.is(&Mark::Top) {
            top.push_str(&body);
            continue;
        }
        if block.is(&Mark::Continues) {
            body.insert_str(0, &before);
        }
        let line = block.line;
        let _ = match language {
            Language::C => writeln!(functions, "static void block_{line}(void) {{\n{body}}}\n"),
            Language::Cpp => writeln!(functions, "static void block_{line}() {{\n{body}}}\n"),
            Language::Java => writeln!(functions, "static void block_{line}() throws Exception {{\n{body}}}\n"),
        };
        let _ = writeln!(cases, "case {line}: block_{line}(); break;");
        before = body;
    }
    Some(match language {
        Language::C => format!(
            "{C_TOP}{imports}\n{top}\n{functions}\nint main(int argc, char** argv) {{\nswitch (argc > 1 ? atoi(argv[1]) : 0) {{\n{cases}}}\nreturn 0;\n}}\n"
        ),
        Language::Cpp => format!(
            "{CPP_TOP}{imports}\n{top}\n{functions}\nint main(int, char** argv) try {{\nswitch (std::atoi(argv[1])) {{\n{cases}}}\nreturn 0;\n}} \
             catch (const std::exception& error) {{\nstd::cerr << error.what() << '\\n';\nreturn 1;\n}}\n"
        ),
        Language::Java => format!(
            "package {};\n{JAVA_TOP}{imports}\n{top}\nclass Page {{\n{functions}\npublic static void main(String[] block) throws Exception {{\n\
             switch (Integer.parseInt(block[0])) {{\n{cases}}}\n}}\n}}\n",
            identifier(&page.path)
        ),
    })
}

const C_TOP: &str = "#include <rushlight/rushlight.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
const CPP_TOP: &str = "#include <torch/torch.h>\n#include <cstdlib>\n#include <iostream>\n";
const JAVA_TOP: &str = "import java.nio.file.*;\nimport java.util.*;\nimport org.rushlight.*;\nimport org.rushlight.data.*;\nimport org.rushlight.nn.*;\n\
                        import org.rushlight.nn.Module;\nimport org.rushlight.optim.*;\n";

/// The name of a page as programs and folders have it: `docs_guides_java`.
pub fn identifier(path: &str) -> String {
    path.trim_end_matches(".md").replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_lowercase()
}

/// The class that has the `main` of a Java program.
pub fn class_name(text: &str) -> Option<&str> {
    let rest = text.lines().find_map(|line| line.strip_prefix("public ").unwrap_or(line).strip_prefix("class "))?;
    rest.split([' ', '{']).next()
}
