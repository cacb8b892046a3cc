//! The generated Rust of typical operators equals `data/sample.rs.txt`, so that a diff shows the effect of a change to
//! an emitter. The headers declare the same functions as the documents.

use crate::output;
use opgen::emit::rust_ops::table::Pool;
use opgen::emit::{capi, rust_ops};
use opgen::face::Face;
use opgen::load;
use std::path::Path;

/// One operator of each kind, with all code generated for its kind.
const SAMPLES: &str = include_str!("data/sample.toml");

/// Run with `GENERATE_BLESS=1` to write the expected output, and check the difference in git.
#[test]
fn the_rust_of_each_kind_of_operator() {
    let mut families = [load::family("core/schema/ops/sample.toml", SAMPLES)
        .unwrap_or_else(|problems| panic!("{}", problems.join("\n")))];
    assert!(load::finish(&mut families).is_empty());
    let mut pool = Pool::new(&families);
    let text = output::formatted("sample.rs", rust_ops::file(&families[0], &mut pool)).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/data/sample.rs.txt");
    if std::env::var_os("GENERATE_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (number, (found, wanted)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, wanted, "line {}", number + 1);
    }
    assert_eq!(text.len(), expected.len());
}

/// The pages of the operators declare C functions as the headers do, which cbindgen writes.
#[test]
fn prototypes_are_those_of_the_headers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for family in load().unwrap() {
        let header = std::fs::read_to_string(root.join(format!("include/rushlight/ops/{}.h", family.name))).unwrap();
        let header = squeezed(&header);
        for face in Face::of(&family) {
            let prototype = capi::prototype(&face);
            assert!(header.contains(&format!("{prototype};")), "{prototype}");
        }
    }
}
