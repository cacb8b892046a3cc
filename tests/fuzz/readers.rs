//! The fuzzer: one program for all readers, of which the environment variable `READER` names the one that runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rushlight_readers::{Reader, find};
use std::sync::LazyLock;

static READER: LazyLock<&Reader> = LazyLock::new(|| {
    let name = std::env::var("READER").expect("the environment variable READER names a reader");
    find(&name).unwrap_or_else(|| panic!("there is no reader '{name}'"))
});

fuzz_target!(|bytes: &[u8]| (READER.read)(bytes));
