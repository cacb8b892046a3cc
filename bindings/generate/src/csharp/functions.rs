//! The class `Native`: a declaration for each function, with the documentation of the header.

use super::names::Types;
use rushlight_abi::{Function, Interface};
use std::fmt::Write;

/// The class.
pub fn class(interface: &Interface, types: &Types) -> Result<String, String> {
    let mut text = String::from(OPENING);
    for function in &interface.functions {
        text.push_str(&declaration(function, types).map_err(|problem| format!("{}: {problem}", function.name))?);
    }
    Ok(text + "    }\n")
}

/// The beginning of the class.
const OPENING: &str = r#"
    /// <summary>The C functions. Those that return an <c>int</c> return a status: see <c>RLT_ERROR_*</c>.</summary>
    public static unsafe partial class Native {
        /// <summary>The library: librushlight.so, librushlight.dylib or rushlight.dll.</summary>
        public const string Library = "rushlight";
"#;

fn declaration(function: &Function, types: &Types) -> Result<String, String> {
    let mut text = String::from("\n");
    let comment = function.comment.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "*");
    let lines: Vec<String> = comment.map(documentation).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "        /// <summary>");
        for line in lines {
            let _ = writeln!(text, "        /// {line}");
        }
        let _ = writeln!(text, "        /// </summary>");
    }
    let parameters: Vec<String> =
        (0..function.parameters.len()).map(|index| types.parameter(function, index)).collect::<Result<_, _>>()?;
    let _ = writeln!(
        text,
        "        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]\n        \
         public static extern {} {}({});",
        types.returned(&function.returns)?,
        function.name,
        parameters.join(", ")
    );
    Ok(text)
}

/// A line of a comment in XML.
fn documentation(line: &str) -> String {
    line.trim_start_matches('*').trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
