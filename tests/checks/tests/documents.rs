//! The documents say what the files say.

use rushlight_checks::root;
use std::fs::read_to_string;

const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md"];

/// A block that shows a file is preceded by the line `<!-- file: PATH -->`.
#[test]
fn a_code_block_with_a_file_name_is_that_file() {
    let mut blocks = 0;
    for document in DOCUMENTS {
        let text = read_to_string(root().join(document)).unwrap();
        for part in text.split("<!-- file: ").skip(1) {
            let (file, rest) = part.split_once(" -->\n").expect("the marker stands alone on its line");
            let block =
                rest.strip_prefix("```").and_then(|rest| rest.split_once('\n')).expect("a fenced block follows").1;
            let block = &block[..block.find("\n```").expect("the block ends") + 1];
            let expected =
                read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{document}: {file}: {error}"));
            assert!(block == expected, "{document}: the block is not {file}");
            blocks += 1;
        }
    }
    assert!(blocks >= 3, "README shows an example per language");
}

/// A path in backquotes or in a link exists.
#[test]
fn the_files_that_documents_name_exist() {
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let path = root().join(document);
        let folder = path.parent().unwrap().to_path_buf();
        let text = read_to_string(&path).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                missing.push(format!("{document}: {target}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
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
