//! The rows of the operator table, and the constants that they share: each argument and each return value once.

use crate::class::Class;
use crate::model::{Family, Form};
use crate::names;
use rushlight_schema::{Alias, Argument, Default, Detail, Return, Type};

/// The constants that the rows refer to.
pub struct Pool {
    /// Every argument of any form, in Rust, once.
    arguments: Vec<String>,
    /// Every return value, once.
    returns: Vec<String>,
    /// The indices into both: for each distinct signature the arguments, then the returns.
    indices: Vec<usize>,
}

impl Pool {
    /// Collects the constants of the forms of these families.
    pub fn new(families: &[Family]) -> Pool {
        let mut pool = Pool { arguments: Vec::new(), returns: Vec::new(), indices: Vec::new() };
        let ops = families.iter().flat_map(|family| &family.ops);
        for form in ops.flat_map(|op| op.forms.iter().chain(op.aliases.iter().map(|alias| &alias.form))) {
            let indices = pool.indices_of(form);
            if pool.position(&indices).is_none() {
                pool.indices.extend(indices);
            }
        }
        pool
    }

    fn indices_of(&mut self, form: &Form) -> Vec<usize> {
        let signature = &form.signature;
        let arguments =
            signature.arguments.iter().map(|argument| index_of(&mut self.arguments, rust_argument(argument)));
        let mut indices: Vec<usize> = arguments.collect();
        indices.extend(signature.returns.iter().map(|ret| index_of(&mut self.returns, rust_return(ret))));
        indices
    }

    fn position(&self, indices: &[usize]) -> Option<usize> {
        match indices {
            [] => Some(0),
            indices => self.indices.windows(indices.len()).position(|window| window == indices),
        }
    }

    /// The statics.
    pub fn text(&self) -> String {
        let indices: Vec<String> = self.indices.iter().map(usize::to_string).collect();
        format!(
            "/// The arguments of all operators.\npub static ARGUMENTS: &[Argument] = &[\n{},\n];\n\n\
             /// The return values of all operators.\npub static RETURNS: &[Return] = &[\n{},\n];\n\n\
             /// The signatures that rows point into: indices of arguments, then of return values.\n\
             pub static SIGNATURES: &[u16] = &[{}];\n",
            self.arguments.join(",\n"),
            self.returns.join(",\n"),
            indices.join(", ")
        )
    }

    /// The row of `form`: `ADD_TENSOR("add.Tensor" 21 3 1 Tensor2ScalarToTensor)`.
    pub fn row(&mut self, form: &Form) -> String {
        let signature = &form.signature;
        let indices = self.indices_of(form);
        let first = self.position(&indices).unwrap_or_default();
        format!(
            "{}({:?} {first} {} {} {})",
            names::rust_static(signature),
            signature.qualified_name(),
            signature.arguments.len(),
            signature.returns.len(),
            Class::of(form).name(),
        )
    }
}

fn index_of(pool: &mut Vec<String>, text: String) -> usize {
    pool.iter().position(|known| *known == text).unwrap_or_else(|| {
        pool.push(text);
        pool.len() - 1
    })
}

/// `argument("alpha", plain(BaseType::Scalar), Some(Default::Int(1)), true)`
fn rust_argument(argument: &Argument) -> String {
    let default = argument.default.as_ref().map_or("None".into(), |default| format!("Some({})", rust_default(default)));
    format!("argument({:?}, {}, {default}, {})", argument.name, rust_type(&argument.ty), argument.kwarg_only)
}

fn rust_return(ret: &Return) -> String {
    let name = ret.name.as_ref().map_or("None".into(), |name| format!("Some({name:?})"));
    format!("returned({name}, {})", rust_type(&ret.ty))
}

/// `plain(BaseType::Int)`, or with all parts
fn rust_type(ty: &Type) -> String {
    if *ty == Type::plain(ty.base) {
        return format!("plain(BaseType::{:?})", ty.base);
    }
    let alias = ty.alias.as_ref().map_or("None".into(), |alias| format!("Some({})", rust_alias(alias)));
    let list = ty.list.map_or("None".into(), |list| {
        let size = list.size.map_or("None".into(), |size| format!("Some({size})"));
        format!("Some(list({size}, {}))", list.optional_elements)
    });
    if ty.detail == Detail::None {
        return format!("typed(BaseType::{:?}, {alias}, {list}, {})", ty.base, ty.optional);
    }
    format!(
        "Type {{ base: BaseType::{:?}, detail: {}, alias: {alias}, list: {list}, optional: {} }}",
        ty.base,
        rust_detail(&ty.detail),
        ty.optional
    )
}

fn rust_detail(detail: &Detail) -> String {
    match detail {
        Detail::None => "rushlight_schema::Detail::None".into(),
        Detail::Name(name) => format!("rushlight_schema::Detail::Name(Name::Borrowed({name:?}))"),
        Detail::Types(types) => {
            let types: Vec<String> = types.iter().map(rust_type).collect();
            format!("rushlight_schema::Detail::Types(List::Borrowed(&[{}]))", types.join(", "))
        }
    }
}

fn rust_alias(alias: &Alias) -> String {
    let sets = |sets: &[rushlight_schema::Name]| {
        let sets: Vec<String> = sets.iter().map(|set| format!("Name::Borrowed({set:?})")).collect();
        format!("&[{}]", sets.join(", "))
    };
    format!("alias({}, {}, {})", sets(&alias.sets), alias.write, sets(&alias.after))
}

fn rust_default(default: &Default) -> String {
    match default {
        Default::None => "Default::None".into(),
        Default::Bool(value) => format!("Default::Bool({value})"),
        Default::Int(value) => format!("Default::Int({value})"),
        Default::Float(value) if value.is_infinite() => {
            format!("Default::Float(f64::{}INFINITY)", if *value < 0.0 { "NEG_" } else { "" })
        }
        Default::Float(value) => format!("Default::Float({value:?})"),
        Default::Str(text) => format!("Default::Str(Name::Borrowed({text:?}))"),
        Default::List(items) => {
            let items: Vec<String> = items.iter().map(rust_default).collect();
            format!("Default::List(List::Borrowed(&[{}]))", items.join(", "))
        }
        Default::Constant(constant) => format!("Default::Constant(Constant::{constant:?})"),
    }
}
