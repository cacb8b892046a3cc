//! Tests of the program on files that PyTorch wrote (tests/data/io), and on its own output.

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

/// Every format holds the same tensors, including the old stream.
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
fn errors_state_the_reason_and_leave_no_file() {
    let rejected = |arguments: &[&str], files: &[&Path], reason: &str| {
        let output = rushlight(arguments, files);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(reason), "{said}");
    };
    let nowhere = place("nowhere.npz");
    rejected(&["inspect"], &[&data("io/whole_module.pt")], "is not supported in a file of tensors");
    rejected(&["inspect"], &[&data("io/arrays_compressed.npz")], "numpy.savez_compressed");
    rejected(&["inspect"], &[&data("io/arrays_big_endian.npz")], "the dtype '>f4' is not supported");
    rejected(&["convert"], &[&data("io/model.pt"), &place("model.txt")], "must end in");
    rejected(&["convert"], &[&data("io/dtypes.pt"), &nowhere], "NumPy has no dtype for");
    rejected(&["convert", "--dtype", "int64"], &[&data("io/model.pt"), &nowhere], "not a floating-point dtype");
    assert!(!nowhere.exists() && !place("nowhere.npz.part").exists());
}

/// The file is unchanged, whichever path leads to it.
#[test]
fn a_file_is_not_converted_into_itself() {
    let model = place("itself.pt");
    std::fs::copy(data("io/checkpoint.pt"), &model).unwrap();
    let (link, hard) = (place("itself_link.pt"), place("itself_hard.pt"));
    for path in [&link, &hard] {
        let _ = std::fs::remove_file(path);
    }
    std::os::unix::fs::symlink(&model, &link).unwrap();
    std::fs::hard_link(&model, &hard).unwrap();
    for to in [&model, &link, &hard] {
        let output = rushlight(&["convert", "--dtype", "float16"], &[&model, to]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("are the same file"), "{said}");
        assert_eq!(std::fs::read(to).unwrap(), std::fs::read(data("io/checkpoint.pt")).unwrap());
    }
}

#[test]
fn files_that_are_not_models_are_reported() {
    let rejected = |path: &Path, reason: &str| {
        let output = rushlight(&["inspect"], &[path]);
        let wanted = format!("rushlight: {}: {reason}\n", path.display());
        assert_eq!((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()), (false, wanted));
    };
    let file = |name: &str, content: &[u8]| {
        let path = place(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let neither = "not a PyTorch, safetensors or NumPy file:";
    rejected(Path::new("/dev/null"), &format!("{neither} the file is empty"));
    rejected(&file("empty.pt", b""), &format!("{neither} the file is empty"));
    rejected(&file("short.pt", b"hello"), &format!("{neither} 5 bytes are too few for a header"));
    let length = u64::from_le_bytes(*b"Some tex");
    let text = format!("{neither} a header of {length} bytes does not fit into 23 bytes");
    rejected(&file("text.pt", b"Some text, and no model"), &text);
    let zeros = format!("{neither} no header begins behind its length, the first 8 bytes");
    rejected(&file("zeros.safetensors", &[0; 64]), &zeros);
    rejected(&place("."), "Is a directory (os error 21)");
}

/// A safetensors file of zeros: tensors `a`, `b`, ... of `bytes` bytes each, which occupy no disk space.
fn zeros(name: &str, tensors: u8, bytes: u64) -> PathBuf {
    let rows: Vec<String> = (0..tensors)
        .map(|at| {
            let (name, begin) = (char::from(b'a' + at), u64::from(at) * bytes);
            format!(r#""{name}":{{"dtype":"F32","shape":[{}],"data_offsets":[{begin},{}]}}"#, bytes / 4, begin + bytes)
        })
        .collect();
    let header = format!("{{{}}}", rows.join(","));
    let path = place(name);
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(8 + header.len() as u64 + u64::from(tensors) * bytes).unwrap();
    path
}

/// Runs the program with a limit of this many KiB of memory.
fn rushlight_within(kib: u64, arguments: &[&str], file: &Path) -> Output {
    let limited = format!("ulimit -v {kib} && exec \"$@\"");
    let program = ["-c", &limited, "sh", env!("CARGO_BIN_EXE_rushlight")];
    // Each thread would have its own stack.
    Command::new("sh").args(program).args(arguments).arg(file).env("OMP_NUM_THREADS", "1").output().unwrap()
}

#[test]
fn a_list_takes_no_memory_for_data_and_figures_for_one_tensor() {
    let large = zeros("large.safetensors", 1, 8 << 30);
    let listed = text(&rushlight_within(300 << 10, &["inspect"], &large));
    assert!(
        listed.starts_with(&format!("{}: safetensors, 1 tensors, 2,147,483,648 elements, 8.0 GiB", large.display()))
    );
    // 12 of 32 MiB: more than the memory limit; and in double precision one alone is 64.
    let many = zeros("many.safetensors", 12, 32 << 20);
    let shown = text(&rushlight_within(300 << 10, &["inspect", "--stats"], &many));
    assert_eq!(
        shown.lines().filter(|line| line.contains("32.0 MiB  0.0000  0.0000  0.0000  0.0000")).count(),
        12,
        "{shown}"
    );
    for path in [large, many] {
        std::fs::remove_file(path).unwrap();
    }
}

/// Compared with sums computed in another way: merged parts equal the whole.
#[test]
fn figures_of_a_long_tensor_are_those_of_its_parts() {
    let path = zeros("long.safetensors", 1, 12 << 20);
    let count = 3u64 << 20;
    let values: Vec<f32> =
        (0..count).map(|at| (at % 1009) as f32 + if at < count / 2 { 0.0 } else { 5000.0 }).collect();
    let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    bytes[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    bytes[4..8].copy_from_slice(&f32::NAN.to_le_bytes());
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..whole.len() - bytes.len()], &bytes].concat()).unwrap();
    let row = inspected(&path)["tensors"][0].clone();
    let finite = values[2..].iter().map(|value| f64::from(*value));
    let mean = finite.clone().sum::<f64>() / (count - 2) as f64;
    let variance = finite.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 2) as f64;
    let close = |name: &str, wanted: f64| {
        let found = row[name].as_f64().unwrap();
        assert!((found - wanted).abs() < 1e-9 * wanted.abs(), "{name}: {found}, not {wanted}");
    };
    close("mean", mean);
    close("std", variance.sqrt());
    assert_eq!(
        [&row["nan"], &row["infinite"], &row["min"], &row["max"]].map(|value| value.as_f64()),
        [1.0, 1.0, 0.0, 6008.0].map(Some)
    );
}

/// 2^40 elements of one byte take no time.
#[test]
fn repeated_elements_are_read_once() {
    let path = place("repeated.pt");
    let storage = rushlight_io::filled_storage(8, |bytes| {
        bytes.copy_from_slice(&[0, 0, 192, 127, 0, 0, 0, 64]);
        Ok(())
    })
    .unwrap();
    let mut entry = rushlight_io::Entry::contiguous("x", rushlight_base::DType::F32, &[2, 1], storage).unwrap();
    entry.sizes[1] = 1 << 40;
    entry.strides[1] = 0;
    rushlight_io::pt::save(&path, &[entry]).unwrap();
    let row = inspected(&path)["tensors"][0].clone();
    assert_eq!((row["nan"].as_i64(), row["max"].as_f64()), (Some(1 << 40), Some(2.0)));
}

#[test]
fn names_cannot_command_the_terminal() {
    let path = place("names.pt");
    let storage = rushlight_io::filled_storage(1, |_| Ok(())).unwrap();
    let name = "a\tb\n\u{1b}[31mred";
    let entry = rushlight_io::Entry::contiguous(name, rushlight_base::DType::U8, &[1], storage).unwrap();
    rushlight_io::pt::save(&path, std::slice::from_ref(&entry)).unwrap();
    let shown = text(&rushlight(&["inspect"], &[&path]));
    assert!(shown.lines().nth(2).unwrap().starts_with(r" a\tb\n\u{1b}[31mred "), "{shown}");
    // Also in an error: NumPy has no bfloat16.
    let halves = rushlight_io::Entry { dtype: rushlight_base::DType::BF16, sizes: [0].as_slice().into(), ..entry };
    rushlight_io::pt::save(&path, &[halves]).unwrap();
    let output = rushlight(&["convert"], &[&path, &place("names.npz")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(r"tensor 'a\tb\n\u{1b}[31mred': NumPy has no dtype"), "{said}");
}

#[test]
fn a_library_that_is_none_is_named_once() {
    let output = rushlight(&["verify", "--library", "libc.so.6"], &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.matches("libc.so.6").count() == 1, "{said}");
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
fn the_benchmark_reports_a_figure_for_each_case() {
    let shown = text(&rushlight(&["bench", "--threads", "1"], &[]));
    let rows: Vec<&str> = shown.lines().skip(2).collect();
    assert_eq!(rows.len(), 6, "{shown}");
    for row in rows {
        assert!(row.split_whitespace().last().unwrap().parse::<f64>().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn the_operators_that_a_command_runs_are_profiled() {
    let trace = place("trace.json");
    let names = |path: &Path| -> Vec<String> {
        let trace: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
        events.map(|event| event["name"].as_str().unwrap().to_owned()).collect()
    };
    let shown = text(&rushlight(&["bench", "--threads", "1", "--profile", trace.to_str().unwrap()], &[]));
    assert!(shown.contains("Self CPU %") && shown.contains("Input Shapes"), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("aten::add ") && line.ends_with("[[4], [4], []]")).unwrap();
    assert!(row.split_whitespace().any(|cell| cell == "10"), "{row}");
    assert_eq!(names(&trace).iter().filter(|name| *name == "aten::add").count(), 20);
    let model = data("zoo/ctl_strings/model.pt");
    let arguments = ["run", "--input", "\"Hello world\"", "--input", "loud=true", "--profile", trace.to_str().unwrap()];
    let shown = text(&rushlight(&arguments, &[&model]));
    assert!(shown.contains("aten::embedding") && shown.contains("result.0"), "{shown}");
    assert!(names(&trace).contains(&"aten::embedding".to_owned()));
}

/// Written by torch.jit.save (tests/data/zoo): a saved model is described and run.
#[test]
fn saved_models_are_described() {
    let model = data("zoo/ctl_strings/model.pt");
    let shown = text(&rushlight(&["inspect"], &[&model]));
    assert!(shown.lines().next().unwrap().contains("TorchScript, version"), "{shown}");
    for line in ["emb: __torch__.torch.nn.modules.sparse.Embedding", "aten::embedding 1"] {
        assert!(shown.lines().any(|shown| shown.trim() == line), "{shown}");
    }
    assert!(shown.contains(" forward(__torch__.zoo_public.Strings self, ") && !shown.contains("cannot run"), "{shown}");
    let graphs = text(&rushlight(&["inspect", "--graph"], &[&model]));
    assert!(graphs.contains("graph(%self : __torch__.zoo_public.Strings"), "{graphs}");
    let described: Value = serde_json::from_str(&text(&rushlight(&["inspect", "--json"], &[&model]))).unwrap();
    assert_eq!((&described["format"], &described["operators"]["aten::embedding"]), (&"TorchScript".into(), &1.into()));
}

#[test]
fn graphs_are_written_for_graphviz() {
    let dot = text(&rushlight(&["inspect", "--dot"], &[&data("zoo/ctl_state/model.pt")]));
    assert!(dot.starts_with("digraph model {\n") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("[label=\"aten::mean\"]") && dot.contains(" -> "), "{dot}");
    let rejected = rushlight(&["inspect", "--dot"], &[&data("io/model.pt")]);
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("no program"));
}

#[test]
fn a_saved_model_runs() {
    let (model, tensors) = (data("zoo/ctl_strings/model.pt"), place("ids.npz"));
    let arguments = ["run", "--input", "\"Hello world 17 big-red apple\"", "--input", "loud=true", "--output"];
    let shown = text(&rushlight(&[&arguments[..], &[tensors.to_str().unwrap()]].concat(), &[&model]));
    assert!(shown.starts_with("ids [1, 2, 1, 3, 9] 5 words 1.5 True None\n"), "{shown}");
    assert!(shown.contains("result.0") && shown.contains("float32"), "{shown}");
    assert_eq!(inspected(&tensors)["tensors"][0]["name"], "result.0");
    let (counter, x, y) = (data("zoo/ctl_state/model.pt"), place("x.npy"), place("y.npy"));
    std::fs::write(&x, npy("<f4", "(3, 4)", &1.5f32.to_le_bytes().repeat(12))).unwrap();
    let files = ["run", "--input", x.to_str().unwrap(), "--output", y.to_str().unwrap()];
    assert!(text(&rushlight(&files, &[&counter])).contains("float32"));
    assert_eq!(inspected(&y)["tensors"][0]["dtype"], "float32");
    let failed = |arguments: &[&str], reason: &str| {
        let said = String::from_utf8_lossy(&rushlight(arguments, &[&counter]).stderr).into_owned();
        assert!(said.contains(reason), "{said}");
    };
    failed(&["run"], "forward() is missing value for argument 'x'");
    failed(&["run", "--method", "backward"], "backward");
    failed(&["run", "--input", "missing.npy"], "missing.npy");
    failed(&["run", "--weights", "float16"], "int8");
    let files = ["run", "--input", x.to_str().unwrap(), "--weights", "bfloat16", "--plan"];
    assert!(text(&rushlight(&files, &[&counter])).contains("forward(float32 [3, 4]): "));
    let half = text(&rushlight(&["run", "--method", "half_size"], &[&counter]));
    assert!(half.lines().nth(1).unwrap().split_whitespace().eq(["result", "float", "2.0"]), "{half}");
}

/// The contents of a file that numpy.save writes.
fn npy(dtype: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let start = [b"\x93NUMPY\x01\0".as_slice(), &(header.len() as u16).to_le_bytes()].concat();
    [start.as_slice(), header.as_bytes(), elements].concat()
}

/// A single array is written as numpy.save does, and read.
#[test]
fn files_of_one_array_are_read_and_written() {
    let (one, back) = (place("one.npy"), place("one.safetensors"));
    let rejected = rushlight(&["convert"], &[&data("io/arrays.npz"), &one]);
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("a .npy file has one tensor"), "{rejected:?}");
    let elements: Vec<u8> = [7i32, 9].iter().flat_map(|element| element.to_le_bytes()).collect();
    std::fs::write(&one, npy("<i4", "(2,)", &elements)).unwrap();
    assert_eq!(inspected(&one)["tensors"][0]["max"].as_f64(), Some(9.0));
    let again = place("again.npy");
    text(&rushlight(&["convert"], &[&one, &again]));
    assert_eq!(inspected(&again)["tensors"][0]["shape"], Value::from(vec![2]));
    text(&rushlight(&["convert"], &[&again, &back]));
    assert_eq!(inspected(&back)["tensors"][0]["min"].as_f64(), Some(7.0));
}
