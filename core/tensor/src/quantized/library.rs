//! The library `quantized::`: operators that saved quantized models call by name, and quantized recurrent layers.
//!
//! Each is an operator like those that programs define (`dispatch::runtime_ops`), made of a schema and a kernel when a
//! program first looks one up.

use super::{arithmetic, convolution, embedding, linear, normalization, outputs, recurrent, rowwise};
use crate::dispatch::runtime_ops::RuntimeOp;
use crate::dispatch::{Args, Few, Value, Values};
use rushlight_base::Result;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

type Kernel = fn(&str, &Args<'_>) -> Result<Vec<Value>>;

type Library = BTreeMap<(String, String), Arc<RuntimeOp>>;

static LIBRARY: RwLock<Option<Library>> = RwLock::new(None);

/// Whether the library may have operators of this name.
fn is_here(name: &str) -> bool {
    ["quantized::", "_quantized::", "aten::quantized_"].iter().any(|prefix| name.starts_with(prefix))
}

/// The operator `quantized::linear` or `aten::quantized_lstm` with this overload.
#[cold]
pub(crate) fn find(name: &str, overload: &str) -> Option<Arc<RuntimeOp>> {
    if !is_here(name) {
        return None;
    }
    let key = (name.to_owned(), overload.to_owned());
    with_library(|library| library.get(&key).cloned())
}

/// All overloads of the operator `quantized::linear`.
#[cold]
pub(crate) fn overloads(name: &str) -> Vec<Arc<RuntimeOp>> {
    if !is_here(name) {
        return Vec::new();
    }
    let first = (name.to_owned(), String::new());
    with_library(|library| {
        let rows = library.range(first..).take_while(|((other, _), _)| other == name);
        rows.map(|(_, op)| op.clone()).collect()
    })
}

fn with_library<T>(look: impl FnOnce(&Library) -> T) -> T {
    if let Some(library) = &*LIBRARY.read().unwrap_or_else(PoisonError::into_inner) {
        return look(library);
    }
    // A schema that cannot be parsed is left out; a test looks up every operator.
    let library: Library = operators().filter_map(|(schema, kernel)| made(&schema, kernel).ok()).collect();
    look(LIBRARY.write().unwrap_or_else(PoisonError::into_inner).get_or_insert(library))
}

/// Removes all of them.
pub(crate) fn shutdown() {
    let library = LIBRARY.write().unwrap_or_else(PoisonError::into_inner).take();
    drop(library);
}

fn made(schema: &str, kernel: Kernel) -> Result<((String, String), Arc<RuntimeOp>)> {
    let op = Arc::new(RuntimeOp::built_in(schema, |name| {
        Arc::new(move |args: &[Value]| Ok(Values(Few::from_iter(kernel(&name, &Args(args))?))))
    })?);
    let name = format!("{}::{}", op.signature().namespace, op.signature().name);
    Ok(((name, op.signature().overload.to_string()), op))
}

/// The schemas of all operators, with their kernels.
pub(super) fn operators() -> impl Iterator<Item = (String, Kernel)> {
    let current = OPERATORS.iter().map(|(schema, kernel)| {
        let schema = with_classes(schema);
        (if schema.starts_with("aten::") { schema } else { format!("quantized::{schema}") }, *kernel)
    });
    let older = OPERATORS.iter().filter_map(|(schema, kernel)| {
        let (name, arguments) = schema.split_once('(')?;
        let name = OLDER.contains(&name).then(|| name.trim_end_matches(".new"))?;
        Some((with_classes(&format!("_quantized::{name}({arguments}")), *kernel))
    });
    current.chain(older)
}

/// The schema with the names of classes.
fn with_classes(schema: &str) -> String {
    schema
        .replace("LINEAR", linear::CLASS)
        .replace("CONV2D", convolution::CLASS_2D)
        .replace("CONV3D", convolution::CLASS_3D)
        .replace("EMBEDDING", embedding::CLASS)
        .replace("CELL", recurrent::CLASS)
}

/// The operators that the library `_quantized::`, an older name, has as well.
const OLDER: &[&str] = &[
    "add",
    "conv2d.new",
    "conv2d_prepack",
    "conv2d_relu.new",
    "conv3d.new",
    "conv3d_prepack",
    "conv3d_relu.new",
    "conv_transpose1d",
    "conv_transpose1d_prepack",
    "conv_transpose2d",
    "conv_transpose2d_prepack",
    "conv_transpose3d_prepack",
    "linear",
    "linear_dynamic",
    "linear_prepack",
    "linear_prepack_fp16",
];

/// The schemas; `LINEAR`, `CONV2D`, `CONV3D`, `EMBEDDING` and `CELL` are classes of packed parameters.
const OPERATORS: &[(&str, Kernel)] = &[
    ("relu6(Tensor qx, bool inplace=False) -> Tensor", arithmetic::clamp),
    ("linear_prepack(Tensor W, Tensor? B=None) -> LINEAR W_prepack", linear::prepack),
    ("linear_prepack_fp16(Tensor W, Tensor? B=None) -> LINEAR W_prepack", linear::prepack_half),
    ("linear_unpack(LINEAR W_prepack) -> (Tensor W_origin, Tensor? B_origin)", linear::unpack),
    ("linear_unpack_fp16(LINEAR W_prepack) -> (Tensor W_origin, Tensor? B_origin)", linear::unpack),
    ("linear(Tensor X, LINEAR W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y", linear::linear),
    ("linear_relu(Tensor X, LINEAR W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y", linear::linear),
    ("linear_dynamic(Tensor X, LINEAR W_prepack, bool reduce_range=False) -> Tensor Y", linear::dynamic),
    ("linear_relu_dynamic(Tensor X, LINEAR W_prepack, bool reduce_range=False) -> Tensor Y", linear::dynamic),
    ("linear_dynamic_fp16(Tensor X, LINEAR W_prepack) -> Tensor Y", linear::dynamic_half),
    ("linear_relu_dynamic_fp16(Tensor X, LINEAR W_prepack) -> Tensor Y", linear::dynamic_half),
    ("matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", linear::matmul),
    (
        "conv1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> CONV2D",
        convolution::prepack_1d,
    ),
    (
        "conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> CONV2D",
        convolution::prepack_2d,
    ),
    (
        "conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> CONV2D",
        convolution::prepack_2d,
    ),
    (
        "conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> CONV3D",
        convolution::prepack_3d,
    ),
    ("conv1d_unpack(CONV2D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)", convolution::unpack),
    ("conv2d_unpack(CONV2D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)", convolution::unpack),
    ("conv_unpack(CONV2D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)", convolution::unpack),
    ("conv3d_unpack(CONV3D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)", convolution::unpack),
    ("conv2d_stride(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv2d_padding(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv2d_output_padding(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv2d_dilation(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv2d_groups(CONV2D packed_weights) -> int", convolution::parameter),
    ("conv2d_transpose(CONV2D packed_weights) -> int", convolution::parameter),
    ("conv3d_stride(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv3d_padding(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv3d_output_padding(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv3d_dilation(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv3d_groups(CONV3D packed_weights) -> int", convolution::parameter),
    ("conv3d_transpose(CONV3D packed_weights) -> int", convolution::parameter),
    (
        "conv1d(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv1d,
    ),
    (
        "conv1d_relu(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv1d,
    ),
    (
        "conv2d(Tensor qx, CONV2D weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv2d,
    ),
    (
        "conv2d_relu(Tensor qx, CONV2D weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv2d,
    ),
    (
        "conv3d(Tensor qx, CONV3D weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv3d,
    ),
    (
        "conv3d_relu(Tensor qx, CONV3D weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv3d,
    ),
    (
        "conv2d.new(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv2d,
    ),
    (
        "conv2d_relu.new(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv2d,
    ),
    (
        "conv3d.new(Tensor qx, CONV3D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv3d,
    ),
    (
        "conv3d_relu.new(Tensor qx, CONV3D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv3d,
    ),
    ("add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", arithmetic::binary),
    ("add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", arithmetic::binary),
    ("mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", arithmetic::binary),
    ("mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", arithmetic::binary),
    ("add.Scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::add_number),
    ("add_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::add_number),
    ("add_scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::add_number),
    ("add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", arithmetic::add_number),
    ("mul.Scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::mul_number),
    ("mul_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::mul_number),
    ("mul_scalar(Tensor qa, Scalar b) -> Tensor qc", arithmetic::mul_number),
    ("mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", arithmetic::mul_number),
    ("cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", arithmetic::cat),
    ("cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", arithmetic::cat),
    ("hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor", arithmetic::activation),
    ("sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor", arithmetic::activation),
    (
        "elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        arithmetic::activation,
    ),
    ("celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor", arithmetic::activation),
    (
        "leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::activation,
    ),
    ("softmax(Tensor qx, int dim, float output_scale, int output_zero_point) -> Tensor", arithmetic::activation),
    ("clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", arithmetic::clamp),
    (
        "max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> Tensor",
        arithmetic::max_pool,
    ),
    (
        "max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> Tensor",
        arithmetic::max_pool,
    ),
    (
        "batch_norm(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm1d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm3d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm1d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm2d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm3d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "batch_norm_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "aten::quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
        arithmetic::batch_norm,
    ),
    (
        "aten::quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
        arithmetic::max_pool,
    ),
    (
        "aten::quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
        arithmetic::max_pool,
    ),
    (
        "aten::quantized_max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
        arithmetic::max_pool,
    ),
    (
        "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, float output_scale, int output_zero_point) -> Tensor",
        normalization::layer_norm,
    ),
    (
        "group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, float output_scale, int output_zero_point) -> Tensor",
        normalization::group_norm,
    ),
    (
        "instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, float output_scale, int output_zero_point) -> Tensor",
        normalization::instance_norm,
    ),
    ("prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) -> Tensor", arithmetic::prelu),
    ("threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy", arithmetic::threshold),
    (
        "dropout(Tensor self, float output_scale, int output_zero_point, Scalar p=0.5, bool training=False) -> Tensor",
        arithmetic::dropout,
    ),
    ("add_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("add.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("add_scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add_scalar_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add.Scalar2(Scalar b, Tensor qa) -> Tensor qc", outputs::number_first),
    ("add_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc", arithmetic::add_number),
    ("add_relu_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("add_relu.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("add_scalar_relu_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add_scalar_relu_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add_relu.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("add_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", outputs::number_first),
    ("add_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc", arithmetic::add_number),
    ("mul_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("mul.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("mul_scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul_scalar_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul.Scalar2(Scalar b, Tensor qa) -> Tensor qc", outputs::number_first),
    ("mul_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc", arithmetic::mul_number),
    ("mul_relu_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("mul_relu.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", outputs::binary),
    ("mul_scalar_relu_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul_scalar_relu_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul_relu.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", outputs::with_number),
    ("mul_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", outputs::number_first),
    ("mul_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc", arithmetic::mul_number),
    ("cat_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)", outputs::cat),
    ("cat_relu_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)", outputs::cat),
    (
        "linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor bias) -> Tensor Y",
        linear::dynamic_half_unpacked,
    ),
    (
        "conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] dilation, int groups) -> CONV2D",
        convolution::prepack_transposed_1d,
    ),
    (
        "conv_transpose1d(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv1d,
    ),
    (
        "conv_transpose1d_unpack(CONV2D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
        convolution::unpack,
    ),
    ("conv1d_dynamic(Tensor qx, CONV2D packed_weight, bool reduce_range=False) -> Tensor", convolution::dynamic_1d),
    (
        "conv_transpose1d_dynamic(Tensor qx, CONV2D packed_weight, bool reduce_range=False) -> Tensor",
        convolution::dynamic_1d,
    ),
    (
        "conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] dilation, int groups) -> CONV2D",
        convolution::prepack_transposed_2d,
    ),
    (
        "conv_transpose2d(Tensor qx, CONV2D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv2d,
    ),
    (
        "conv_transpose2d_unpack(CONV2D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
        convolution::unpack,
    ),
    ("conv2d_dynamic(Tensor qx, CONV2D packed_weight, bool reduce_range=False) -> Tensor", convolution::dynamic_2d),
    (
        "conv_transpose2d_dynamic(Tensor qx, CONV2D packed_weight, bool reduce_range=False) -> Tensor",
        convolution::dynamic_2d,
    ),
    ("conv_transpose2d_stride(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose2d_padding(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose2d_output_padding(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose2d_dilation(CONV2D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose2d_groups(CONV2D packed_weights) -> int", convolution::parameter),
    ("conv_transpose2d_transpose(CONV2D packed_weights) -> int", convolution::parameter),
    (
        "conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] dilation, int groups) -> CONV3D",
        convolution::prepack_transposed_3d,
    ),
    (
        "conv_transpose3d(Tensor qx, CONV3D packed_weight, float output_scale, int output_zero_point) -> Tensor",
        convolution::conv3d,
    ),
    (
        "conv_transpose3d_unpack(CONV3D packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
        convolution::unpack,
    ),
    ("conv3d_dynamic(Tensor qx, CONV3D packed_weight, bool reduce_range=False) -> Tensor", convolution::dynamic_3d),
    (
        "conv_transpose3d_dynamic(Tensor qx, CONV3D packed_weight, bool reduce_range=False) -> Tensor",
        convolution::dynamic_3d,
    ),
    ("conv_transpose3d_stride(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose3d_padding(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose3d_output_padding(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose3d_dilation(CONV3D packed_weights) -> int[]", convolution::parameter),
    ("conv_transpose3d_groups(CONV3D packed_weights) -> int", convolution::parameter),
    ("conv_transpose3d_transpose(CONV3D packed_weights) -> int", convolution::parameter),
    ("embedding_bag_prepack(Tensor weight) -> EMBEDDING W_prepack", embedding::prepack),
    ("embedding_bag_unpack(EMBEDDING W_prepack) -> Tensor W_origin", embedding::unpack),
    ("embedding_byte(EMBEDDING weight, Tensor indices, bool pruned_weights=False) -> Tensor", embedding::lookup),
    ("embedding_4bit(EMBEDDING weight, Tensor indices, bool pruned_weights=False) -> Tensor", embedding::lookup),
    (
        "embedding_bag_byte(EMBEDDING weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
        embedding::bag,
    ),
    (
        "embedding_bag_4bit(EMBEDDING weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
        embedding::bag,
    ),
    (
        "embedding_bag_byte_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
        rowwise::bag,
    ),
    ("embedding_bag_byte_prepack(Tensor weight) -> Tensor", rowwise::prepack),
    ("embedding_bag_byte_unpack(Tensor weight) -> Tensor", rowwise::unpack),
    (
        "embedding_bag_4bit_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
        rowwise::bag,
    ),
    (
        "embedding_bag_4bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float ratio=0.16) -> Tensor",
        rowwise::prepack,
    ),
    ("embedding_bag_4bit_unpack(Tensor weight) -> Tensor", rowwise::unpack),
    (
        "embedding_bag_2bit_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
        rowwise::bag,
    ),
    (
        "embedding_bag_2bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float ratio=0.16) -> Tensor",
        rowwise::prepack,
    ),
    ("embedding_bag_2bit_unpack(Tensor weight) -> Tensor", rowwise::unpack),
    (
        "make_quantized_cell_params_dynamic(LINEAR w_ih, LINEAR w_hh, Tensor bias_ih, Tensor bias_hh, bool reduce_range=False) -> CELL",
        recurrent::make_dynamic,
    ),
    ("make_quantized_cell_params_fp16(LINEAR w_ih, LINEAR w_hh) -> CELL", recurrent::make_half),
    (
        "aten::quantized_lstm.input(Tensor input, Tensor[] hx, CELL[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first, *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
        recurrent::lstm_input,
    ),
    (
        "aten::quantized_lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, CELL[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
        recurrent::lstm_data,
    ),
    (
        "aten::quantized_gru.input(Tensor input, Tensor hx, CELL[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
        recurrent::gru_input,
    ),
    (
        "aten::quantized_gru.data(Tensor data, Tensor batch_sizes, Tensor hx, CELL[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
        recurrent::gru_data,
    ),
    (
        "quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, LINEAR w_ih, LINEAR w_hh, Tensor bias_ih, Tensor bias_hh) -> (Tensor, Tensor)",
        recurrent::lstm_cell,
    ),
    (
        "quantized_gru_cell_dynamic(Tensor input, Tensor hx, LINEAR w_ih, LINEAR w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
        recurrent::gru_cell,
    ),
    (
        "quantized_rnn_tanh_cell_dynamic(Tensor input, Tensor hx, LINEAR w_ih, LINEAR w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
        recurrent::tanh_cell,
    ),
    (
        "quantized_rnn_relu_cell_dynamic(Tensor input, Tensor hx, LINEAR w_ih, LINEAR w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
        recurrent::relu_cell,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_an_operator() {
        for (schema, _) in operators() {
            let name = schema.split('(').next().unwrap();
            let (name, overload) = name.split_once('.').unwrap_or((name, ""));
            assert!(find(name, overload).is_some(), "{schema}");
        }
        assert!(find("quantized::nothing", "").is_none() && find("my::linear", "").is_none());
    }
}
