//! Gathers the site: every document, and every file that one of them links to, at its path in the repository, so that
//! links work on the site as they do in a checkout. `docs/SUMMARY.md` is the table of contents, and a document as well;
//! mdBook wants it at the root.

use super::links;
use super::page::Page;
use super::places::write;
use crate::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The table of contents.
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// Documents that the table of contents does not name, or names twice: mdBook leaves out the ones and stops at the others.
pub fn misnamed(pages: &[Page]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.path == SUMMARY) else {
        return vec![format!("there is no {SUMMARY}")];
    };
    let named: Vec<String> = summary.links.iter().filter_map(|(_, target)| links::file(summary, target)).collect();
    let times = |page: &Page| named.iter().filter(|name| **name == page.path).count();
    let wrong = pages.iter().filter(|page| times(page) != 1);
    wrong.map(|page| format!("{SUMMARY} names {} {} times", page.path, times(page))).collect()
}

/// Writes the input of mdBook.
pub fn gather(pages: &[Page], folder: &Path) -> Result<(), String> {
    let mut files: BTreeSet<String> = pages.iter().map(|page| page.path.clone()).collect();
    for page in pages {
        files.extend(page.links.iter().filter_map(|(_, target)| links::file(page, target)));
    }
    for file in &files {
        let text = match pages.iter().find(|page| page.path == *file) {
            Some(page) => page.text.clone().into_bytes(),
            None => fs::read(root().join(file)).map_err(|error| format!("{file}: {error}"))?,
        };
        write(&folder.join(file), text)?;
    }
    let Some(summary) = pages.iter().find(|page| page.path == SUMMARY) else {
        return Err(format!("there is no {SUMMARY}"));
    };
    let mut lines: Vec<String> = summary.text.lines().map(String::from).collect();
    for (line, target) in &summary.links {
        if let Some(file) = links::file(summary, target) {
            lines[line - 1] = lines[line - 1].replace(&format!("]({target})"), &format!("]({file})"));
        }
    }
    write(&folder.join("SUMMARY.md"), lines.join("\n"))
}
