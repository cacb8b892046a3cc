//! The documents agree with the files.

use rushlight_checks::documents::page::{Mark, Page};
use rushlight_checks::documents::{self, book, links};
use rushlight_checks::root;
use std::fs::read_to_string;
use std::process::Command;

/// A block that shows a file is preceded by the line `<!-- file: PATH -->`.
#[test]
fn a_code_block_with_a_file_name_is_that_file() {
    let mut blocks = 0;
    for page in documents::all().unwrap() {
        for block in &page.blocks {
            for mark in &block.marks {
                let Mark::File(file) = mark else { continue };
                let expected = read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(block.text == expected, "{}:{}: the block is not {file}", page.path, block.line);
                blocks += 1;
            }
        }
    }
    assert!(blocks >= 3, "README shows an example per language");
}

#[test]
fn links_lead_somewhere() {
    let problems = links::problems(&documents::all().unwrap());
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn the_table_of_contents_names_every_document_once() {
    let misnamed = book::misnamed(&documents::all().unwrap());
    assert!(misnamed.is_empty(), "{misnamed:#?}");
}

#[test]
fn a_comment_that_is_no_mark_or_has_no_block_is_an_error() {
    let parse = |text: &str| Page::parse("page.md", text.into());
    assert_eq!(parse("<!-- prints -->\n```text\n1\n```\n").unwrap().blocks[0].marks, [Mark::Prints]);
    assert!(parse("<!-- print -->\n```text\n1\n```\n").is_err());
    assert!(parse("<!-- prints -->\n\nWords.\n").is_err());
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = |text: &str| Page::parse("docs/cli.md", format!("# One `two`\n\n{text}\n")).unwrap();
    for good in ["[a](#one-two)", "[a](../README.md#java)", "[a](../Makefile)", "[a](https://example.org/)"] {
        let pages = [page(good), Page::read("README.md").unwrap()];
        assert!(!links::problems(&pages).iter().any(|problem| problem.starts_with("docs/cli.md")), "{good}");
    }
    for bad in ["[a](#two)", "[a](../README.md#jave)", "[a](../Makefil)", "[a](../docs)"] {
        let pages = [page(bad), Page::read("README.md").unwrap()];
        assert!(links::problems(&pages).iter().any(|problem| problem.starts_with("docs/cli.md:3:")), "{bad}");
    }
}

/// The crate map names every member of the workspace.
#[test]
fn the_crate_map_is_complete() {
    let manifest = read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let map = read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for member in members.split('"').skip(1).step_by(2) {
        assert!(map.contains(&format!("`{member}`")), "ARCHITECTURE.md does not name {member}");
    }
}

/// Every environment variable that the library, its C++ headers or the tool reads has a row in docs/environment.md.
#[test]
fn every_environment_variable_is_documented() {
    let mut git = Command::new("git");
    git.args(["ls-files", "--", "core", "capi", "cpp-frontend", "bindings"]).current_dir(root());
    let files = String::from_utf8(git.output().unwrap().stdout).unwrap();
    let is_source = |file: &&str| {
        let is_shipped = !file.ends_with("build.rs")
            && !file.contains("/tests/")
            && !file.ends_with("tests.rs")
            && !file.starts_with("bindings/opgen");
        is_shipped && [".rs", ".h"].iter().any(|ending| file.ends_with(ending))
    };
    let page = read_to_string(root().join("docs/environment.md")).unwrap();
    let mut found = 0;
    for file in files.lines().filter(is_source) {
        let source = read_to_string(root().join(file)).unwrap();
        for call in ["env::var(\"", "env::var_os(\"", "getenv(\""] {
            for after in source.split(call).skip(1) {
                let name = after.split('"').next().unwrap_or_default();
                assert!(
                    page.contains(&format!("`{name}`")),
                    "{file} reads {name}, which docs/environment.md does not list"
                );
                found += 1;
            }
        }
    }
    assert!(found >= 6, "the search finds the variables: {found}");
}
