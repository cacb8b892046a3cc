"""Writes schemas.txt: the schemas of PyTorch in the order in which its compiler tries the overloads of a name."""
import torch

NAMESPACES = ("aten", "prim", "quantized")
LEFT_OUT = ("aten::_foreach", "aten::_cudnn", "aten::mkldnn", "aten::miopen", "aten::_mps")
# The libraries that the model zoo uses besides PyTorch.
OTHERS = [
    "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
]

names = sorted({str(schema).split("(")[0].split(".")[0] for schema in torch._C._jit_get_all_schemas()})
print("# The schemas of PyTorch 2.7.1 in the order in which its compiler tries them (tests/data/schemas.py).")
for name in names:
    if name.split("::")[0] not in NAMESPACES or name.startswith(LEFT_OUT):
        continue
    lines = [str(schema) for schema in torch._C._jit_get_schemas_for_operator(name)]
    for line in dict.fromkeys(lines):
        if "PyObject" not in line and "Storage" not in line:
            print(line)
print("\n".join(OTHERS))
