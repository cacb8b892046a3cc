//! Kinds of operators: fields that many entries of a family share are written once, as `[kind.NAME]` above them. An
//! entry with `kind = "NAME"` has these fields unless it sets them itself; an empty string removes a field. In the
//! strings of the kind, `{name}` is the operator's name without overload, and `{each}` that of the operator in `each`.

use toml::{Table, Value};

/// Completes the entries of a family's file from their kinds, and removes these.
pub fn complete(family: &mut Table) -> Result<(), String> {
    let kinds = match family.remove("kind") {
        None => Table::new(),
        Some(Value::Table(kinds)) => kinds,
        Some(_) => return Err("`kind` is no table".to_string()),
    };
    let ops = family.get_mut("op").and_then(Value::as_array_mut);
    for op in ops.into_iter().flatten().filter_map(Value::as_table_mut) {
        let Some(wanted) = op.remove("kind") else { continue };
        let func = op.get("func").and_then(Value::as_str).unwrap_or_default().to_string();
        let place = func.split('(').next().unwrap_or_default();
        let kind = wanted.as_str().and_then(|name| kinds.get(name)).and_then(Value::as_table);
        let kind = kind.ok_or_else(|| format!("{place}: there is no kind {wanted}"))?;
        let name = place.split('.').next().unwrap_or_default();
        let each = op.get("each").and_then(Value::as_str).and_then(|each| each.split('.').next());
        let each = each.unwrap_or_default().to_string();
        for (field, value) in kind {
            let value = match value {
                Value::String(text) => Value::String(text.replace("{name}", name).replace("{each}", &each)),
                other => other.clone(),
            };
            op.entry(field.clone()).or_insert(value);
        }
        op.retain(|_, value| value.as_str() != Some(""));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: &str = r#"
        [kind.unary]
        out = "{name}.out"
        inplace = "{name}_"
        dtypes = "all"
        [[op]]
        kind = "unary"
        func = "sin(Tensor self) -> Tensor"
        inplace = ""
        dtypes = "float"
    "#;

    #[test]
    fn an_entry_has_what_its_kind_says_unless_it_says_otherwise() {
        let mut family: Table = FAMILY.parse().unwrap();
        complete(&mut family).unwrap();
        let op = family["op"][0].as_table().unwrap();
        assert_eq!(op["out"].as_str(), Some("sin.out"));
        assert_eq!(op["dtypes"].as_str(), Some("float"));
        assert!(!op.contains_key("inplace") && !op.contains_key("kind") && !family.contains_key("kind"));
    }

    #[test]
    fn an_unknown_kind_is_named() {
        let mut family: Table = FAMILY.replace("kind = \"unary\"", "kind = \"binary\"").parse().unwrap();
        assert_eq!(complete(&mut family).unwrap_err(), "sin: there is no kind \"binary\"");
    }
}
