//! How much machine code of a built library there is for the forms of operators, by the names of its functions.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// Parts of the names of functions that exist for forms, derivatives or call classes; a name counts in the first part that it
/// contains. A few of them are instantiated by hand-written operators as well, so that the sum is an upper bound.
const PARTS: [(&str, &[&str]); 5] = [
    (
        "typed functions, forward functions",
        &["rushlight_tensor::ops::generated::", "assembly::Rule<", "assembly::Kernel<"],
    ),
    (
        "autograd",
        &[
            "autograd::record::MakeNode::new",
            "autograd::record::Write::new",
            "autograd::node::Lasting<",
            "autograd::node::RecordedCall::node",
        ],
    ),
    ("boxed calls", &["rushlight_tensor::dispatch::call::"]),
    ("C functions", &["rlt_tensor_", "rushlight::support::calls::", "rushlight::support::guard::OpBody::new"]),
    ("JNI", &["Java_org_rushlight_internal_Native_", "rushlight_jni::support::guard::OpBody::new"]),
];

/// The bytes of each part in `library`, which must have its symbols. Identical functions that the linker folded count once.
pub fn parts(library: &Path) -> Result<Vec<(&'static str, usize)>, String> {
    let failed = |problem: &dyn std::fmt::Display| format!("nm of {}: {problem}", library.display());
    let output = Command::new("nm").args(["-S", "-C"]).arg(library).output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    let parts = summed(&String::from_utf8_lossy(&output.stdout));
    if parts.iter().any(|(_, bytes)| *bytes == 0) {
        return Err(failed(&"there are no symbols: a library that is not stripped is needed"));
    }
    Ok(parts)
}

/// The sums over the lines of nm: address, size, kind and name.
fn summed(symbols: &str) -> Vec<(&'static str, usize)> {
    let mut parts: Vec<(&'static str, usize)> = PARTS.iter().map(|(part, _)| (*part, 0)).collect();
    let mut seen = HashSet::new();
    for line in symbols.lines() {
        let mut fields = line.splitn(4, ' ');
        let (Some(address), Some(size), Some("t" | "T"), Some(name)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let part = PARTS.iter().position(|(_, names)| names.iter().any(|part| name.contains(part)));
        if let (Some(part), Ok(size), true) = (part, usize::from_str_radix(size, 16), seen.insert(address)) {
            parts[part].1 += size;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_count_once_in_the_part_of_their_name() {
        let symbols = "\
            0000000000001000 0000000000000010 t rushlight_tensor::ops::generated::pointwise::add_tensor\n\
            0000000000001000 0000000000000010 t rushlight_tensor::ops::generated::pointwise::sub_tensor\n\
            0000000000002000 00000000000000ff t rushlight_cpu::simd::at_avx2\n\
            0000000000003000 0000000000000020 T rlt_tensor_add_Tensor\n\
            0000000000004000 0000000000000040 d rushlight_tensor::ops::generated::pointwise::ADD_TENSOR\n\
            0000000000005000 t rlt_tensor_of_no_size\n";
        let sums: Vec<usize> = summed(symbols).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(sums, [0x10, 0, 0, 0x20, 0]);
    }
}
