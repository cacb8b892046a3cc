//! Types against what PyTorch does with them (`tests/oracle/script_types.py`).

use rushlight_script::ast::{Member, Name};
use rushlight_script::types::{EnumType, NamedTuple, NoTypes, Resolver, Type, attribute_type, parse_type};
use rushlight_script::{Source, parse_module};

const RECORDED: &str = include_str!("data/types.txt");

/// The fields of the recorded lines of one kind.
fn recorded(kind: &str) -> Vec<Vec<&'static str>> {
    let lines = RECORDED.lines().map(|line| line.split('\t').collect::<Vec<&str>>());
    lines.filter(|fields| fields[0] == kind).map(|fields| fields[1..].to_vec()).collect()
}

fn types() -> Vec<Type> {
    recorded("type").iter().map(|fields| parse_type(fields[0], &NoTypes).unwrap()).collect()
}

#[test]
fn annotations_print_as_in_pytorch() {
    let cases = recorded("type");
    assert!(cases.len() > 50);
    for fields in cases {
        let parsed = parse_type(fields[0], &NoTypes).unwrap();
        assert_eq!(parsed.annotation_str(), fields[1], "{}", fields[0]);
        assert_eq!(parsed.schema_str(), fields[2], "{}", fields[0]);
        if fields[1] != "Union[number]" {
            assert_eq!(parse_type(fields[1], &NoTypes).unwrap(), parsed);
        }
    }
}

/// PyTorch's tests of `Optional[Union[int, str]]` against `Union[int, NoneType, str]` depend on the direction, though
/// both hold the same values. Here each is a subtype of the other.
fn same_values(left: &Type, right: &Type) -> bool {
    left.annotation_str() == "Optional[Union[int, str]]" && right.annotation_str() == "Union[int, NoneType, str]"
}

#[test]
fn subtypes_are_those_of_pytorch() {
    let types = types();
    for (fields, left) in recorded("subtype").iter().zip(&types) {
        for (expected, right) in fields[1].chars().zip(&types) {
            let expected = expected == '1' || same_values(left, right);
            assert_eq!(left.is_subtype_of(right, &NoTypes), expected, "{left} <: {right}");
        }
    }
}

#[test]
fn types_unify_as_in_pytorch() {
    let types = types();
    let mut different = Vec::new();
    for fields in recorded("unify") {
        let (left, right) = (&types[fields[0].parse::<usize>().unwrap()], &types[fields[1].parse::<usize>().unwrap()]);
        let unified = left.unify(right, &NoTypes).map_or("-".to_string(), |unified| unified.annotation_str());
        if unified != fields[2] && !same_values(left, right) {
            different.push(format!("{left} + {right}: {unified}, PyTorch {}", fields[2]));
        }
    }
    assert!(different.is_empty(), "{}\n{}", different.len(), different.join("\n"));
}

#[test]
fn further_annotations() {
    for (text, printed) in [
        ("list[int]", "List[int]"),
        ("dict[str, int]", "Dict[str, int]"),
        ("tuple[int, str]", "Tuple[int, str]"),
        ("torch.jit.Future[int]", "Future[int]"),
        ("BroadcastingList1[float]", "List[float]"),
        ("Optional[Tensor] | None", "Optional[Tensor]"),
        ("Union[Optional[Tensor], int]", "Union[Tensor, int, NoneType]"),
        ("Union[int, float, complex, None]", "Optional[number]"),
        ("Union[int, Tuple[int, str], None]", "Union[Tuple[int, str], int, NoneType]"),
        ("Union[int, int]", "int"),
        ("Generator | int", "Union[int, Generator]"),
        ("'List[int]'", "List[int]"),
        ("Dict[str, 'int']", "Dict[str, int]"),
    ] {
        assert_eq!(parse_type(text, &NoTypes).unwrap().annotation_str(), printed, "{text}");
    }
    let single = "After type unification was performed, the Union with the original types";
    for (text, message) in [
        ("foo", "Unknown type name 'foo':"),
        ("torch.int", "Unknown type name 'torch.int':"),
        ("Set[int]", "Unknown type constructor Set:"),
        ("List[int, int]", "expected exactly one element type but found 2:"),
        ("Dict[int]", "expected exactly 2 element types but found 1:"),
        ("Dict[List[int], int]", "Cannot create dict for key type 'int[]', only int, float, complex, Tensor, device"),
        ("Optional[None]", single),
        ("Union[int]", single),
        ("Union[Any, int]", single),
        ("Union[Tuple[int], Tuple[Any]]", single),
        ("Tuple[int, ...]", "Expression of type dots cannot be used in a type expression:"),
        ("int | 1", "Expression of type const cannot be used in a type expression:"),
        ("f(x)", "Expression of type apply cannot be used in a type expression:"),
        ("[int]", "Expression of type list-literal cannot be used in a type expression:"),
        ("(int, str)", "Expression of type tuple-literal cannot be used in a type expression:"),
        ("List[Tensor][int]", "Subscripted type must be a type identifier:"),
        ("Final[int]", "Unknown type constructor Final:"),
        ("Tensor[int]", "Unknown type constructor Tensor:"),
        ("List[]", "expected an index but found none:"),
    ] {
        let error = parse_type(text, &NoTypes).unwrap_err();
        assert!(error.message().starts_with(message), "{text}: {error}");
        assert!(error.message().contains("<--- HERE"), "{text}: {error}");
    }
}

/// Classes for the tests: `M` implements `I`.
struct Classes;

impl Resolver for Classes {
    fn resolve(&self, name: &str) -> Option<Type> {
        let field = |name: &str, element: Type| (Name::from(name), element);
        Some(match name {
            "__torch__.M" | "__torch__.N" => Type::Class(name.into()),
            "__torch__.I" => Type::Interface(name.into()),
            "__torch__.Color" => Type::Enum(EnumType { name: name.into(), value: Type::Int }.into()),
            "__torch__.NT" => {
                let fields = vec![field("a", Type::Int), field("b", Type::Str.optional().unwrap())];
                Type::NamedTuple(NamedTuple { name: name.into(), fields }.into())
            }
            _ => return None,
        })
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        (name, interface) == ("__torch__.M", "__torch__.I")
    }
}

#[test]
fn classes_relate_through_the_resolver() {
    let read = |text: &str| parse_type(text, &Classes).unwrap();
    let interface = read("List[__torch__.I]");
    assert_eq!(interface.annotation_str(), "List[__torch__.I]");
    assert!(read("__torch__.M").is_subtype_of(&read("Optional[__torch__.I]"), &Classes));
    assert!(!read("__torch__.N").is_subtype_of(&read("__torch__.I"), &Classes));
    assert!(!read("List[__torch__.M]").is_subtype_of(&interface, &Classes));
    assert_eq!(read("__torch__.M").unify(&read("__torch__.N"), &Classes), None);
    assert_eq!(read("__torch__.M").unify(&read("__torch__.I"), &Classes), Some(read("__torch__.I")));
    assert_eq!(read("__torch__.Color").schema_str(), "Enum<__torch__.Color>");
    assert_eq!(read("Dict[__torch__.Color, int]").annotation_str(), "Dict[__torch__.Color, int]");
    let tuple = read("__torch__.NT");
    assert_eq!(
        (tuple.annotation_str(), tuple.schema_str()),
        ("__torch__.NT".into(), "NamedTuple(a : int, b : str?)".into())
    );
    assert!(tuple.is_subtype_of(&read("Tuple[int, Optional[str]]"), &Classes));
    assert!(!read("Tuple[int, Optional[str]]").is_subtype_of(&tuple, &Classes));
    assert!(tuple.is_subtype_of(&Type::AnyTuple, &Classes));
}

#[test]
fn final_attributes_are_constants() {
    let text = "class M(Module):\n  a : Final[Tuple[int, int]] = (1, 2)\n  b : Optional[bool]\n  c : Final[int, int]\n";
    let module = parse_module(Source::new("m.py", text).unwrap()).unwrap();
    let class = module.classes().next().unwrap();
    let annotations = class.members.iter().map(|member| match member {
        Member::Attribute { annotation, .. } => attribute_type(&module, *annotation, &NoTypes),
        other => panic!("{other:?}"),
    });
    let found: Vec<_> =
        annotations.map(|result| result.map(|(kind, constant)| (kind.annotation_str(), constant))).collect();
    assert_eq!(found[0].as_ref().unwrap(), &("Tuple[int, int]".to_string(), true));
    assert_eq!(found[1].as_ref().unwrap(), &("Optional[bool]".to_string(), false));
    assert!(found[2].as_ref().unwrap_err().message().contains("m.py\", line 4"));
}
