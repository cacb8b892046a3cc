//! Decodes all kernels of PTX files and lists the instructions that cannot run.
//!
//! `cargo run -p fakecuda --example decode -- FILE...`
#![allow(clippy::print_stdout)]

use fakecuda::ptx::{Space, decode, scan};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let module = match scan(&text) {
            Ok(module) => Arc::new(module),
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let scanned = start.elapsed();
        let globals = module.variables.iter().filter(|v| v.space == Space::Global);
        let addresses: HashMap<String, u64> = globals.map(|v| (v.name.clone(), 1 << 57)).collect();
        let mut unknown = BTreeMap::new();
        let (mut kernels, mut instructions, mut largest) = (0, 0, 0);
        for (name, function) in module.functions.iter().filter(|(_, f)| f.entry) {
            kernels += 1;
            match decode(&module, name, &addresses) {
                Ok(kernel) => {
                    instructions += kernel.code.len();
                    largest = largest.max(kernel.rows);
                    for message in kernel.messages {
                        *unknown.entry(message).or_insert(0) += 1;
                    }
                }
                Err(error) => println!("{name}: {error} ({function:?})"),
            }
        }
        println!(
            "{path}: {kernels} kernels, {instructions} instructions, at most {largest} rows, scanned in {scanned:?}, \
             decoded in {:?}",
            start.elapsed() - scanned
        );
        for (message, count) in unknown {
            println!("    {count} x {message}");
        }
    }
}
