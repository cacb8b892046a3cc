//! Families are cargo features. This module checks that the crates with these features agree with the declarations.

use opgen::model::Family;
use std::collections::BTreeMap;
use std::path::Path;

/// The crates with a feature per family. The first one holds the operators; the others pass the feature on.
const CRATES: [&str; 4] = ["core/tensor", "capi", "bindings/jni", "bindings/rust"];

/// The problems of the features of the crates.
pub fn check(root: &Path, families: &[Family]) -> Vec<String> {
    let mut problems = Vec::new();
    for family in families {
        for needed in &family.needs {
            match families.iter().find(|other| other.name == *needed) {
                None => problems.push(format!("{}: needs {needed:?}, which is no family", family.source)),
                Some(other) if other.required.is_some() => {
                    problems.push(format!("{}: needs {needed:?}, which every build has", family.source));
                }
                Some(_) => {}
            }
        }
    }
    for (index, krate) in CRATES.into_iter().enumerate() {
        let path = format!("{krate}/Cargo.toml");
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        problems.extend(check_manifest(&path, &text, families, index == 0));
    }
    problems
}

fn check_manifest(path: &str, text: &str, families: &[Family], holds_operators: bool) -> Vec<String> {
    let manifest: toml::Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let declared: BTreeMap<&str, Vec<&str>> = manifest
        .get("features")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten()
        .map(|(name, list)| {
            let list = list.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
            // A crate that only these operators need is no family.
            (name.as_str(), list.filter(|entry| !entry.starts_with("dep:")).collect())
        })
        .collect();
    let mut problems = Vec::new();
    for family in families {
        let feature = family.feature();
        let wanted: Vec<String> = if holds_operators {
            family.needs.iter().map(|needed| format!("op-{needed}")).collect()
        } else {
            vec![format!("rushlight-tensor/{feature}")]
        };
        let found = declared.get(feature.as_str());
        let fits = found.is_some_and(|list| {
            wanted.iter().all(|one| list.contains(&one.as_str())) && (!holds_operators || list.len() == wanted.len())
        });
        if !fits {
            problems.push(format!("{path}: [features] must say {feature} = {wanted:?}"));
        }
    }
    for name in declared.keys().filter_map(|name| name.strip_prefix("op-")) {
        if !families.iter().any(|family| family.name == name) {
            problems.push(format!("{path}: the feature op-{name} is of no family"));
        }
    }
    problems
}
