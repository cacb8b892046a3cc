//! Dropout does nothing outside of training.

use super::effects::constant_bool;
use super::replace_node;
use crate::graph::Graph;
use rushlight_base::Result;

/// Removes dropout whose argument `train` is the constant False. Whether the graph has changed.
pub fn remove_dropout(graph: &mut Graph) -> Result<bool> {
    let mut changed = false;
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        let is_dropout = matches!(
            &*node.kind,
            "aten::dropout"
                | "aten::dropout_"
                | "aten::alpha_dropout"
                | "aten::alpha_dropout_"
                | "aten::feature_dropout"
                | "aten::feature_dropout_"
                | "aten::feature_alpha_dropout"
                | "aten::feature_alpha_dropout_"
        );
        let &[input, _, train] = node.inputs() else { continue };
        if node.block().is_some() && is_dropout && constant_bool(graph, train) == Some(false) {
            replace_node(graph, id, input)?;
            changed = true;
        }
    }
    Ok(changed)
}
