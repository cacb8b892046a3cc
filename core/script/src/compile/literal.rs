//! Values that are known without running code: literals in defaults, constants and Enums.

use crate::ast::{ExprId, ExprKind, Module, UnaryOp};
use crate::schema::Literal;
use crate::types::{EnumType, Type};
use std::sync::Arc;

/// The value of an expression that is a literal. The parser limits how deep it nests.
pub(super) fn literal_of(module: &Module, id: ExprId) -> Option<Literal> {
    let all = |items: &[ExprId]| items.iter().map(|&item| literal_of(module, item)).collect::<Option<Vec<_>>>();
    Some(match &module.expr(id).kind {
        ExprKind::None => Literal::None,
        ExprKind::Bool(value) => Literal::Bool(*value),
        ExprKind::Int(value) => Literal::Int(*value),
        ExprKind::Float(value) => Literal::Float(*value),
        ExprKind::Imaginary(value) => Literal::Complex(0.0, *value),
        ExprKind::Str(bytes) => Literal::Str(bytes.as_ref().into()),
        ExprKind::List(items) => Literal::List(all(items)?),
        ExprKind::Tuple(items) => Literal::Tuple(all(items)?),
        ExprKind::Unary(UnaryOp::Neg, operand) => match literal_of(module, *operand)? {
            Literal::Int(value) => Literal::Int(value.checked_neg()?),
            Literal::Float(value) => Literal::Float(-value),
            Literal::Complex(real, imaginary) => Literal::Complex(-real, -imaginary),
            _ => return None,
        },
        ExprKind::Name(name) => match &**name {
            "inf" => Literal::Float(f64::INFINITY),
            "nan" => Literal::Float(f64::NAN),
            "infj" => Literal::Complex(0.0, f64::INFINITY),
            "nanj" => Literal::Complex(0.0, f64::NAN),
            _ => return None,
        },
        // `annotate(List[int], [])`
        ExprKind::Call { function, args, keywords } if keywords.is_empty() => match args.as_slice() {
            [_, value] if matches!(module.dotted(*function).as_deref(), Some("annotate" | "torch.jit.annotate")) => {
                literal_of(module, *value)?
            }
            _ => return None,
        },
        ExprKind::Attribute { .. } => Literal::Int(super::name::torch_constant(&module.dotted(id)?)?),
        _ => return None,
    })
}

/// A literal as a value of a type: 1 is 1.0 where a float is expected.
pub(super) fn fitted(literal: Literal, kind: &Type) -> Literal {
    match (literal, kind) {
        (Literal::Int(value), Type::Float) => Literal::Float(value as f64),
        (literal, Type::Optional(element)) => fitted(literal, element),
        (Literal::List(items), Type::List(element)) => {
            Literal::List(items.into_iter().map(|item| fitted(item, element)).collect())
        }
        (Literal::Tuple(items), Type::Tuple(kinds)) if items.len() == kinds.len() => {
            Literal::Tuple(items.into_iter().zip(kinds.iter()).map(|(item, kind)| fitted(item, kind)).collect())
        }
        (literal, _) => literal,
    }
}

/// The type of a literal.
pub(super) fn type_of_literal(literal: &Literal) -> Type {
    match literal {
        Literal::None => Type::None,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Float(_) => Type::Float,
        Literal::Complex(..) => Type::Complex,
        Literal::Str(_) => Type::Str,
        Literal::List(items) => items.first().map_or(Type::Tensor, type_of_literal).list(),
        Literal::Tuple(items) => Type::tuple(items.iter().map(type_of_literal).collect::<Vec<Type>>()),
        Literal::Enum(member) => {
            let value = type_of_literal(&member.value);
            Type::Enum(Arc::new(EnumType { name: member.class.clone(), value }))
        }
    }
}
