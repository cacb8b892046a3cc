//! `sbom FILE`: writes the bill of materials as CycloneDX JSON: the crates linked into the shipped artifacts, with
//! their versions, licences, checksums and dependencies. It is validated against the format, and is the same in every
//! run.
#![allow(clippy::print_stderr, reason = "a program that reports to a terminal")]

use cyclonedx_bom::models::component::Classification;
use cyclonedx_bom::models::dependency::{Dependencies, Dependency};
use cyclonedx_bom::models::external_reference::{ExternalReference, ExternalReferenceType, ExternalReferences};
use cyclonedx_bom::models::hash::{Hash, HashAlgorithm, HashValue, Hashes};
use cyclonedx_bom::models::license::{LicenseChoice, Licenses};
use cyclonedx_bom::prelude::*;
use rushlight_checks::linked::{Crate, linked, metadata};
use rushlight_checks::root;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

const VERSION: SpecVersion = SpecVersion::V1_5;

fn main() -> ExitCode {
    let result = std::env::args().nth(1).ok_or("usage: sbom FILE".to_owned()).and_then(|file| {
        let text = sbom()?;
        std::fs::write(&file, text).map_err(|error| format!("{file}: {error}"))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("sbom: {text}");
            ExitCode::FAILURE
        }
    }
}

fn sbom() -> Result<Vec<u8>, String> {
    let metadata = metadata()?;
    let linked = linked(&metadata)?;
    let checksums = checksums()?;
    let own = reference("rushlight", env!("CARGO_PKG_VERSION"));
    let standard_library = rust_standard_library()?;

    let mut components = vec![standard_library.clone()];
    // Our crates are one component, with the dependencies of all of them.
    let mut own_links: BTreeSet<String> = standard_library.bom_ref.into_iter().collect();
    let mut dependencies = Vec::new();
    for member in linked.values() {
        let links = member.links.iter().map(|id| &linked[id]).filter(|other| other.is_from_outside());
        let links: BTreeSet<String> = links.map(|other| reference(other.text("name"), other.text("version"))).collect();
        if member.is_from_outside() {
            components.push(component(member, &checksums)?);
            dependencies.push(Dependency {
                dependency_ref: reference(member.text("name"), member.text("version")),
                dependencies: links.into_iter().collect(),
            });
        } else {
            own_links.extend(links);
        }
    }
    components.sort_by(|a, b| a.bom_ref.cmp(&b.bom_ref));
    dependencies.push(Dependency { dependency_ref: own.clone(), dependencies: own_links.into_iter().collect() });
    dependencies.sort_by(|a, b| a.dependency_ref.cmp(&b.dependency_ref));

    let mut whole = Component::new(Classification::Library, "rushlight", env!("CARGO_PKG_VERSION"), Some(own));
    whole.licenses = Some(Licenses(vec![LicenseChoice::expression("MIT OR Apache-2.0")]));
    let bom = Bom {
        // No serial number and no timestamp: the same input gives the same bytes.
        serial_number: None,
        metadata: Some(Metadata { component: Some(whole), ..Metadata::default() }),
        components: Some(Components(components)),
        dependencies: Some(Dependencies(dependencies)),
        spec_version: VERSION,
        ..Bom::default()
    };
    let faults = bom.validate_version(VERSION);
    if !faults.passed() {
        return Err(format!("against the rules of CycloneDX {VERSION}: {faults:?}"));
    }
    let mut text = Vec::new();
    bom.output_as_json(&mut text, VERSION).map_err(|error| error.to_string())?;
    Bom::parse_from_json(text.as_slice()).map_err(|error| format!("what was written cannot be read: {error}"))?;
    text.push(b'\n');
    Ok(text)
}

fn reference(name: &str, version: &str) -> String {
    format!("{name}@{version}")
}

fn component(member: &Crate, checksums: &BTreeMap<String, String>) -> Result<Component, String> {
    let [name, version, licence] = ["name", "version", "license"].map(|field| member.text(field));
    let reference = reference(name, version);
    let checksum = checksums.get(&reference).ok_or(format!("Cargo.lock has no checksum of {reference}"))?;
    let mut component = Component::new(Classification::Library, name, version, Some(reference));
    component.purl = Some(Purl::new("cargo", name, version).map_err(|error| error.to_string())?);
    // Older manifests separate alternatives by a slash.
    component.licenses = Some(Licenses(vec![LicenseChoice::expression(&licence.replace('/', " OR "))]));
    component.hashes = Some(Hashes(vec![Hash { alg: HashAlgorithm::SHA_256, content: HashValue(checksum.clone()) }]));
    if let Some(repository) = member.package["repository"].as_str() {
        component.external_references =
            Some(ExternalReferences(vec![ExternalReference::new(ExternalReferenceType::Vcs, Uri::new(repository))]));
    }
    Ok(component)
}

/// The checksums of crates from outside, by [`reference`].
fn checksums() -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let lock: toml::Table = text.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(|list| list.as_array()).ok_or("Cargo.lock names no package")?;
    let field = |package: &toml::Value, name: &str| package.get(name).and_then(|text| text.as_str().map(str::to_owned));
    Ok(packages
        .iter()
        .filter_map(|package| {
            let [name, version, checksum] = ["name", "version", "checksum"].map(|name| field(package, name));
            Some((reference(&name?, &version?), checksum?))
        })
        .collect())
}

/// Part of every Rust library, and in none of Cargo's lists: it comes with the compiler.
fn rust_standard_library() -> Result<Component, String> {
    let output = Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split(' ').nth(1).ok_or("rustc tells no version")?;
    let mut component =
        Component::new(Classification::Library, "rust-std", version, Some(reference("rust-std", version)));
    component.licenses = Some(Licenses(vec![LicenseChoice::expression("MIT OR Apache-2.0")]));
    component.external_references = Some(ExternalReferences(vec![ExternalReference::new(
        ExternalReferenceType::Vcs,
        Uri::new("https://github.com/rust-lang/rust"),
    )]));
    Ok(component)
}
