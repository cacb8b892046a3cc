//! The call classes of public operators for JNI: `ops.rs`, of which a macro in `bindings/jni/src/support/shim.rs` makes a native
//! method for each class, not for each operator.

use crate::class;
use crate::emit::rust_ops::text::filled;
use crate::emit::{Emitter, OutFile, Place, first_line};
use crate::load::FOLDER;
use crate::model::Family;
use std::fmt::Write;

/// Generates the files.
pub const EMITTER: Emitter = Emitter {
    name: "jni",
    place: Place::Crate("bindings/jni"),
    folders: &[],
    emit: |families| Ok(vec![OutFile { path: "ops.rs".into(), text: text(families) }]),
};

/// `ops.rs`
fn text(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + "use crate::support::*;\n\n";
    text.push_str(
        "/// The families of operators, as the table has them in order.\npub(crate) const FAMILIES: &[&str] = &[\n",
    );
    for family in families {
        let _ = writeln!(text, "{:?},", family.name);
    }
    text.push_str("];\n\nshims! {\n");
    for (class, users) in class::public(families).into_values() {
        text.push_str(&class::condition(users.into_iter()));
        let method = format!("Java_org_rushlight_internal_Native_{} =", class.java_method());
        text.push_str(&filled(&[method, class.line().trim_end().to_string()]));
    }
    text + "}\n"
}
