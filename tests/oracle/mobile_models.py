"""Writes the models that PyTorch's Java tests load, with an installed PyTorch 2.7.1.

Usage: mobile_models.py MODEL_TEST OUT

MODEL_TEST is the folder test/mobile/model_test of a checkout of PyTorch: its modules are scripted (one is traced) and
saved as NAME.pt and, for the lite interpreter, as NAME.ptl. `mobilenet_v2` needs torchvision; its weights are random,
because no test reads a value of it.
"""

import pathlib
import sys

import torch
from torch.utils.bundled_inputs import augment_model_with_bundled_inputs

MODULES = {
    "math_ops": {
        "pointwise_ops": "PointwiseOpsModule",
        "reduction_ops": "ReductionOpsModule",
        "comparison_ops": "ComparisonOpsModule",
        "spectral_ops": "SpectralOpsModule",
        "other_math_ops": "OtherMathOpsModule",
        "blas_lapack_ops": "BlasLapackOpsModule",
    },
    "sampling_ops": {"sampling_ops": "SamplingOpsModule"},
    "tensor_ops": {
        "tensor_general_ops": "TensorOpsModule",
        "tensor_creation_ops": "TensorCreationOpsModule",
        "tensor_indexing_ops": "TensorIndexingOpsModule",
        "tensor_typing_ops": "TensorTypingOpsModule",
        "tensor_view_ops": "TensorViewOpsModule",
    },
    "nn_ops": {
        "convolution_ops": "NNConvolutionModule",
        "pooling_ops": "NNPoolingModule",
        "padding_ops": "NNPaddingModule",
        "activation_ops": "NNActivationModule",
        "normalization_ops": "NNNormalizationModule",
        "recurrent_ops": "NNRecurrentModule",
        "transformer_ops": "NNTransformerModule",
        "linear_ops": "NNLinearModule",
        "dropout_ops": "NNDropoutModule",
        "sparse_ops": "NNSparseModule",
        "distance_function_ops": "NNDistanceModule",
        "loss_function_ops": "NNLossFunctionModule",
        "vision_function_ops": "NNVisionModule",
        "shuffle_ops": "NNShuffleModule",
        "nn_utils_ops": "NNUtilsModule",
    },
    "quantization_ops": {
        "general_quant_ops": "GeneralQuantModule",
        "dynamic_quant_ops": "DynamicQuantModule",
        "static_quant_ops": "StaticQuantModule",
        "fused_quant_ops": "FusedQuantModule",
    },
    "builtin_ops": {
        "torchscript_builtin_ops": "TSBuiltinOpsModule",
        "torchscript_collection_ops": "TSCollectionOpsModule",
    },
    "android_api_module": {"android_api_module": "AndroidAPIModule"},
}
# The layers of DynamicQuantModule that are quantized: this PyTorch cannot script a quantized transformer.
DYNAMIC = ("rnn", "rnncell", "gru", "grucell", "lstm", "lstmcell", "linears.1")


def mobilenet_v2():
    from torchvision import models

    torch.manual_seed(0)
    example = torch.zeros(1, 3, 224, 224)
    traced = torch.jit.trace(models.mobilenet_v2(weights=None).eval(), example)
    augment_model_with_bundled_inputs(traced, [(example,)])
    return traced


def scripted(file, name, cls):
    instance = getattr(__import__(file), cls)()
    if name == "static_quant_ops":
        return torch.jit.trace(instance.getModule(), [])
    if name == "dynamic_quant_ops":
        return torch.jit.script(dynamic(instance))
    return torch.jit.script(instance.getModule() if hasattr(instance, "getModule") else instance)


def dynamic(instance):
    """What its `getModule` does, with the linear layers of the transformers left in float."""
    default = torch.ao.quantization.default_dynamic_qconfig
    return torch.ao.quantization.quantize_dynamic(instance.module, {name: default for name in DYNAMIC}, dtype=torch.qint8)


def main():
    sources, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(sources))
    out.mkdir(parents=True, exist_ok=True)
    makers = {name: (lambda f=file, n=name, c=cls: scripted(f, n, c)) for file, group in MODULES.items() for name, cls in group.items()}
    makers["mobilenet_v2"] = mobilenet_v2
    failed = []
    for name, make in makers.items():
        try:
            model = make()
            torch.jit.save(model, str(out / f"{name}.pt"))
            model._save_for_lite_interpreter(str(out / f"{name}.ptl"))
            print(name)
        except Exception as error:  # each module for itself: one that this PyTorch cannot script is named
            failed.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    print(f"{len(makers) - len(failed)} written, {len(failed)} failed", *failed, sep="\n")
    sys.exit(bool(failed))


main()
