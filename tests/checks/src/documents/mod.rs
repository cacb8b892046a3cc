//! The documents of the project, and what is checked in all of them.
//!
//! `page` parses one, `links` checks its links, `programs` creates programs from its code, `places` compiles them,
//! `story` runs them block by block, `book` gathers the files of the site.
//!
//! An HTML comment before a fenced block describes the block, if its language is not enough:
//!
//! | mark | meaning |
//! |---|---|
//! | `file: PATH` | it shows this file of the repository (which another test runs) |
//! | `save: NAME` | it is written to this file in the page's folder, for later blocks |
//! | `with: PATH` | this file of the repository is copied into the page's folder first |
//! | `top` | it is placed outside of functions (a class, an include), for the page's other blocks of its language |
//! | `continues` | it continues the previous block of its language, with its variables |
//! | `prints` | it is what the block before it prints; `...` stands for anything |
//! | `not run: REASON` | it is not run, for this reason |

pub mod book;
#[cfg(feature = "curves")]
pub mod curves;
pub mod links;
pub mod page;
pub mod places;
pub mod programs;
pub mod story;

use crate::root;
use opgen::emit::operators_md;
use page::Page;
use std::path::Path;

/// The documents outside of `docs`, and whether they are for users: the code of those runs.
const OUTSIDE: [(&str, bool); 12] = [
    ("README.md", true),
    ("java/README.md", true),
    ("examples/README.md", true),
    ("CONTRIBUTING.md", true),
    // Excerpts of sources, and commands that take minutes.
    ("ARCHITECTURE.md", false),
    ("cpp-frontend/README.md", false),
    ("CHANGELOG.md", false),
    ("THIRD_PARTY_NOTICES.md", false),
    ("bench/README.md", false),
    ("bench/RESULTS.md", false),
    ("tests/data/golden.md", false),
    ("tests/data/digits/README.md", false),
];

/// Whether the blocks of this page run. Those of generated pages are declarations, which the generator's tests check.
pub fn runs(page: &Page) -> bool {
    !page.generated && OUTSIDE.iter().all(|(path, for_users)| *path != page.path || *for_users)
}

/// Every document: those outside, all below `docs`, and the generated pages of the operators.
pub fn all() -> Result<Vec<Page>, String> {
    let mut paths: Vec<String> = OUTSIDE.iter().map(|(path, _)| path.to_string()).collect();
    below("docs", &mut paths)?;
    let mut pages = paths.iter().map(|path| Page::read(path)).collect::<Result<Vec<Page>, String>>()?;
    let families = opgen::load().map_err(|problems| problems.join("\n"))?;
    let generated = operators_md::EMITTER.files(&families)?;
    let rows = generated.iter().map(|file| format!("  - {}\n", contents_row(&file.path))).collect::<String>();
    for page in pages.iter_mut().filter(|page| page.path == book::SUMMARY) {
        let text = page.text.replace(OPERATORS, &format!("{OPERATORS}{rows}"));
        *page = Page::parse(book::SUMMARY, text)?;
    }
    for file in generated {
        pages.push(Page::parse(&file.path, file.text)?);
    }
    Ok(pages)
}

/// The line of the table of contents below which the generated pages are listed.
const OPERATORS: &str = "- [Operators](operators.md)\n";

/// `[pointwise](operators/pointwise.md)` for `docs/operators/pointwise.md`
fn contents_row(path: &str) -> String {
    let target = path.trim_start_matches("docs/");
    let name = target.trim_start_matches("operators/").trim_end_matches(".md");
    format!("[{}]({target})", if name == "index" { "All operators" } else { name })
}

fn below(folder: &str, paths: &mut Vec<String>) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{folder}: {error}");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).map_err(problem)? {
        names.push(entry.map_err(problem)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names {
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            below(&path, paths)?;
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    Ok(())
}
