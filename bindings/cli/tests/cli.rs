//! The program on files that real PyTorch wrote (tests/data/io), and on what it wrote itself.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn rushlight(arguments: &[&str], files: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rushlight")).args(arguments).args(files).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn inspected(file: &Path) -> Value {
    serde_json::from_str(&text(&rushlight(&["inspect", "--stats", "--json"], &[file]))).unwrap()
}

#[test]
fn a_checkpoint_is_listed_with_its_values() {
    let shown = text(&rushlight(&["inspect"], &[&data("io/checkpoint.pt")]));
    assert!(shown.lines().next().unwrap().ends_with("PyTorch, 18 tensors, 39 elements, 156 B"), "{shown}");
    assert!(shown.contains("model.0.weight"), "{shown}");
    assert!(shown.lines().any(|line| line.trim() == "epoch = 3"), "{shown}");
    assert!(shown.lines().any(|line| line.trim() == "note = \"résumé\""), "{shown}");
}

#[test]
fn figures_are_those_of_the_values() {
    let file = inspected(&data("io/model.pt"));
    let weight = &file["tensors"][0];
    assert_eq!((weight["name"].as_str(), weight["dtype"].as_str()), (Some("0.weight"), Some("float32")));
    // 0, 1, ..., 5
    assert_eq!([&weight["min"], &weight["mean"], &weight["max"]].map(|value| value.as_f64().unwrap()), [0.0, 2.5, 5.0]);
    assert!((weight["std"].as_f64().unwrap() - 1.707_825_127_659_933).abs() < 1e-12);
}

/// Every format holds the same tensors; the old stream, too.
#[test]
fn tensors_survive_every_format() {
    let wanted = inspected(&data("io/model.pt"))["tensors"].clone();
    let mut from = data("io/legacy_model.pt");
    for name in ["a.safetensors", "a.npz", "a.pt", "b.npz", "b.safetensors"] {
        let to = place(name);
        text(&rushlight(&["convert"], &[&from, &to]));
        let mut found = inspected(&to)["tensors"].as_array().unwrap().clone();
        // Safetensors order their entries by themselves.
        found.sort_by_key(|row| wanted.as_array().unwrap().iter().position(|other| other["name"] == row["name"]));
        assert_eq!(Value::from(found), wanted, "{name}");
        from = to;
    }
}

#[test]
fn views_become_plain_arrays_and_dtypes_change_on_demand() {
    let (views, halves) = (place("views.npz"), place("halves.safetensors"));
    text(&rushlight(&["convert"], &[&data("io/views.pt"), &views]));
    let rows = inspected(&views)["tensors"].as_array().unwrap().clone();
    let transposed = rows.iter().find(|row| row["name"] == "transposed").unwrap();
    assert_eq!((&transposed["shape"], &transposed["strides"]), (&Value::from(vec![4, 3]), &Value::from(vec![3, 1])));
    text(&rushlight(&["convert", "--dtype", "bfloat16"], &[&data("io/model.pt"), &halves]));
    assert!(inspected(&halves)["tensors"].as_array().unwrap().iter().all(|row| row["dtype"] == "bfloat16"));
}

/// Written by numpy.savez (tests/oracle/npz_fixture.py): little-endian arrays of each dtype, one in Fortran's order.
#[test]
fn arrays_of_numpys_are_read() {
    let file = inspected(&data("io/arrays.npz"));
    let row = |name: &str| file["tensors"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    for dtype in [
        "bool",
        "uint8",
        "int8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ] {
        assert_eq!(row(dtype)["dtype"], dtype);
        assert_eq!(row(dtype)["max"].as_f64(), Some(if dtype == "bool" { 1.0 } else { 3.0 }), "{dtype}");
    }
    assert_eq!(
        (&row("fortran")["shape"], &row("fortran")["strides"]),
        (&Value::from(vec![2, 3]), &Value::from(vec![1, 2]))
    );
}

#[test]
fn what_cannot_be_is_said_and_leaves_nothing() {
    let refused = |arguments: &[&str], files: &[&Path], reason: &str| {
        let output = rushlight(arguments, files);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(reason), "{said}");
    };
    let nowhere = place("nowhere.npz");
    refused(&["inspect"], &[&data("io/whole_module.pt")], "refused");
    refused(&["inspect"], &[&data("io/arrays_compressed.npz")], "numpy.savez_compressed");
    refused(&["inspect"], &[&data("io/arrays_big_endian.npz")], "the dtype '>f4' is not supported");
    refused(&["convert"], &[&data("io/model.pt"), &place("model.txt")], "must end in");
    refused(&["convert"], &[&data("io/dtypes.pt"), &nowhere], "NumPy has no dtype for");
    refused(&["convert", "--dtype", "int64"], &[&data("io/model.pt"), &nowhere], "no floating-point dtype");
    assert!(!nowhere.exists() && !place("nowhere.npz.part").exists());
}

#[test]
fn the_library_is_verified_by_cases_of_pytorch() {
    let library = rushlight_conformance::door::built_library().unwrap();
    let shown = text(&rushlight(&["verify", "--op", "aten::abs", "--library"], &[&library]));
    let last = shown.lines().last().unwrap();
    let passed: usize = last.split(' ').next().unwrap().parse().unwrap();
    assert!(passed > 10 && last.contains(" passed, 0 failed, 0 skipped"), "{shown}");
    let nothing = rushlight(&["verify", "--op", "no such operator", "--library"], &[&library]);
    assert!(!nothing.status.success() && String::from_utf8_lossy(&nothing.stderr).contains("no case was run"));
}

#[test]
fn the_benchmark_gives_a_figure_for_each_case() {
    let shown = text(&rushlight(&["bench", "--threads", "1"], &[]));
    let rows: Vec<&str> = shown.lines().skip(2).collect();
    assert_eq!(rows.len(), 6, "{shown}");
    for row in rows {
        assert!(row.split_whitespace().last().unwrap().parse::<f64>().unwrap() > 0.0, "{row}");
    }
}
