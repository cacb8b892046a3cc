//! The words that CONTRIBUTING.md's list replaces: they do not occur in comments, messages, test names and documents.
//!
//! The table of CONTRIBUTING.md is the only list. A word or phrase in code style in its first column is unambiguous and
//! is searched for; the other rows depend on the context and are left to review.

use std::collections::HashMap;

/// Files with words of the list for a reason: path, word, reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

/// Extensions of hand-written files.
const EXTENSIONS: [&str; 14] =
    ["rs", "java", "cs", "h", "c", "cc", "cpp", "md", "py", "sh", "cmake", "toml", "in", "txt"];

/// The list and its test, generated files, recorded data, and licences.
const EXCLUDED: [&str; 9] = [
    "include/",
    "cpp-frontend/include/ATen/generated/",
    "tests/data/",
    "tests/oracle/data/",
    "bench/RESULTS.md",
    "CONTRIBUTING.md",
    "tests/checks/tests/wording.rs",
    "THIRD_PARTY_NOTICES.md",
    "bindings/generate/src/tests/data/",
];

/// A word of a text, in lower case, with its line.
type Word = (usize, String);

/// The phrases of the list, each as its words.
pub fn phrases(contributing: &str) -> Vec<Vec<String>> {
    let rows = contributing.lines().skip_while(|line| !line.starts_with("| do not write |")).skip(2);
    let cells = rows.map_while(|line| line.strip_prefix("| ")?.split(" |").next());
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.map(|phrase| words(1, phrase).into_iter().map(|(_, word)| word).collect()).collect()
}

/// Whether the list applies to this file of the repository.
pub fn applies(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    (EXTENSIONS.contains(&extension) || name == "Makefile" || path == ".ci/run")
        && !EXCLUDED.iter().any(|excluded| path.starts_with(excluded))
}

/// The phrases that occur in the files, as `path:line: phrase`; and the exceptions that do not occur.
pub fn problems<'a>(phrases: &[Vec<String>], files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut by_first: HashMap<&str, Vec<&[String]>> = HashMap::new();
    for phrase in phrases {
        by_first.entry(phrase[0].as_str()).or_default().push(phrase);
    }
    let mut unused: Vec<_> = EXCEPTIONS.to_vec();
    let mut problems = Vec::new();
    for (path, text) in files {
        for segment in prose(path, text) {
            for (at, (line, word)) in segment.iter().enumerate() {
                for phrase in by_first.get(word.as_str()).into_iter().flatten() {
                    let found = segment[at..].iter().map(|(_, word)| word).take(phrase.len());
                    if !found.eq(phrase.iter()) {
                        continue;
                    }
                    let phrase = phrase.join(" ");
                    let excepted = |&(file, word, _): &(&str, &str, &str)| file == path && word == phrase;
                    if EXCEPTIONS.iter().any(excepted) {
                        unused.retain(|exception| !excepted(exception));
                    } else {
                        problems.push(format!("{path}:{line}: `{phrase}`"));
                    }
                }
            }
        }
    }
    problems.extend(unused.iter().map(|(path, word, _)| format!("{path}: the exception for `{word}` is not needed")));
    problems
}

/// The prose of a file, in segments of adjacent words: comments, strings and names of functions; of a document all of it.
fn prose(path: &str, text: &str) -> Vec<Vec<Word>> {
    if path.ends_with(".md") || path.ends_with(".txt") {
        return vec![text.lines().enumerate().flat_map(|(index, line)| words(index + 1, line)).collect()];
    }
    let hash =
        !["rs", "java", "cs", "h", "c", "cc", "cpp"].iter().any(|extension| path.ends_with(&format!(".{extension}")));
    let mut segments = Vec::new();
    let mut comment: Vec<Word> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let is_comment =
            if hash { start.starts_with('#') } else { ["//", "/*", "*"].iter().any(|sign| start.starts_with(sign)) };
        if is_comment {
            comment.extend(words(index + 1, start));
            continue;
        }
        segments.push(std::mem::take(&mut comment));
        segments.extend(line.split('"').skip(1).step_by(2).map(|string| words(index + 1, string)));
        if let Some((_, trailing)) = line.split_once(if hash { " # " } else { " // " }) {
            segments.push(words(index + 1, trailing));
        }
        if let Some((_, name)) = start.split_once("fn ") {
            let name = name.split(|character: char| !character.is_alphanumeric() && character != '_').next();
            segments.push(words(index + 1, &name.unwrap_or_default().replace('_', " ")));
        }
    }
    segments.push(comment);
    segments
}

/// The words of a line in lower case; identifiers with underscores are one word.
fn words(line: usize, text: &str) -> Vec<Word> {
    text.split(|character: char| !(character.is_alphanumeric() || character == '_' || character == '\''))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
        .map(|word| (line, word.to_lowercase()))
        .collect()
}
