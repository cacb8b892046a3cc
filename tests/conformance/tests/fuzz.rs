//! A short pass of `make fuzz-calls`: random calls of every operator succeed or return an ordinary error.

use rushlight_conformance::door::built_library;
use std::process::Command;

#[test]
fn random_calls_succeed_or_end_in_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz-calls"))
        .args(["--calls", "20000", "--seed", "7", "--library"])
        .arg(built_library().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("20000 calls, 0 findings"), "{text}");
}
