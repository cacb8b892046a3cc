//! Checks links: to a file of the repository, and to a heading in it. Web links are not checked.

use super::page::Page;
use crate::root;
use std::collections::BTreeMap;

/// Broken links of these pages.
pub fn problems(pages: &[Page]) -> Vec<String> {
    let known: BTreeMap<&str, &Page> = pages.iter().map(|page| (page.path.as_str(), page)).collect();
    let mut problems = Vec::new();
    for page in pages {
        for (line, target) in &page.links {
            if let Some(problem) = problem(&known, page, target) {
                problems.push(format!("{}:{line}: the link to {target} {problem}", page.path));
            }
        }
    }
    problems
}

fn problem(known: &BTreeMap<&str, &Page>, page: &Page, target: &str) -> Option<String> {
    let path = file(page, target)?;
    let anchor = target.split_once('#').map(|(_, anchor)| anchor);
    if !known.contains_key(path.as_str()) && !root().join(&path).is_file() {
        return Some("leads to no file (folders have no page on the site)".into());
    }
    match (known.get(path.as_str()), anchor) {
        (Some(other), Some(anchor)) if !other.anchors.contains(anchor) => Some("names no heading of that page".into()),
        (None, _) if path.ends_with(".md") => Some("leads to a page that is none of the documents".into()),
        _ => None,
    }
}

/// The file that a link of this page names, from the root of the repository; none for the web.
pub fn file(page: &Page, target: &str) -> Option<String> {
    if target.contains("://") {
        return None;
    }
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() {
        return Some(page.path.clone());
    }
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
