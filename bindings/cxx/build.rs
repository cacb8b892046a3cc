//! Compiles the C++ side and the glue that `cxx` generates from the bridge in `src/bridge.rs`.

fn main() {
    cxx_build::bridge("src/bridge.rs")
        .file("src/scaled_add.cc")
        .include("include")
        .std("c++17")
        .flag_if_supported("-Wall")
        .flag_if_supported("-Wextra")
        .compile("rushlight_cxx_example");
    println!("cargo:rerun-if-changed=src/scaled_add.cc");
    println!("cargo:rerun-if-changed=include/operator.h");
}
