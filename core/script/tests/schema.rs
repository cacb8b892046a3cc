//! Schemas: reading, printing, and type variables.

use rushlight_script::schema::{Bindings, Formal, Literal, Schema};
use rushlight_script::types::{NoTypes, Type, parse_type};

fn kind(text: &str) -> Type {
    parse_type(text, &NoTypes).unwrap()
}

#[test]
fn schemas_are_read_and_printed() {
    for text in [
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*)",
        "aten::format(str self, ...) -> str",
        "aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)",
        "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
    ] {
        assert_eq!(Schema::parse(text).unwrap().to_string(), text);
    }
    let schema = Schema::parse("conv(Tensor x, int[2] stride=1, float p=1, ScalarType? dtype=None) -> (Tensor, int)");
    let schema = schema.unwrap();
    assert_eq!(schema.name.as_ref(), "aten::conv");
    assert_eq!(schema.arguments[1].default, Some(Literal::List(vec![Literal::Int(1), Literal::Int(1)])));
    assert_eq!(schema.arguments[1].size, Some(2));
    assert_eq!(schema.arguments[2].default, Some(Literal::Float(1.0)));
    assert_eq!(schema.arguments[3].kind, Formal::Type(kind("Optional[int]")));
    assert!(Schema::parse("aten::f(PyObject x) -> int").is_err());
    assert!(Schema::parse("aten::f(int x").is_err());
}

#[test]
fn variables_are_bound() {
    let schema = Schema::parse("aten::get.str(Dict(str, t) self, str key, t default_value, t[] l) -> t?").unwrap();
    let mut bindings = Bindings::new();
    let bind = |index: usize, actual: &str, bindings: &mut Bindings| {
        schema.arguments[index].kind.bind(&kind(actual), bindings, &NoTypes)
    };
    assert_eq!(bind(0, "Dict[str, int]", &mut bindings).unwrap(), kind("Dict[str, int]"));
    assert_eq!(bind(3, "Tuple[int, int]", &mut bindings).unwrap(), kind("List[int]"));
    assert_eq!(schema.returns[0].kind.resolve(&bindings), Some(kind("Optional[int]")));
    let message = bind(2, "str", &mut bindings).unwrap_err();
    assert_eq!(message, "Type variable 't' previously matched to type int is matched to type str");
    assert_eq!(bind(0, "int", &mut bindings).unwrap_err(), "Cannot match Dict(str, t) to int");
    assert_eq!(schema.returns[0].kind.resolve(&Bindings::new()), None);
}
