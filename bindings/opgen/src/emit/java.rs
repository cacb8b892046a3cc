//! The Java face: `internal/Native.java`, the methods of `Tensor`, the functions of `Torch`, and the records that
//! hold several results.
//!
//! A signature with defaults becomes a ladder of overloads, each leaving out one more trailing argument. The wrapped
//! tensors and generators are held during the native call (`NativeOwner`), so that closing one on another thread
//! is safe.

use crate::emit::{Emitter, OutFile, examples, first_line};
use crate::example::Example;
use crate::face::{self, Face};
use crate::load::FOLDER;
use crate::model::{Family, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "java", folders: &[], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let file = |name: &str, text: String| OutFile { path: format!("java/src/main/java/org/rushlight/{name}"), text };
    Ok(vec![
        file("internal/Native.java", native(families)),
        file("TensorMethods.java", methods(families)),
        file("TorchFunctions.java", functions(families)),
        file("Results.java", results(families)),
    ])
}

const PACKAGE: &str = "package org.rushlight;\n\n";

/// `java/src/main/java/org/rushlight/internal/Native.java`
fn native(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "package org.rushlight.internal;\n\n\
         /** The operators as native methods. A long is a handle of the C ABI, 0 is none. */\n\
         public final class Native {\n    static {\n        NativeLibrary.load();\n    }\n\n    private Native() {}\n",
    );
    for family in families {
        let faces = Face::of(family);
        let _ = write!(text, "\n    // {}: {}\n", family.name, family.doc);
        for face in faces {
            let mut parameters: Vec<String> = face.params.iter().flat_map(native_parameters).collect();
            parameters.extend(face.outs.iter().map(|out| format!("long {}", camel(out))));
            let result = match face.returns {
                Returns::Nothing => "void",
                Returns::Tensor => "long",
                Returns::Tensors(_) | Returns::TensorList => "long[]",
            };
            let _ = writeln!(text, "    public static native {result} {}({});", face.symbol(), parameters.join(", "));
        }
    }
    text + "}\n"
}

/// `java/src/main/java/org/rushlight/TensorMethods.java`
fn methods(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(PACKAGE);
    text.push_str(
        "import org.jspecify.annotations.Nullable;\nimport org.rushlight.internal.Convert;\nimport org.rushlight.internal.Native;\n\n\
         /** The operators that are methods of {@link Tensor}; the names are PyTorch's. */\n\
         public abstract sealed class TensorMethods extends NativeOwner permits TensorAutograd {\n\
         \x20   TensorMethods(long handle, Runnable release) {\n        super(handle, release);\n    }\n\n\
         \x20   final Tensor self() {\n        return (Tensor) this;\n    }\n",
    );
    text.push_str(&members(families, true));
    text + "}\n"
}

/// `java/src/main/java/org/rushlight/TorchFunctions.java`
fn functions(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(PACKAGE);
    text.push_str(
        "import org.jspecify.annotations.Nullable;\nimport org.rushlight.internal.Convert;\nimport org.rushlight.internal.Native;\n\n\
         /** The operators that are functions; call them through {@link Torch}. */\n\
         public abstract sealed class TorchFunctions permits Torch {\n    TorchFunctions() {}\n",
    );
    text.push_str(&members(families, false));
    text + "}\n"
}

/// `java/src/main/java/org/rushlight/Results.java`
fn results(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(PACKAGE);
    text.push_str(
        "/** What operators with several results return. */\npublic final class Results {\n    private Results() {}\n",
    );
    let mut seen = BTreeSet::new();
    for face in families.iter().flat_map(Face::of).filter(|face| !face.op.internal) {
        let names = result_names(&face);
        if names.len() > 1 && seen.insert(names.clone()) {
            let fields: Vec<String> = names.iter().map(|name| format!("Tensor {name}")).collect();
            let params: String =
                names.iter().map(|name| format!("     * @param {name} as the operator describes it\n")).collect();
            let _ = write!(
                text,
                "\n    /**\n     * The results {}.\n     *\n{params}     */\n    public record {}({}) {{}}\n",
                names.join(", "),
                record(&names),
                fields.join(", ")
            );
        }
    }
    text + "}\n"
}

/// How a form is declared, with all arguments: the static function of `Torch`, the method of `Tensor`.
pub fn declarations(face: &Face) -> Vec<String> {
    let offered = [(face.form.function, false, "Torch"), (face.form.method, true, "Tensor")];
    let declaration = |(_, method, class): (bool, bool, &str)| {
        let parameters = parameters(face, method, face.params.len(), Spelling::Boxed);
        let parameters: Vec<String> = parameters.iter().map(|p| format!("{} {}", p.ty, p.name)).collect();
        format!("{} {class}.{}({})", returning(face, "").0, names::java_method(face.form), parameters.join(", "))
    };
    offered.into_iter().filter(|(is_offered, ..)| *is_offered).map(declaration).collect()
}

fn members(families: &[Family], methods: bool) -> String {
    let mut text = String::new();
    let mut taken = BTreeSet::new();
    for family in families {
        let faces = Face::of(family);
        let chosen: Vec<&Face> = faces
            .iter()
            .filter(|face| !face.op.internal && if methods { face.form.method } else { face.form.function })
            .collect();
        if !chosen.is_empty() {
            let _ = write!(text, "\n    // {}: {}\n", family.name, family.doc);
        }
        // Full signatures first: an overload that leaves arguments out must never hide another operator's.
        for face in &chosen {
            taken.insert(key(face, &parameters(face, methods, face.params.len(), Spelling::Boxed)));
        }
        for face in chosen {
            text.push_str(&member(face, methods));
            text.push_str(&ladder(face, methods, &mut taken));
        }
    }
    text
}

/// How `int?`, `float?` and `int[1]` are spelled: as objects and arrays, or as plain numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Boxed,
    Plain,
}

/// One parameter of a public signature.
struct Declared {
    ty: String,
    name: String,
    /// What may be null: itself, or with brackets its elements.
    nullable: Nullable,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nullable {
    Nothing,
    Itself,
    Elements,
}

impl Nullable {
    fn of(kind: Kind, ty: &str) -> Nullable {
        match kind {
            Kind::TensorOptionalList => Nullable::Elements,
            // Plain numbers are there.
            _ if matches!(ty, "long" | "double") => Nullable::Nothing,
            Kind::TensorOptional
            | Kind::ScalarOptional
            | Kind::IntOptional
            | Kind::IntListOptional
            | Kind::FloatOptional
            | Kind::FloatListOptional
            | Kind::BoolOptional
            | Kind::StrOptional
            | Kind::DTypeOptional
            | Kind::LayoutOptional
            | Kind::DeviceOptional
            | Kind::MemoryFormatOptional
            | Kind::GeneratorOptional => Nullable::Itself,
            _ => Nullable::Nothing,
        }
    }
}

impl Declared {
    fn text(&self) -> String {
        let Declared { ty, name, nullable } = self;
        for brackets in ["[]", "..."] {
            if let (Nullable::Itself, Some(element)) = (nullable, ty.strip_suffix(brackets)) {
                return format!("{element} @Nullable {brackets} {name}");
            }
        }
        if *nullable == Nullable::Nothing { format!("{ty} {name}") } else { format!("@Nullable {ty} {name}") }
    }

    fn erased(&self) -> String {
        self.ty.replace("...", "[]")
    }
}

/// Type names of a signature: two methods of one name must differ in it.
fn key(face: &Face, parameters: &[Declared]) -> String {
    let types: Vec<String> = parameters.iter().map(Declared::erased).collect();
    format!("{}({})", names::java_method(face.form), types.join(","))
}

/// The public parameters when only the first `count` arguments are given.
fn parameters(face: &Face, method: bool, count: usize, spelling: Spelling) -> Vec<Declared> {
    let given: Vec<&Parameter> = face.params[..count].iter().filter(|p| !(method && p.name == "self")).collect();
    let mut parameters = Vec::new();
    for (index, param) in given.iter().enumerate() {
        let last = index + 1 == given.len() && face.outs.is_empty();
        let after_number = given[..index].iter().any(|p| matches!(p.kind, Kind::Int | Kind::IntOptional | Kind::Float));
        let ty = match param.kind {
            Kind::TensorList if last => "Tensor...".to_string(),
            Kind::IntList | Kind::IntListOptional
                if spelling == Spelling::Plain && face.takes_single(param) && !last =>
            {
                "long".into()
            }
            Kind::IntList | Kind::IntListOptional if last && !after_number => "long...".into(),
            Kind::IntOptional if spelling == Spelling::Plain => "long".into(),
            Kind::FloatOptional if spelling == Spelling::Plain => "double".into(),
            kind => public_type(kind).into(),
        };
        let nullable = Nullable::of(param.kind, &ty);
        parameters.push(Declared { ty, name: java_parameter(&param.name), nullable });
    }
    parameters.extend(face.outs.iter().map(|out| Declared {
        ty: "Tensor".into(),
        name: java_parameter(out),
        nullable: Nullable::Nothing,
    }));
    parameters
}

/// The complete method: conversions, hold, native call, release.
fn member(face: &Face, method: bool) -> String {
    let mut before = String::new();
    let mut values = Vec::new();
    let mut held = Vec::new();
    let mut lists = Vec::new();
    for param in &face.params {
        let mut x = java_parameter(&param.name);
        match param.kind {
            Kind::Tensor | Kind::TensorOptional | Kind::GeneratorOptional => held.push(x.clone()),
            Kind::TensorList | Kind::TensorOptionalList => {
                // A copy: what is held must be what is passed and released, whatever others write into the array meanwhile.
                let _ = writeln!(before, "        Tensor[] {x}1 = {x}.clone();");
                x.push('1');
                lists.push(x.clone());
            }
            Kind::Scalar | Kind::ScalarOptional => {
                let make = if param.kind == Kind::Scalar { "of" } else { "ofNullable" };
                let _ = writeln!(before, "        Scalar {x}1 = Scalar.{make}({x});");
            }
            _ => {}
        }
        values.push(native_value(param.kind, &x));
    }
    for out in &face.outs {
        let x = java_parameter(out);
        values.push(native_value(Kind::Tensor, &x));
        held.push(x);
    }
    if method {
        before.push_str("        Tensor self = self();\n");
    }
    let call = format!("Native.{}({})", face.symbol(), values.join(", "));
    let (result, lines) = returning(face, &call);
    let body: String = if held.is_empty() && lists.is_empty() {
        format!("{before}{}", indent(&lines, 8))
    } else {
        let hold = match (&lists[..], held.len()) {
            ([], 1..=4) => held.join(", "),
            ([], _) => {
                let _ = writeln!(before, "        NativeOwner[] held = {{{}}};", held.join(", "));
                "held".into()
            }
            ([list], 0) => list.clone(),
            (lists, _) => {
                let rest: String = held.iter().map(|x| format!(", {x}")).collect();
                let mut text = lists[0].clone();
                for list in &lists[1..] {
                    text = format!("Tensor.concat({text}, {list})");
                }
                let joined = if rest.is_empty() { text } else { format!("Tensor.concat({text}{rest})") };
                let _ = writeln!(before, "        NativeOwner[] held = {joined};");
                "held".into()
            }
        };
        format!(
            "{before}        Tensor.acquire({hold});\n        try {{\n{}        }} finally {{\n            Tensor.release({hold});\n        }}\n",
            indent(&lines, 12)
        )
    };
    let parameters = parameters(face, method, face.params.len(), Spelling::Boxed);
    format!("\n{}{}{{\n{body}    }}\n", javadoc(face, &parameters), head(face, method, &result, &parameters))
}

/// The overloads that leave out trailing arguments or take plain numbers; each calls the complete method.
fn ladder(face: &Face, method: bool, taken: &mut BTreeSet<String>) -> String {
    let mut text = String::new();
    let (result, _) = returning(face, "");
    let back = if result == "void" { "" } else { "return " };
    let required = face.params.iter().rposition(|param| param.default.is_none()).map_or(0, |index| index + 1);
    for count in (required..=face.params.len()).rev() {
        for spelling in [Spelling::Boxed, Spelling::Plain] {
            let parameters = parameters(face, method, count, spelling);
            if !taken.insert(key(face, &parameters)) {
                continue;
            }
            let mut given = parameters.iter();
            let mut values = Vec::new();
            for (index, param) in face.params.iter().enumerate().filter(|(_, p)| !(method && p.name == "self")) {
                values.push(match given.next_if_before(index, count) {
                    Some(parameter) if face.takes_single(param) && parameter.ty == "long" => {
                        format!("new long[] {{{}}}", parameter.name)
                    }
                    // Boxed, so that the call fits the complete method and no overload of plain numbers.
                    Some(parameter) if param.kind == Kind::IntOptional && parameter.ty == "long" => {
                        format!("Long.valueOf({})", parameter.name)
                    }
                    Some(parameter) if param.kind == Kind::FloatOptional && parameter.ty == "double" => {
                        format!("Double.valueOf({})", parameter.name)
                    }
                    Some(parameter) => parameter.name.clone(),
                    None => default_value(param),
                });
            }
            values.extend(face.outs.iter().map(|out| java_parameter(out)));
            let call = format!("{}({})", names::java_method(face.form), values.join(", "));
            let note =
                format!("    /**\n     * The same as {{@code {call}}}.\n     *\n{}     */\n", tags(face, &parameters));
            let _ =
                write!(text, "\n{note}{}{{\n        {back}{call};\n    }}\n", head(face, method, &result, &parameters));
        }
    }
    text
}

/// The next of an iterator while arguments are given.
trait Given<'a> {
    fn next_if_before(&mut self, index: usize, count: usize) -> Option<&'a Declared>;
}

impl<'a> Given<'a> for std::slice::Iter<'a, Declared> {
    fn next_if_before(&mut self, index: usize, count: usize) -> Option<&'a Declared> {
        if index < count { self.next() } else { None }
    }
}

fn head(face: &Face, method: bool, result: &str, parameters: &[Declared]) -> String {
    let parameters: Vec<String> = parameters.iter().map(Declared::text).collect();
    // A varargs method must be final (or static) for @SafeVarargs only; plain arrays need nothing.
    let kind = if method { "public final" } else { "public static" };
    format!("    {kind} {result} {}({}) ", names::java_method(face.form), parameters.join(", "))
}

/// Result type, and the statements that call and return.
fn returning(face: &Face, call: &str) -> (String, String) {
    match face.returns {
        Returns::TensorList => ("Tensor[]".into(), format!("return Tensor.wrapAll({call});\n")),
        // The native options do not know of gradients, so a factory's last step is to ask for them.
        Returns::Tensor if face.params.iter().any(|param| param.kind == Kind::Options) => {
            ("Tensor".into(), format!("return TensorOptions.finish(options, Tensor.wrap({call}));\n"))
        }
        Returns::Tensor => ("Tensor".into(), format!("return Tensor.wrap({call});\n")),
        Returns::Tensors(_) => {
            let names = result_names(face);
            let record = format!("Results.{}", record(&names));
            let parts: Vec<String> = (0..names.len()).map(|index| format!("results[{index}]")).collect();
            let lines =
                format!("Tensor[] results = Tensor.wrapAll({call});\nreturn new {record}({});\n", parts.join(", "));
            (record, lines)
        }
        Returns::Nothing => match (face.form.kind, &face.outs[..]) {
            (FormKind::Out, [out]) => ("Tensor".into(), format!("{call};\nreturn {};\n", java_parameter(out))),
            (FormKind::Out, outs) => {
                let names = result_names(face);
                let record = format!("Results.{}", record(&names));
                let parts: Vec<String> = outs.iter().map(|out| java_parameter(out)).collect();
                (record.clone(), format!("{call};\nreturn new {record}({});\n", parts.join(", ")))
            }
            _ if face.has_self() => ("Tensor".into(), format!("{call};\nreturn self;\n")),
            _ => ("void".into(), format!("{call};\n")),
        },
    }
}

/// The names of several results, as the functional form has them.
fn result_names(face: &Face) -> Vec<String> {
    face.result_names().iter().map(|name| camel(name)).collect()
}

fn record(names: &[String]) -> String {
    names
        .iter()
        .map(|name| {
            let mut letters = name.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

fn indent(lines: &str, width: usize) -> String {
    lines.lines().map(|line| format!("{}{line}\n", " ".repeat(width))).collect()
}

fn camel(name: &str) -> String {
    names::java_identifier(&face::camel(name))
}

fn java_parameter(name: &str) -> String {
    camel(name)
}

fn public_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor | Kind::TensorOptional => "Tensor",
        Kind::TensorList | Kind::TensorOptionalList => "Tensor[]",
        Kind::Scalar | Kind::ScalarOptional => "Number",
        Kind::ScalarList => "Number[]",
        Kind::Int => "long",
        Kind::IntOptional => "Long",
        Kind::IntList | Kind::IntListOptional => "long[]",
        Kind::Float => "double",
        Kind::FloatOptional => "Double",
        Kind::FloatList | Kind::FloatListOptional => "double[]",
        Kind::Bool => "boolean",
        Kind::BoolList => "boolean[]",
        Kind::BoolOptional => "Boolean",
        Kind::Str | Kind::StrOptional => "String",
        Kind::DType | Kind::DTypeOptional => "DType",
        Kind::LayoutOptional => "Layout",
        Kind::MemoryFormat | Kind::MemoryFormatOptional => "MemoryFormat",
        Kind::Device | Kind::DeviceOptional => "Device",
        Kind::GeneratorOptional => "Generator",
        Kind::Options => "TensorOptions",
    }
}

fn native_parameters(param: &Parameter) -> Vec<String> {
    let x = java_parameter(&param.name);
    let ty = match param.kind {
        Kind::Scalar | Kind::ScalarOptional => {
            return vec![format!("int {x}Tag"), format!("long {x}Bits"), format!("double {x}Imag")];
        }
        Kind::ScalarList => {
            return vec![format!("int[] {x}Tags"), format!("long[] {x}Bits"), format!("double[] {x}Imags")];
        }
        Kind::IntOptional => {
            return vec![format!("boolean has{}", record(std::slice::from_ref(&x))), format!("long {x}")];
        }
        Kind::FloatOptional => {
            return vec![format!("boolean has{}", record(std::slice::from_ref(&x))), format!("double {x}")];
        }
        Kind::Tensor | Kind::TensorOptional | Kind::GeneratorOptional | Kind::Options | Kind::Int => "long",
        Kind::TensorList | Kind::TensorOptionalList | Kind::IntList | Kind::IntListOptional => "long[]",
        Kind::Float => "double",
        Kind::FloatList | Kind::FloatListOptional => "double[]",
        Kind::Bool => "boolean",
        Kind::BoolList => "boolean[]",
        Kind::Str | Kind::StrOptional => "String",
        Kind::BoolOptional
        | Kind::DType
        | Kind::DTypeOptional
        | Kind::LayoutOptional
        | Kind::MemoryFormat
        | Kind::MemoryFormatOptional
        | Kind::Device
        | Kind::DeviceOptional => "int",
    };
    vec![format!("{ty} {x}")]
}

fn native_value(kind: Kind, x: &str) -> String {
    match kind {
        Kind::Tensor => format!("{x}.handle()"),
        Kind::TensorOptional | Kind::GeneratorOptional => format!("Tensor.handleOrZero({x})"),
        Kind::TensorList => format!("Tensor.handles({x})"),
        Kind::TensorOptionalList => format!("Tensor.handlesOrZero({x})"),
        Kind::ScalarList => format!("Scalar.tags({x}), Scalar.bits({x}), Scalar.imags({x})"),
        Kind::Scalar | Kind::ScalarOptional => format!("{x}1.tag(), {x}1.bits(), {x}1.imag()"),
        Kind::IntOptional => format!("{x} != null, Convert.longOrZero({x})"),
        Kind::FloatOptional => format!("{x} != null, Convert.doubleOrZero({x})"),
        Kind::BoolOptional => format!("Convert.flag({x})"),
        Kind::DType | Kind::MemoryFormat => format!("{x}.code()"),
        Kind::DTypeOptional => format!("DType.codeOf({x})"),
        Kind::LayoutOptional => format!("Layout.codeOf({x})"),
        Kind::MemoryFormatOptional => format!("MemoryFormat.codeOf({x})"),
        Kind::Device => format!("{x}.packed()"),
        Kind::DeviceOptional => format!("Device.packedOf({x})"),
        Kind::Options => format!("TensorOptions.packedOf({x})"),
        Kind::Int | Kind::IntList | Kind::IntListOptional | Kind::Float | Kind::FloatList | Kind::FloatListOptional => {
            x.to_string()
        }
        Kind::Bool | Kind::BoolList | Kind::Str | Kind::StrOptional => x.to_string(),
    }
}

/// A default as the language writes it.
pub fn default_value(param: &Parameter) -> String {
    match (param.kind, param.default.as_ref().unwrap_or(&Default::None)) {
        (Kind::Options, Default::Constant(constant)) => {
            format!("TensorOptions.of(DType.{})", dtype_constant(*constant))
        }
        (Kind::Float | Kind::FloatOptional, Default::Int(value)) => format!("{value}.0"),
        (Kind::IntList | Kind::IntListOptional, Default::Int(value)) => format!("new long[] {{{value}}}"),
        (Kind::Options, Default::None) => "TensorOptions.DEFAULT".into(),
        (kind, Default::None) => format!("({}) null", public_type(kind)),
        (_, Default::Bool(value)) => value.to_string(),
        (Kind::Int | Kind::IntOptional, Default::Int(value)) => format!("{value}L"),
        (_, Default::Int(value)) => value.to_string(),
        (_, Default::Float(value)) => format!("{value:?}"),
        (_, Default::Str(text)) => format!("{text:?}"),
        (_, Default::List(values)) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| if let Default::Int(value) = value { value.to_string() } else { "0".into() })
                .collect();
            format!("new long[] {{{}}}", values.join(", "))
        }
        (_, Default::Constant(constant)) => match constant {
            Constant::Mean => "Reduction.MEAN".into(),
            Constant::Sum => "Reduction.SUM".into(),
            Constant::ContiguousFormat => "MemoryFormat.CONTIGUOUS".into(),
            Constant::PreserveFormat => "MemoryFormat.PRESERVE".into(),
            Constant::Strided => "Layout.STRIDED".into(),
            constant => format!("DType.{}", dtype_constant(*constant)),
        },
    }
}

fn dtype_constant(constant: Constant) -> &'static str {
    match constant {
        Constant::Float => "FLOAT32",
        Constant::Double => "FLOAT64",
        Constant::Bool => "BOOL",
        _ => "INT64",
    }
}

/// The call of the operator's example and what it returns, as `OperatorExamplesTest` runs them.
fn example(op: &Op) -> Option<(String, String)> {
    // A broken example is an error of the emitter that writes the test.
    let example = Example::parse(op)?.ok()?;
    Some((examples::java::call(op, &example), examples::java::tensor(&example.result)))
}

fn javadoc(face: &Face, parameters: &[Declared]) -> String {
    let text = &face.op.doc;
    let mut lines = vec![html(&text.summary), format!("<p>{{@code {}}}", code(&text.formula))];
    lines.push(format!("<p>Shapes: {{@code {}}}.", code(&text.shapes.replace('`', ""))));
    lines.push(format!("<p>Errors: {}", html(&text.errors)));
    lines.extend(face.note().map(|note| format!("<p>{}", html(&note))));
    if std::ptr::eq(face.form, face.op.primary()) {
        lines.extend(
            example(face.op).map(|(call, result)| format!("<p>Example: {{@code {call}}} is {{@code {result}}}.")),
        );
    }
    let body: String = lines.iter().map(|line| format!("     * {line}\n")).collect();
    format!("    /**\n{body}     *\n{}     */\n", tags(face, parameters))
}

fn tags(face: &Face, parameters: &[Declared]) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let param = face.params.iter().find(|param| java_parameter(&param.name) == parameter.name);
        let note = match param.map(|param| param.kind) {
            None => "the tensor that receives the result",
            Some(Kind::Options) => "dtype and device, or null for the defaults",
            Some(Kind::DTypeOptional) => "the dtype of the result, or null for the usual one",
            Some(Kind::MemoryFormatOptional) => "the order of the strides, or null for the usual one",
            Some(Kind::GeneratorOptional) => "the random generator, or null for the default one",
            Some(
                Kind::TensorOptional
                | Kind::ScalarOptional
                | Kind::IntOptional
                | Kind::IntListOptional
                | Kind::FloatOptional
                | Kind::FloatListOptional,
            ) if parameter.ty != "long" && parameter.ty != "double" => "as in the formula, or null for none",
            Some(Kind::StrOptional | Kind::LayoutOptional | Kind::DeviceOptional | Kind::BoolOptional) => {
                "as in the formula, or null for none"
            }
            Some(_) => "as in the formula",
        };
        let _ = writeln!(text, "     * @param {} {note}", parameter.name);
    }
    if returning(face, "").0 != "void" {
        let written = matches!(face.returns, Returns::Nothing);
        let _ = writeln!(text, "     * @return {}", if written { "what was written" } else { "the result" });
    }
    text
}

/// Text for Javadoc: markup characters as entities, backquoted words as code.
fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('@', "&#64;");
    escaped
        .split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_string() })
        .collect()
}

/// Text for `{@code ...}`: braces must balance there.
fn code(text: &str) -> String {
    if text.matches('{').count() == text.matches('}').count() { text.to_string() } else { text.replace(['{', '}'], "") }
}
