//! Models of the zoo run and agree; and the runner detects errors: with one expectation changed, each fails.

use rushlight_conformance::door::built_library;
use rushlight_conformance::zoo::model::Model;
use rushlight_conformance::zoo::module::Library;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/zoo").join(model)
}

fn run(library: &Library, folder: &Path) -> Result<(), String> {
    // Also compiled: the notes say how the methods ran.
    for compiled in [false, true] {
        Model::open(library, &folder.join("model.pt"), compiled)?.run()?;
    }
    Ok(())
}

/// Runs a model with a changed description.
fn changed(library: &Library, model: &str, place: &str, value: Json) -> Result<(), String> {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zoo").join(model);
    std::fs::create_dir_all(&copy).unwrap();
    for file in ["model.pt", "cases.safetensors"] {
        std::fs::copy(folder(model).join(file), copy.join(file)).unwrap();
    }
    let mut meta: Json = serde_json::from_slice(&std::fs::read(folder(model).join("meta.json")).unwrap()).unwrap();
    let old = meta.pointer_mut(place).unwrap_or_else(|| panic!("{model} has no {place}"));
    assert_ne!(*old, value, "{place}");
    *old = value;
    std::fs::write(copy.join("meta.json"), meta.to_string()).unwrap();
    run(library, &copy)
}

#[test]
fn models_agree_and_wrong_expectations_are_found() {
    let library = Library::open(&built_library().unwrap()).unwrap();
    for model in ["ctl_state", "ctl_strings", "train_dropout_seeded"] {
        assert_eq!(run(&library, &folder(model)), Ok(()), "{model}");
    }
    let fails = |model: &str, place: &str, value: Json, reason: &str| {
        let error = changed(&library, model, place, value).expect_err(place);
        assert!(error.contains(reason), "{place}: {error}");
    };
    fails("ctl_state", "/attributes/version/str", json!("1.3"), "attribute version: \"1.2\", not \"1.3\"");
    fails("ctl_state", "/attributes/pair/tuple/2/float", json!(3.5), "attribute pair: [2] 3.0, not 3.5");
    fails("ctl_state", "/cases", json!([]), "no cases");
    fails("ctl_strings", "/cases/2/raises/message", json!("AssertionError: long text"), "case 2: raised");
    fails("ctl_strings", "/cases/2/raises", Json::Null, "case 2");
    fails("ctl_strings", "/cases/0/stdout", json!("other\n"), "case 0: printed");
    fails("ctl_strings", "/cases/0/method", json!("backward"), "case 0");
    fails("ctl_strings", "/cases/0/result/tuple/1/str", json!("other"), "case 0: [1]");
    fails("ctl_strings", "/cases/0/result/tuple/2/list", json!([]), "case 0: [2]");
    let meta = std::fs::read(folder("train_dropout_seeded").join("meta.json")).unwrap();
    let meta: Json = serde_json::from_slice(&meta).unwrap();
    let norms = meta["cases"][0]["grad_norms"].as_object().unwrap();
    for (name, norm) in norms {
        let place = format!("/cases/0/grad_norms/{name}");
        fails("train_dropout_seeded", &place, json!(norm.as_f64().unwrap() * 1.001), "has the norm");
    }
    fails("train_dropout_seeded", "/cases/0/seed", json!(987_654_321), "case 0");
}
