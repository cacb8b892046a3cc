//! The operators without tensors, compared with what PyTorch returned (`data/builtins.py`).

mod values;

use rushlight_base::Result;
use rushlight_script::builtins::{Args, Context, find, rows};
use rushlight_script::runtime::list::List;
use rushlight_script::runtime::value::Value;
use rushlight_script::schema::{Formal, Schema};
use rushlight_script::types::Type;
use values::{matches, read};

struct Silent;

impl Context for Silent {
    fn print(&self, _text: &[u8]) {}
    fn warn(&self, _text: &str) {}
    fn less(&self, _a: &Value, _b: &Value) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn operators_return_what_pytorch_returns() {
    let mut differences = Vec::new();
    let mut calls = 0;
    for line in include_str!("data/builtins.txt").lines() {
        let (full, rest) = line.split_once(' ').unwrap();
        let (name, overload) = match full.get(6..).and_then(|rest| rest.find('.')) {
            Some(dot) => (&full[..6 + dot], &full[7 + dot..]),
            None => (full, ""),
        };
        let Some(row) = find(name, overload) else {
            differences.push(format!("{full} is missing"));
            continue;
        };
        calls += 1;
        let (arguments, expected) = match rest.strip_suffix(" !!") {
            Some(arguments) => (arguments, None),
            None => rest.split_once(" => ").map(|(arguments, result)| (arguments, Some(result))).unwrap(),
        };
        let mut arguments = read(arguments).as_tuple().unwrap().items().to_vec();
        // An empty literal has no element type.
        let schema = Schema::parse(row.schema).unwrap();
        for (value, argument) in arguments.iter_mut().zip(&schema.arguments) {
            if let (Value::List(list), Formal::Type(Type::List(element))) = (&*value, &argument.kind)
                && list.is_empty()
            {
                *value = List::from_values((**element).clone(), []).unwrap().into();
            }
        }
        let result = (row.run)(&mut Args::new(&mut arguments, &Silent));
        match (result, expected) {
            (Ok(result), Some(expected)) => {
                if let Err(difference) = matches(&result, &read(expected)) {
                    differences.push(format!("{line}: {difference}"));
                }
            }
            (Err(_), None) => {}
            (Ok(result), None) => differences.push(format!("{line}: returned {result:?}")),
            (Err(error), Some(_)) => differences.push(format!("{line}: {error}")),
        }
    }
    assert!(calls > 3000, "{calls}");
    assert!(differences.is_empty(), "{} of {calls} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn operators_that_stand_for_others_return_what_pytorch_returns() {
    let mut differences = Vec::new();
    let mut calls = 0;
    for line in include_str!("data/internal.txt").lines() {
        let (full, rest) = line.split_once(' ').unwrap();
        let (name, overload) = full.split_once('.').unwrap_or((full, ""));
        let row = find(name, overload).unwrap_or_else(|| panic!("{full} is missing"));
        let (arguments, expected) = rest.split_once(" => ").or_else(|| rest.split_once(" !! ")).unwrap();
        let fails = rest.contains(" !! ");
        let mut arguments = read(arguments).as_tuple().unwrap().items().to_vec();
        rushlight_tensor::manual_seed(0);
        calls += 1;
        match (row.run)(&mut Args::new(&mut arguments, &Silent)) {
            Ok(result) if !fails => {
                if let Err(difference) = matches(&result, &read(expected)) {
                    differences.push(format!("{line}: {difference}"));
                }
            }
            // The messages of PyTorch's internal assertions are not compared.
            Err(error) if fails && (error.message() == expected || expected.contains("INTERNAL ASSERT")) => {}
            other => differences.push(format!("{line}: {other:?}")),
        }
    }
    assert!(calls > 150, "{calls}");
    assert!(differences.is_empty(), "{} of {calls} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn every_schema_is_one_of_pytorch_and_can_be_parsed() {
    let schemas: Vec<&str> = include_str!("data/schemas.txt").lines().map(str::trim).collect();
    for row in rows() {
        let schema = Schema::parse(row.schema).unwrap();
        assert_eq!(schema.full_name(), row.full_name());
        assert_eq!(row.results().is_none(), schema.varret, "{}", row.schema);
        let name = format!("{}(", row.full_name());
        if schemas.iter().any(|known| known.starts_with(&name)) {
            assert!(schemas.contains(&row.schema), "{}", row.schema);
        }
    }
}
