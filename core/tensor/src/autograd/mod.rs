//! Reverse-mode differentiation.
//!
//! A recorded operator creates a [`Node`]: edges to the nodes of its inputs, and a body that turns the gradients of its
//! outputs into those of its inputs. `engine` runs the nodes in dependency order; `accumulate` handles the leaves;
//! `view` keeps views and their bases consistent when one of them is modified in place. Derivatives are lines over
//! [`Expr`] (`grad * other.conj()`), generated from the schema; longer ones are functions in `formulas`. Because they
//! consist of operators, they can be differentiated again.

mod accumulate;
mod anomaly;
mod api;
mod custom;
mod derivative;
mod engine;
pub mod expr;
pub mod formulas;
mod gradcheck;
mod hooks;
mod meta;
mod modes;
mod node;
mod record;
mod reentrant;
mod saved;
mod saved_hooks;
mod saved_meta;
mod view;

pub use api::{backward, grad, run_backward};
pub use custom::{CustomFunction, CustomSaved, record_custom, record_edges};
pub(crate) use derivative::{derivative, kept, recorded, recorded_write};
pub use expr::Expr;
pub use gradcheck::{GradcheckOptions, gradcheck, gradgradcheck};
pub use hooks::Registered;
pub(crate) use meta::History;
pub use meta::{AutogradMeta, HookId, PostAccumulateHook, TensorHook};
pub use modes::{
    GradModeGuard, InferenceModeGuard, ThreadModes, is_anomaly_enabled, is_anomaly_nan_checked, is_grad_enabled,
    is_inference_mode, set_anomaly_enabled, set_anomaly_nan_checked, set_grad_enabled, set_inference_mode,
};
pub use node::{
    Backward, BackwardCall, Body, Edge, Edges, Gradients, Node, NodeHook, NodeOf, NodePreHook, TensorMeta,
    next_sequence_number,
};
pub use record::{
    as_view, become_view, check_history, check_inference_write, check_inplace, edges_of_write, mark_several,
    mark_unknown, rebase_history, record, record_result, recorded, recorded_write, rejected_out, rejected_write,
    should_record,
};
pub use saved::Saved;
pub use saved_hooks::{
    PackedTensor, SavedTensorHooks, disable_saved_tensor_hooks, pop_saved_tensor_hooks, push_saved_tensor_hooks,
};
pub use saved_meta::{Meta, MetaList};
pub use view::Restriction;
