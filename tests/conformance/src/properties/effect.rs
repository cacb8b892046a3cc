//! Each argument has an effect: changing it changes a result, or the call is rejected.

use super::{Arguments, Properties};
use crate::cases::{Case, Item};
use crate::compare;
use crate::door::Value;
use rushlight_base::Scalar;
use rushlight_schema::{Argument, BaseType, Default as SchemaDefault};

/// Arguments without an effect on values, each with the reason.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("non_blocking", "copies on the host are finished when they return"),
    ("copy", "says whether the result may be the input itself: the values are the same"),
    ("pin_memory", "there is no GPU to pin memory for"),
    ("layout", "the recorded cases are strided"),
    ("implicit", "tells tracers how an expansion came about"),
    ("sparse", "sparse gradients are not supported: the dense one is right"),
    ("sparse_grad", "sparse gradients are not supported: the dense one is right"),
    ("cudnn_enable", "chooses between kernels of a GPU"),
    ("cudnn_enabled", "chooses between kernels of a GPU"),
    ("benchmark", "chooses between kernels of a GPU"),
    ("deterministic", "chooses between kernels of a GPU"),
    ("allow_tf32", "chooses between kernels of a GPU"),
    ("compute_mode", "chooses between ways to the same distances: there is one"),
    ("momentum", "moves the running statistics, which are no result"),
    ("half_to_float", "a CUDA path: rejected on the CPU"),
    ("out", "is written, not read"),
    ("padding_idx", "says which row gets no gradient"),
    ("scale_grad_by_freq", "divides the gradient"),
    ("ignore_index", "an index that no sample case has"),
    ("stable", "every sort is stable"),
];

/// Arguments whose values an operator does not read: only their shape, dtype and device.
const UNREAD: &[(&str, &str)] = &[
    ("cauchy_", "self"),
    ("empty_like", "self"),
    ("expand_as", "other"),
    ("exponential_", "self"),
    ("fill.Scalar", "self"),
    ("fill.Tensor", "self"),
    ("full_like", "self"),
    // The windows of their samples fit evenly.
    ("max_pool1d", "ceil_mode"),
    ("max_pool1d_with_indices", "ceil_mode"),
    // The indices determine the destination of the gradient.
    ("max_pool2d_with_indices_backward", "self"),
    ("fractional_max_pool2d_backward", "self"),
    ("fractional_max_pool2d_backward", "kernel_size"),
    ("fractional_max_pool2d_backward", "output_size"),
    ("fractional_max_pool3d_backward", "self"),
    ("fractional_max_pool3d_backward", "kernel_size"),
    ("fractional_max_pool3d_backward", "output_size"),
    ("max_pool3d_with_indices_backward", "self"),
    ("adaptive_max_pool2d_backward", "self"),
    ("adaptive_max_pool3d_backward", "self"),
    // The sizes of the windows do.
    ("_adaptive_avg_pool2d_backward", "self"),
    ("_adaptive_avg_pool3d_backward", "self"),
    ("avg_pool2d_backward", "self"),
    ("avg_pool3d_backward", "self"),
    // The target does.
    ("nll_loss_backward", "self"),
    ("nll_loss2d_backward", "self"),
    // Only transposed convolutions read it.
    ("_convolution", "output_padding"),
    ("_convolution.deprecated", "output_padding"),
    // The output mask says whether there is a bias.
    ("convolution_backward", "bias_sizes"),
    // The norms are computed again, as functions of the weight.
    ("_weight_norm_differentiable_backward", "saved_norms"),
    // The padding does.
    ("reflection_pad1d_backward", "self"),
    ("reflection_pad2d_backward", "self"),
    ("reflection_pad3d_backward", "self"),
    ("replication_pad1d_backward", "self"),
    ("replication_pad2d_backward", "self"),
    ("replication_pad3d_backward", "self"),
    // It writes every element.
    ("copy_", "self"),
    // Its samples have finite losses.
    ("_ctc_loss", "zero_infinity"),
    ("_ctc_loss_backward", "zero_infinity"),
    ("ctc_loss.IntList", "zero_infinity"),
    ("ctc_loss.Tensor", "zero_infinity"),
    // PyTorch fails with an internal assertion, so that no case has the error.
    ("linalg_ldl_factor_ex", "check_errors"),
    // The result has the sign of the input.
    ("leaky_relu_backward", "self_is_result"),
    // Their samples have one bin, with or without all elements.
    ("_histogramdd_bin_edges", "density"),
    ("_histogramdd_bin_edges", "weight"),
    ("_histogramdd_from_bin_tensors", "self"),
    ("_histogramdd_from_bin_tensors", "weight"),
    // No element of theirs is at a boundary, or in a window of padding.
    ("avg_pool3d_backward", "count_include_pad"),
    ("bucketize.Scalar", "right"),
    ("convolution_backward", "output_padding"),
    // They describe a tensor.
    ("dim", "self"),
    ("is_floating_point", "self"),
    ("numel", "self"),
    ("size", "self"),
    ("size.int", "self"),
    ("stride", "self"),
    ("stride.int", "self"),
    ("to.other", "other"),
    // They have one layer, and drop nothing.
    ("gru.data", "dropout"),
    ("gru.input", "dropout"),
    ("lstm.data", "dropout"),
    ("lstm.input", "dropout"),
    ("rnn_relu.data", "dropout"),
    ("rnn_relu.input", "dropout"),
    ("rnn_tanh.data", "dropout"),
    ("rnn_tanh.input", "dropout"),
    // Every index is looked at anyway.
    ("_index_put_impl", "unsafe"),
    // It only describes the origin of the indices.
    ("max_unpool3d", "padding"),
    ("geometric_", "self"),
    // Their samples hold no NaN in both tensors.
    ("isclose", "equal_nan"),
    ("log_normal_", "self"),
    // Their samples have one step at most.
    ("logspace.Scalar_Tensor", "start"),
    ("logspace.Scalar_Tensor", "end"),
    ("logspace.Scalar_Tensor", "base"),
    ("logspace.Tensor_Scalar", "end"),
    ("logspace.Tensor_Scalar", "base"),
    ("logspace.Tensor_Tensor", "end"),
    ("logspace.Tensor_Tensor", "base"),
    ("new_empty", "self"),
    ("new_empty_strided", "self"),
    ("new_full", "self"),
    ("new_ones", "self"),
    ("new_zeros", "self"),
    ("normal_", "self"),
    ("ones_like", "self"),
    ("randn_like", "self"),
    ("rand_like", "self"),
    ("randint_like", "self"),
    ("randint_like.low_dtype", "self"),
    ("random_", "self"),
    ("random_.from", "self"),
    ("random_.to", "self"),
    ("rrelu_with_noise", "noise"),
    ("bernoulli.p", "self"),
    ("bernoulli_.Tensor", "self"),
    ("reshape_as", "other"),
    // Moved by training, which is all that the samples do: no result shows it.
    ("_batch_norm_with_update", "running_mean"),
    ("_batch_norm_with_update", "running_var"),
    ("instance_norm", "running_mean"),
    ("instance_norm", "running_var"),
    // The samples count the elements that differ: all do.
    ("cdist", "x1"),
    ("cdist", "x2"),
    // The samples look up the same rows in another order, have as many heads everywhere, and drop nothing.
    ("embedding_renorm_", "indices"),
    ("scaled_dot_product_attention", "enable_gqa"),
    ("gru.data", "train"),
    ("gru.input", "train"),
    ("lstm.data", "train"),
    ("lstm.input", "train"),
    ("rnn_relu.data", "train"),
    ("rnn_relu.input", "train"),
    ("rnn_tanh.data", "train"),
    ("rnn_tanh.input", "train"),
    ("resize_as_", "the_template"),
    // States a property that holds anyway, or need not hold.
    ("_unique", "sorted"),
    ("_unique2", "sorted"),
    ("unique_dim", "sorted"),
    // The inverse and the counts are always returned.
    ("unique_dim", "return_counts"),
    ("unique_dim", "return_inverse"),
    ("unique_dim_consecutive", "return_counts"),
    ("unique_dim_consecutive", "return_inverse"),
    ("isin.Scalar_Tensor", "assume_unique"),
    ("isin.Tensor_Scalar", "assume_unique"),
    ("isin.Tensor_Tensor", "assume_unique"),
    // Its samples have lengths that sum up.
    ("segment_reduce", "unsafe"),
    // Their samples are Hermitian where it is true: it chooses an algorithm.
    ("linalg_matrix_rank.atol_rtol_tensor", "hermitian"),
    ("linalg_pinv.atol_rtol_float", "hermitian"),
    // Its samples have no element at a boundary.
    ("bucketize.Tensor", "right"),
    // Their samples write every element.
    ("index_copy", "self"),
    ("scatter.value", "self"),
    ("uniform_", "self"),
    ("view_as", "other"),
    ("zero", "self"),
    ("zero_", "self"),
    ("zeros_like", "self"),
    // They describe tensors, or the types of numbers: the samples of a type have one answer.
    ("is_complex", "self"),
    ("is_conj", "self"),
    ("is_distributed", "self"),
    ("is_inference", "self"),
    ("is_leaf", "self"),
    ("is_neg", "self"),
    ("is_signed", "self"),
    ("output_nr", "self"),
    ("is_same_size", "other"),
    ("is_same_size", "self"),
    ("result_type.Scalar", "other"),
    ("result_type.Scalar", "tensor"),
    ("result_type.Scalar_Scalar", "scalar1"),
    ("result_type.Scalar_Scalar", "scalar2"),
    ("result_type.Scalar_Tensor", "scalar"),
    ("result_type.Scalar_Tensor", "tensor"),
    ("result_type.Tensor", "other"),
    ("result_type.Tensor", "tensor"),
    ("type_as", "other"),
    // They are replaced.
    ("copy", "self"),
    ("normal_functional", "self"),
    ("set_", "self"),
    ("set_.source_Tensor", "self"),
    ("set_.source_Tensor_storage_offset", "self"),
    // Their results are lists that are written.
    ("split_copy.Tensor_out", "self"),
    ("split_with_sizes_copy.out", "self"),
    ("unbind_copy.int_out", "self"),
    // The sizes, indices, mask or output mask determine the destination of the gradient.
    ("adaptive_avg_pool3d_backward.grad_input", "self"),
    ("conv_tbc_backward", "bias"),
    ("cummaxmin_backward", "input"),
    ("gather_backward", "self"),
    ("masked_select_backward", "input"),
    ("native_layer_norm_backward", "bias"),
    // The result has the sign of the input.
    ("rrelu_with_noise_backward", "self_is_result"),
    // The bins say where they begin and end.
    ("histogramdd.TensorList_bins", "range"),
    // Only the geometry of the source counts.
    ("slice_inverse", "src"),
    ("slice_inverse", "dim"),
    ("slice_inverse", "start"),
    ("slice_inverse", "end"),
    ("slice_inverse", "step"),
    // Its samples are regular.
    ("_lu_with_info", "check_errors"),
];

impl Properties<'_> {
    /// The arguments of an operator that none of its cases shows an effect of.
    pub fn without_effect(&self, cases: &[Case]) -> Result<Vec<String>, String> {
        let Some(signature) = cases.first().and_then(|case| self.signature(case)) else { return Ok(Vec::new()) };
        let mut idle = Vec::new();
        for (at, argument) in signature.arguments.iter().enumerate() {
            let excused = WITHOUT_EFFECT.iter().any(|(name, _)| *name == argument.name)
                || UNREAD.contains(&(signature.full_name().as_str(), &*argument.name));
            if !excused && self.is_idle(cases, at, argument)? {
                idle.push(argument.name.to_string());
            }
        }
        Ok(idle)
    }

    /// An argument has other values, and none of them shows.
    fn is_idle(&self, cases: &[Case], at: usize, argument: &Argument) -> Result<bool, String> {
        let mut tried = false;
        for case in cases {
            for changed in changed(case, at, argument) {
                if self.differs(case, &changed)? {
                    return Ok(false);
                }
                tried = true;
            }
        }
        Ok(tried)
    }

    fn differs(&self, case: &Case, changed: &Case) -> Result<bool, String> {
        if case.error.is_some() {
            return Ok(self.outcome(changed).is_ok());
        }
        let before = self.outcome(case)?;
        let Ok(after) = self.outcome(changed) else { return Ok(true) };
        Ok(before.len() != after.len()
            || before.iter().zip(&after).any(|(before, after)| compare::items(after, before).is_err()))
    }

    fn outcome(&self, case: &Case) -> Result<Vec<Item>, String> {
        self.door.seed(7)?;
        let arguments = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let written = self.written(case, &arguments);
        let outs = self.call(case, arguments)?;
        let mut items: Vec<Item> =
            outs.iter().chain(&written).map(|out| self.door.item(out)).collect::<Result<_, _>>()?;
        // A memory format or dimension may show in the strides alone.
        for tensor in outs.iter().filter_map(Value::tensor) {
            let strides = self.door.strides(tensor)?;
            items.push(Item::List(strides.into_iter().map(|stride| Item::Scalar(Scalar::Int(stride))).collect()));
        }
        Ok(items)
    }
}

impl Properties<'_> {
    /// The tensors that a call writes to, which are results of it as well.
    fn written(&self, case: &Case, arguments: &Arguments) -> Vec<Value> {
        let signature = self.signature(case).into_iter().flat_map(|signature| signature.arguments.iter());
        let written = signature.zip(&arguments.args).filter(|(argument, _)| argument.ty.is_written());
        let tensors = written.flat_map(|(_, value)| match value {
            Value::Tensors(tensors) => tensors.iter().flatten().cloned().collect(),
            value => Vec::from_iter(value.tensor().cloned()),
        });
        tensors.map(Value::Tensor).collect()
    }
}

/// The case with other values for its argument `at`; nothing if there are none.
fn changed(case: &Case, at: usize, argument: &Argument) -> Vec<Case> {
    let copy = || Case { args: case.args.clone(), kwargs: case.kwargs.clone(), ..case.bare() };
    if let Some(item) = case.args.get(at) {
        let put = |other| {
            let mut copy = copy();
            copy.args[at] = other;
            copy
        };
        return others(item).into_iter().map(put).collect();
    }
    if let Some(at) = case.kwargs.iter().position(|(name, _)| *name == argument.name) {
        let put = |other| {
            let mut copy = copy();
            copy.kwargs[at].1 = other;
            copy
        };
        return others(&case.kwargs[at].1).into_iter().map(put).collect();
    }
    let value = match (argument.default.as_ref(), argument.ty.base) {
        (Some(SchemaDefault::Bool(value)), _) => Scalar::Bool(!value),
        (Some(SchemaDefault::Int(value)), BaseType::Scalar | BaseType::Int | BaseType::Float) => Scalar::Int(value + 1),
        (Some(SchemaDefault::Float(value)), _) => Scalar::Float(value + 0.5),
        _ => return Vec::new(),
    };
    let mut copy = copy();
    copy.kwargs.push((argument.name.to_string(), Item::Scalar(value)));
    vec![copy]
}

/// Other values of the same kind: first values that affect most operators, then special ones, such as signs and
/// infinities.
fn others(item: &Item) -> Vec<Item> {
    match item {
        Item::Scalar(Scalar::Bool(value)) => vec![Item::Scalar(Scalar::Bool(!value))],
        Item::Scalar(Scalar::Int(value)) => [value + 1, -value].map(|other| Item::Scalar(Scalar::Int(other))).into(),
        Item::Scalar(Scalar::Float(value)) => {
            [value * 0.5 + 0.25, -value].map(|other| Item::Scalar(Scalar::Float(other))).into()
        }
        Item::List(items) if matches!(items.first(), Some(Item::Scalar(_))) => {
            let put = |other| {
                let mut items = items.clone();
                items[0] = other;
                Item::List(items)
            };
            others(&items[0]).into_iter().map(put).collect()
        }
        Item::Tensor(host) if host.numel() > 0 && host.bytes.is_some() => {
            // Zeros are also valid indices.
            let zeros = host.filled(0.0);
            let rest = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            let rest = rest.into_iter().filter(|_| host.dtype.is_differentiable()).map(|value| host.filled(value));
            std::iter::once(zeros).chain(rest).filter(|other| other.bytes != host.bytes).map(Item::Tensor).collect()
        }
        _ => Vec::new(),
    }
}
