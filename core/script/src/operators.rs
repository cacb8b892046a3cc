//! The operators that programs can call.

use crate::schema::Schema;
use rushlight_base::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Knows the overloads of operators.
pub trait Operators: Send + Sync {
    /// The overloads of an operator (`aten::add`), in the order in which a call tries them. Empty for unknown names.
    fn overloads(&self, name: &str) -> Arc<[Arc<Schema>]>;
}

/// Operators whose schemas are given as text, one in each line.
#[derive(Default)]
pub struct SchemaList {
    overloads: HashMap<Box<str>, Arc<[Arc<Schema>]>>,
}

impl SchemaList {
    /// Reads schemas. Empty lines and lines that begin with `#` have no effect.
    pub fn parse(text: &str) -> Result<SchemaList> {
        let mut lists: HashMap<Box<str>, Vec<Arc<Schema>>> = HashMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let schema = Schema::parse(line)?;
            lists.entry((*schema.name).into()).or_default().push(schema.into());
        }
        Ok(SchemaList { overloads: lists.into_iter().map(|(name, list)| (name, list.into())).collect() })
    }
}

impl Operators for SchemaList {
    fn overloads(&self, name: &str) -> Arc<[Arc<Schema>]> {
        self.overloads.get(name).cloned().unwrap_or_default()
    }
}
