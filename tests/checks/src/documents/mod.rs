//! The documents of the project: which they are, and what holds for all of them.
//!
//! `page` reads one, `links` follows its links, `programs` makes programs of its code, `places` compiles them, `story` runs them block by block,
//! `book` gathers the files of the site.
//!
//! A line before a fenced block, an HTML comment, says what the block is, where its language does not say all:
//!
//! | mark | meaning |
//! |---|---|
//! | `file: PATH` | it shows this file of the repository (which another test runs) |
//! | `save: NAME` | it is written to this file in the page's folder, for later blocks |
//! | `with: PATH` | this file of the repository is copied into the page's folder first |
//! | `top` | it stands outside of functions (a class, an include), for the page's other blocks of its language |
//! | `continues` | it goes on where the block of its language before it ended, with its variables |
//! | `prints` | it is what the block before it prints; `...` stands for anything |
//! | `not run: REASON` | as it says |

pub mod book;
pub mod links;
pub mod page;
pub mod places;
pub mod programs;
pub mod story;

use crate::root;
use page::Page;
use std::path::Path;

/// The documents outside of `docs`, and whether they are for users: what those show runs.
const OUTSIDE: [(&str, bool); 11] = [
    ("README.md", true),
    ("java/README.md", true),
    ("examples/README.md", true),
    ("CONTRIBUTING.md", true),
    // Excerpts of sources, and commands that take minutes.
    ("ARCHITECTURE.md", false),
    ("CHANGELOG.md", false),
    ("THIRD_PARTY_NOTICES.md", false),
    ("bench/README.md", false),
    ("bench/RESULTS.md", false),
    ("tests/data/golden.md", false),
    ("tests/data/digits/README.md", false),
];

/// Do the blocks of this page run? Those of generated pages are declarations, which the generator's tests hold against the sources.
pub fn runs(page: &Page) -> bool {
    !page.generated && OUTSIDE.iter().all(|(path, for_users)| *path != page.path || *for_users)
}

/// Every document: those outside, and all below `docs`.
pub fn all() -> Result<Vec<Page>, String> {
    let mut paths: Vec<String> = OUTSIDE.iter().map(|(path, _)| path.to_string()).collect();
    below("docs", &mut paths)?;
    paths.iter().map(|path| Page::read(path)).collect()
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
