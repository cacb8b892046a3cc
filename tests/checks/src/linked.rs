//! The crates linked into the shipped artifacts, from `cargo metadata`: for the notices and the bill of materials.

use crate::root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// The shipped artifacts, the libraries and the command-line tool, with all of their dependencies.
const SHIPPED: [&str; 2] = ["rushlight-capi", "rushlight-cli"];
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// A crate, and the ids of those that it links itself.
pub struct Crate<'a> {
    /// Its entry in `packages` of `cargo metadata`.
    pub package: &'a Value,
    /// Keys of the map that [`linked`] returns.
    pub links: Vec<&'a str>,
}

impl<'a> Crate<'a> {
    /// Whether it is from a registry, and not of this repository.
    pub fn is_from_outside(&self) -> bool {
        !self.package["source"].is_null()
    }

    /// A field of its manifest; "" if it has none.
    pub fn text(&self, field: &str) -> &'a str {
        self.package[field].as_str().unwrap_or_default()
    }
}

/// The output of `cargo metadata` for the platforms of the shipped artifacts.
pub fn metadata() -> Result<Value, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(PLATFORMS.iter().flat_map(|platform| ["--filter-platform", platform]))
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The crates linked into the shipped artifacts, including ours, by their ids.
pub fn linked(metadata: &Value) -> Result<BTreeMap<&str, Crate<'_>>, String> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let is_shipped = |package: &Value| SHIPPED.iter().any(|name| package["name"] == *name);
    let mut waiting: Vec<&str> =
        packages.iter().filter(|(_, package)| is_shipped(package)).map(|(id, _)| *id).collect();
    if waiting.len() != SHIPPED.len() {
        return Err("a package to ship is missing".into());
    }
    let mut found = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        if found.contains_key(id) {
            continue;
        }
        let mut links = Vec::new();
        for dependency in list(&nodes[id]["deps"]) {
            let target = dependency["pkg"].as_str().ok_or("a dependency without package")?;
            let is_linked = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if is_linked && !is_macro(packages[target]) {
                links.push(target);
            }
        }
        links.sort_unstable();
        waiting.extend(&links);
        found.insert(id, Crate { package: packages[id], links });
    }
    Ok(found)
}

/// Procedural macros run in the compiler; their code is not shipped.
fn is_macro(package: &Value) -> bool {
    list(&package["targets"]).any(|target| list(&target["kind"]).any(|kind| kind == "proc-macro"))
}

fn by_id(entries: &Value) -> BTreeMap<&str, &Value> {
    list(entries).filter_map(|entry| Some((entry["id"].as_str()?, entry))).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
