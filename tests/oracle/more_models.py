"""Saves networks of torchvision, timm, transformers and torchaudio, with a recorded call each, in folders like those of the zoo.

    python tests/oracle/more_models.py FOLDER [tv] [timm] [hf] [ta] [--only PART]

`make zoo DIR=FOLDER/tv` runs a group of them. Weights are random under a fixed seed; the networks of transformers are tiny.
Networks of torchvision and torchaudio are scripted, the others are traced. A network that PyTorch cannot save is named, with
the reason. Needs, beside PyTorch 2.7.1, `pip install torchvision==0.22.1 torchaudio==2.7.1 timm==1.0.19 transformers==4.53.0`.

The tolerance of a case is the larger of 1e-5 of the largest output, and 4 times the change when the inputs move by 1e-6. It is
too strict where that changes no rounding: the phases of `TimeStretch`, and the order of boxes with nearly equal scores.
"""

import argparse
import json
import pathlib
import random
import warnings

import torch
from safetensors.torch import save_file


def encode(value, name, store):
    """A value in the form of `meta.json`; its tensors go to `store`."""
    if isinstance(value, torch.Tensor):
        plain = torch.view_as_real(value) if value.is_complex() else value
        store[name] = plain.detach().clone().contiguous()
        entry = {"tensor": name, "dtype": str(value.dtype).split(".")[1], "shape": list(value.shape)}
        return entry | ({"complex": True} if value.is_complex() else {})
    if isinstance(value, dict):
        return {"dict": [[encode(key, f"{name}.k", store), encode(entry, f"{name}.{at}", store)] for at, (key, entry) in enumerate(value.items())]}
    if isinstance(value, (list, tuple)):
        entries = [encode(entry, f"{name}.{at}", store) for at, entry in enumerate(value)]
        names = {"names": list(value._fields)} if hasattr(value, "_fields") else {}
        return {"list" if isinstance(value, list) else "tuple": entries} | names
    kinds = {type(None): "none", bool: "bool", int: "int", float: "float", str: "str"}
    return {kinds[type(value)]: value}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [torch.view_as_real(value) if value.is_complex() else value]
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [tensor for entry in entries for tensor in tensors(entry)]


def moved(value):
    if isinstance(value, torch.Tensor):
        return value * (1 + 1e-6) if value.is_floating_point() else value
    return type(value)(moved(entry) for entry in value)


def largest(values):
    return max((tensor.double().nan_to_num(0, 0, 0).abs().max().item() for tensor in values if tensor.numel()), default=0.0)


def record(folder, module, args, script):
    """Saves a module, calls what was saved, and writes the call."""
    module = module.eval()
    with torch.no_grad():
        saved = torch.jit.script(module) if script else torch.jit.trace(module, args, strict=False, check_trace=False)
        folder.mkdir(parents=True, exist_ok=True)
        saved.save(str(folder / "model.pt"))
        loaded = torch.jit.load(str(folder / "model.pt"))
        torch.manual_seed(0)
        result = loaded(*args)
        torch.manual_seed(0)
        other = loaded(*map(moved, args))
    pairs = zip(tensors(result), tensors(other))
    change = largest([a.double() - b.double() for a, b in pairs if a.shape == b.shape and a.is_floating_point()])
    size = largest([tensor for tensor in tensors(result) if tensor.is_floating_point()])
    store = {}
    case = {
        "method": "forward",
        "args": [encode(arg, f"c0.in.{at}", store) for at, arg in enumerate(args)],
        "kwargs": {},
        "seed": 0,
        "result": encode(result, "c0.out", store),
    }
    meta = {
        "name": folder.name,
        "family": folder.parent.name,
        "kind": "scripted" if script else "traced",
        "mode": "eval",
        "stateful": False,
        "methods": {"forward": ""},
        "custom_classes": [],
        "tolerance": {"atol": max(1e-5 * size, 4 * change), "largest_output": size},
        "cases": [case],
        "operators": {"torchscript": {}},
    }
    save_file(store, str(folder / "cases.safetensors"))
    (folder / "meta.json").write_text(json.dumps(meta, indent=1))


# Each group yields names, and functions that return a module, its arguments, and whether it is scripted.

IMAGES = """resnext50_32x4d wide_resnet50_2 regnet_y_400mf regnet_x_800mf efficientnet_v2_s efficientnet_b1 convnext_tiny swin_t swin_v2_t
squeezenet1_1 shufflenet_v2_x0_5 mnasnet0_75 densenet121 mobilenet_v3_large resnet34 vgg11 vgg13_bn""".split()
SEGMENTATION = "deeplabv3_mobilenet_v3_large fcn_resnet50 lraspp_mobilenet_v3_large deeplabv3_resnet50".split()
DETECTION = """fasterrcnn_mobilenet_v3_large_320_fpn maskrcnn_resnet50_fpn keypointrcnn_resnet50_fpn retinanet_resnet50_fpn
fcos_resnet50_fpn ssd300_vgg16 retinanet_resnet50_fpn_v2 fasterrcnn_resnet50_fpn_v2""".split()
VIDEO = {"r3d_18": (8, 64), "mc3_18": (8, 64), "r2plus1d_18": (8, 64), "s3d": (16, 224), "mvit_v2_s": (16, 224), "swin3d_t": (8, 64)}


def torchvision_models():
    from torchvision import models, transforms

    def network(name, sizes, **options):
        return name, lambda: (models.get_model(name, weights=None, **options), (torch.randn(sizes),), True)

    yield from (network(name, (2, 3, 96, 96)) for name in IMAGES)
    yield from (network(name, (1, 3, 224, 224)) for name in ("maxvit_t", "vit_b_32"))
    yield network("inception_v3", (2, 3, 299, 299), init_weights=True)
    yield network("googlenet", (2, 3, 96, 96), init_weights=True)
    yield from (network(name, (1, 3, 96, 96), weights_backbone=None, num_classes=5) for name in SEGMENTATION)
    yield from (network(name, (1, 3, frames, size, size)) for name, (frames, size) in VIDEO.items())
    for name in DETECTION:
        images = [torch.rand(3, 120, 160), torch.rand(3, 100, 90)]
        yield name, lambda name=name: (models.get_model(name, weights=None, weights_backbone=None, num_classes=5), (images,), True)
    yield "raft_small", lambda: (models.optical_flow.raft_small(), (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128)), True)
    steps = [
        transforms.Resize([40, 50], antialias=True), transforms.CenterCrop(32), transforms.Grayscale(3), transforms.GaussianBlur(3),
        transforms.Normalize([0.5] * 3, [0.2] * 3),
    ]  # fmt: skip
    yield "transforms", lambda: (torch.nn.Sequential(*steps), (torch.randn(2, 3, 64, 70),), True)


TIMM = """resnet18 resnet26t resnetv2_50 seresnet50 ecaresnet26t resnest14d res2net50_26w_4s skresnet18 regnety_002 efficientnet_lite0
tf_efficientnet_b0 mixnet_s mobilenetv4_conv_small mobilenetv3_small_050 ghostnet_050 ghostnetv2_100 lcnet_050 tinynet_e mobileone_s0 repvgg_a0
hardcorenas_a fbnetc_100 mnasnet_small densenet121 dla34 dpn48b hrnet_w18_small inception_resnet_v2 inception_v4 xception41 cspresnet50
cspdarknet53 darknet53 ese_vovnet19b_dw selecsls42 gernet_s nfnet_l0 dm_nfnet_f0 eca_nfnet_l0 botnet26t_256 halonet26t lambda_resnet26t
haloregnetz_b bat_resnext26ts sehalonet33ts vit_tiny_patch16_224 vit_small_patch32_224 deit_tiny_patch16_224 deit3_small_patch16_224
beit_base_patch16_224 beitv2_base_patch16_224 eva02_tiny_patch14_224 flexivit_small cait_xxs24_224 xcit_nano_12_p16_224 pit_ti_224 levit_128s
tnt_s_patch16_224 twins_pcpvt_small twins_svt_small swin_tiny_patch4_window7_224 swinv2_cr_tiny_224 visformer_tiny convit_tiny
crossvit_tiny_240 coat_tiny coatnet_nano_rw_224 maxvit_nano_rw_256 poolformer_s12 poolformerv2_s12 convformer_s18 caformer_s18 edgenext_xx_small
efficientformer_l1 efficientformerv2_s0 efficientvit_b0 efficientvit_m0 mobilevit_xxs mobilevitv2_050 fastvit_t8 repvit_m0_9 tiny_vit_5m_224
hiera_tiny_224 mixer_s32_224 gmlp_ti16_224 resmlp_12_224 convmixer_768_32 convnext_atto convnextv2_atto convnext_nano davit_tiny focalnet_tiny_srf
gcvit_xxtiny hgnet_tiny hgnetv2_b0 inception_next_tiny mvitv2_tiny nest_tiny nextvit_small pvt_v2_b0 rexnet_100 rdnet_tiny sequencer2d_s starnet_s1
volo_d1_224 vitamin_small_224 xcit_tiny_12_p8_224 samvit_base_patch16_224 shvit_s1 mambaout_femto""".split()


def timm_models():
    import timm

    def make(name):
        module = timm.create_model(name, pretrained=False, num_classes=7)
        return module, (torch.randn(1, *module.default_cfg["input_size"]),), False

    known = set(timm.list_models())
    yield from ((name, lambda name=name: make(name)) for name in TIMM if name in known)


TEXT = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, max_position_embeddings=64)
ENCODERS = """Bert Roberta Camembert Electra Ernie ConvBert MegatronBert MPNet Nystromformer RemBert RoFormer Albert Deberta DebertaV2 Esm IBert
Mra FNet Data2VecText Longformer BigBird ModernBert Persimmon""".split()
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, image_size=32, patch_size=8)
VISIONS = "ViT DeiT Beit Dinov2 Data2VecVision SiglipVision CLIPVision IJepa ViTMSN".split()
SPEECH = dict(
    vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, conv_dim=[16, 16, 16], conv_stride=[5, 2, 2],
    conv_kernel=[10, 3, 3], num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
)  # fmt: skip
SPEECHES = "Wav2Vec2 Hubert WavLM UniSpeech UniSpeechSat Data2VecAudio Wav2Vec2Conformer".split()
SPECIAL = {
    "Albert": dict(embedding_size=16), "Electra": dict(embedding_size=16), "Esm": dict(pad_token_id=0, mask_token_id=1),
    "Longformer": dict(attention_window=4), "BigBird": dict(attention_type="original_full"), "Persimmon": dict(use_cache=False),
    "ModernBert": dict(pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, reference_compile=False),
}  # fmt: skip
SEQUENCES = {
    "DistilBert": dict(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=37),
    "GPT2": dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, use_cache=False),
    "GPTJ": dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4, use_cache=False),
    "GPTNeo": dict(vocab_size=99, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], use_cache=False),
    "Bloom": dict(vocab_size=99, hidden_size=32, n_layer=2, n_head=4, use_cache=False),
    "OPT": dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=37, word_embed_proj_dim=32, use_cache=False),
    "XLNet": dict(vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=37, use_mems_eval=False),
    "XLM": dict(vocab_size=99, emb_dim=32, n_layers=2, n_heads=4),
    "Funnel": dict(vocab_size=99, d_model=32, n_head=4, d_head=8, d_inner=37, block_sizes=[1, 1], num_decoder_layers=1),
    "Mamba": dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4, use_cache=False),
    "CTRL": dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, dff=37, n_positions=64, use_cache=False),
}
PYRAMIDS = {
    "Swin": dict(image_size=64, patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 2], window_size=2),
    "Segformer": dict(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16),
    "ConvNext": dict(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1]),
    "ResNet": dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1]),
    "MobileViT": dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 16, 16, 24, 24, 32, 32]),
    "GLPN": dict(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 1, 2, 2]),
}
PAIRS = {
    "T5": dict(vocab_size=99, d_model=32, num_layers=2, num_heads=4, d_ff=37, d_kv=8, use_cache=False),
    "Bart": dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, use_cache=False),
    "Marian": dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, pad_token_id=0, use_cache=False),
}


def transformers_models():
    import transformers

    def network(name, args, options):
        config = getattr(transformers, f"{name}Config")
        model = getattr(transformers, f"{name}Model")
        return name, lambda: (model(config(torchscript=True, **options)), args(), False)

    def words(length=16):
        return torch.randint(3, 90, (2, length))

    def masked():
        return words(), torch.ones(2, 16, dtype=torch.long)

    yield from (network(name, masked, TEXT | SPECIAL.get(name, {})) for name in ENCODERS)
    yield from (network(name, lambda: (words(),), options) for name, options in SEQUENCES.items())
    yield from (network(name, lambda: (*masked(), words(7)), options) for name, options in PAIRS.items())
    yield from (network(name, lambda: (torch.randn(1, 3, 32, 32),), VISION) for name in VISIONS)
    yield from (network(name, lambda: (torch.randn(1, 3, 64, 64),), options) for name, options in PYRAMIDS.items())
    yield from (network(name, lambda: (torch.randn(1, 4000),), SPEECH) for name in SPEECHES)


def torchaudio_models():
    from torchaudio import models, transforms

    torch.manual_seed(0)
    wave, mel = torch.rand(1, 4000) - 0.5, torch.rand(1, 20, 10)
    networks = {
        "wav2letter": (lambda: models.Wav2Letter(10, "mfcc", 13), (torch.randn(1, 13, 80),)),
        "conformer": (lambda: models.Conformer(16, 4, 32, 2, 7), (torch.randn(2, 20, 16), torch.tensor([20, 13]))),
        "emformer": (lambda: models.Emformer(16, 4, 32, 2, 4, right_context_length=1), (torch.randn(2, 9, 16), torch.tensor([9, 9]))),
        "conv_tasnet": (lambda: models.ConvTasNet(2, 4, 16, 3, 8, 16, 2, 2), (torch.randn(1, 1, 200),)),
        "wavernn": (lambda: models.WaveRNN([2, 2, 3], 16, 12, 2, 16, 16, 5, 8, 16, 16), (torch.randn(1, 1, 72), torch.randn(1, 1, 8, 10))),
    }
    for name, (make, args) in networks.items():
        yield name, lambda make=make, args=args: (make(), args, True)
    steps = {
        "mel": (transforms.MelSpectrogram(16000, n_fft=400, n_mels=32), wave),
        "mfcc": (transforms.MFCC(16000, 13, melkwargs={"n_fft": 400, "n_mels": 23}), wave),
        "lfcc": (transforms.LFCC(16000), wave),
        "resample": (transforms.Resample(16000, 8000), wave),
        "spectrogram": (transforms.Spectrogram(200, power=None), wave),
        "griffinlim": (transforms.GriffinLim(n_fft=200, n_iter=4, rand_init=False), torch.rand(1, 101, 30)),
        "mu_law": (transforms.MuLawEncoding(), wave),
        "volume": (transforms.Vol(0.5), wave),
        "fade": (transforms.Fade(100, 100), wave),
        "stretch": (transforms.TimeStretch(n_freq=201, fixed_rate=1.2), torch.randn(1, 201, 30, dtype=torch.complex64)),
        "sliding": (transforms.SlidingWindowCmn(cmn_window=10), torch.randn(1, 40, 13)),
        "vad": (transforms.Vad(16000), wave),
        "deltas": (transforms.ComputeDeltas(), torch.randn(1, 10, 30)),
        "decibels": (transforms.AmplitudeToDB(), mel),
        "loudness": (transforms.Loudness(16000), torch.rand(1, 16000) - 0.5),
        "inverse_mel": (transforms.InverseMelScale(n_stft=101, n_mels=20), mel),
        "centroid": (transforms.SpectralCentroid(16000), wave),
    }
    for name, (module, arg) in steps.items():
        yield name, lambda module=module, arg=arg: (module, (arg,), True)


GROUPS = {"tv": torchvision_models, "timm": timm_models, "hf": transformers_models, "ta": torchaudio_models}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], default=[])
    parser.add_argument("--only", default="", help="part of a name")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for group in options.groups or GROUPS:
        for name, make in GROUPS[group]():
            folder = options.folder / group / name.lower()
            if options.only not in name.lower() or (folder / "meta.json").exists():
                continue
            torch.manual_seed(0)
            random.seed(0)
            try:
                record(folder, *make())
                print(f"{group}/{folder.name}", flush=True)
            except Exception as error:  # a network that cannot be saved, for a reason of its own
                print(f"{group}/{folder.name}: {type(error).__name__}: {str(error).splitlines()[:1]}", flush=True)


if __name__ == "__main__":
    main()
