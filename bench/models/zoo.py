"""The models of timm, torchvision and transformers, with random weights and the sizes that their authors gave them.

A model is wrapped so that its call takes tensors and returns the loss. Dropout and stochastic depth stay as they are.
Where a model is too large for this purpose, `layers` says how many of its equal layers are kept. A run takes
`ON_CPU` by default, and on another device `ON_DEVICES`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LENGTH = 64  # tokens
TOLERANCE, LOWER_TOLERANCE = 1e-5, 0.02  # relative; in float32, and where autocast computes in bfloat16


@dataclass(frozen=True)
class Case:
    """A model: the package it is from, its name and options there, and how to make it and its inputs."""

    package: str
    key: str
    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[Tensor, ...]]  # of a batch size
    note: str = ""
    exported: str = ""  # the device that it is exported on; "" for that on which it runs
    tolerance: float = TOLERANCE


class Classifier(nn.Module):
    """Images and classes to the loss."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor, classes: Tensor) -> Tensor:
        scores = self.model(images)
        if isinstance(scores, dict):  # torchvision's segmentation
            scores = scores["out"]
        elif isinstance(scores, tuple):  # networks with auxiliary heads
            scores = scores[0]
        return F.cross_entropy(scores, classes)


class Named(nn.Module):
    """A model of transformers, which computes its loss if it has labels, with positional inputs."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], more: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.names, self.more = model, names, more

    def forward(self, *inputs: Tensor) -> Tensor:
        loss = self.model(**dict(zip(self.names, inputs)), **self.more).loss
        assert isinstance(loss, Tensor)
        return loss


class Lowered(nn.Module):
    """A model under autocast."""

    def __init__(self, model: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.model, self.dtype = model, dtype

    def forward(self, *inputs: Tensor) -> Tensor:
        with torch.autocast(inputs[0].device.type, dtype=self.dtype):
            loss = self.model(*inputs)
        assert isinstance(loss, Tensor)
        return loss


class Placed(nn.Module):
    """Tensors that the model creates on its device, on the CPU and moves, draws, and has as constants."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 10)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 128), persistent=False)

    def forward(self, x: Tensor, classes: Tensor) -> Tensor:
        hidden = F.dropout(self.first(x) * self.scale, 0.3)
        hidden = hidden + 0.1 * torch.randn(hidden.shape, device=x.device)
        chosen = torch.tensor([1, 3], device=x.device)
        bias = torch.zeros(10, device=x.device).index_fill(0, chosen, 0.5)
        backwards = torch.arange(x.shape[0] - 1, -1, -1).to(x.device)
        return F.cross_entropy((self.second(F.gelu(hidden)) + bias)[backwards], classes)


@cache
def torchvision() -> Any:
    """The package. Its operators, which no model here uses, are declared if it was not built for this torch."""
    found = importlib.util.find_spec("torchvision")
    for folder in found.submodule_search_locations or () if found is not None else ():
        for built in Path(folder).glob("_C*.so"):
            with contextlib.suppress(OSError):
                torch.ops.load_library(built)
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _KEPT.append(library)
    importlib.import_module("torchvision.models.segmentation")
    return importlib.import_module("torchvision")


_KEPT: list[Any] = []  # a library's operators are gone when it is collected


def transformers() -> Any:
    """The package, which imports torchvision if that is installed."""
    torchvision()
    return importlib.import_module("transformers")


def _images(batch: int, size: int, classes: int = 1000) -> tuple[Tensor, ...]:
    return torch.randn(batch, 3, size, size), torch.randint(classes, (batch,))


def _vectors(batch: int) -> tuple[Tensor, ...]:
    return torch.randn(batch, 64), torch.randint(10, (batch,))


def _mlp() -> nn.Module:
    return Classifier(nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Dropout(0.2), nn.Linear(512, 10)))


def _lowered(case: Case, dtype: torch.dtype = torch.bfloat16) -> Case:
    note = str(dtype).removeprefix("torch.")
    make = lambda: Lowered(case.make(), dtype)  # noqa: E731
    return replace(case, key=f"{case.key} {note}", make=make, note=note, tolerance=LOWER_TOLERANCE)


def _from_cpu(case: Case) -> Case:
    return replace(case, key=f"{case.key} from cpu", note="exported on the CPU", exported="cpu")


def _timm(name: str, size: int = 224) -> Case:
    def make() -> nn.Module:
        torchvision()
        return Classifier(importlib.import_module("timm").create_model(name, pretrained=False))

    return Case("timm", f"{name} {size}", make, lambda batch: _images(batch, size))


def _vision(name: str, size: int = 224, *, dense: bool = False, **options: Any) -> Case:
    def make() -> nn.Module:
        models = torchvision().models
        model = getattr(models.segmentation if dense else models, name)(weights=None, **options)
        return Classifier(model)

    def inputs(batch: int) -> tuple[Tensor, ...]:
        images, classes = _images(batch, size)
        return images, torch.randint(21, (batch, size, size)) if dense else classes

    return Case("torchvision", f"{name} {size} {dense} {options}", make, inputs)


def _text(name: str, config: str, layers: str = "", *, labels: str = "next", **options: Any) -> Case:
    """A language model. `labels`: "next", a token for each place, or "class", one for the whole text."""

    def make() -> nn.Module:
        package = transformers()
        settings = getattr(package, config)(**options)
        more = {"use_cache": False} if hasattr(settings, "use_cache") else {}
        return Named(getattr(package, name)(settings), ("input_ids", "labels"), more)

    def inputs(batch: int) -> tuple[Tensor, ...]:
        ids = torch.randint(3, 1000, (batch, LENGTH))
        return ids, ids.clone() if labels == "next" else torch.randint(2, (batch,))

    return Case("transformers", f"{name} {config} {labels} {options}", make, inputs, layers)


def _other(
    name: str, config: str, names: tuple[str, ...], inputs: Callable[[int], tuple[Tensor, ...]], **options: Any
) -> Case:
    """Any other model of transformers, with named inputs. Options that start with `call_` are arguments of its call."""
    more = {key.removeprefix("call_"): options.pop(key) for key in [*options] if key.startswith("call_")}
    key = f"{name} {config} {inputs.__name__} {more} {options}"

    def make() -> nn.Module:
        package = transformers()
        return Named(getattr(package, name)(getattr(package, config)(**options)), names, more)

    return Case("transformers", key, make, inputs)


def _whisper(batch: int) -> tuple[Tensor, ...]:
    return torch.randn(batch, 80, 3000), torch.randint(3, 1000, (batch, 16))


def _speech(batch: int) -> tuple[Tensor, ...]:
    return torch.randn(batch, 16000), torch.randint(2, (batch,))


def _pairs(batch: int) -> tuple[Tensor, ...]:
    return torch.randint(3, 1000, (batch, 77)), torch.randn(batch, 3, 224, 224)


def _segments(batch: int) -> tuple[Tensor, ...]:
    return torch.randn(batch, 3, 256, 256), torch.randint(19, (batch, 256, 256))


_TIMM = (
    "resnet18 resnet50 resnext50_32x4d seresnet50 wide_resnet50_2 densenet121 vgg16_bn mobilenetv2_100 "
    "mobilenetv3_large_100 efficientnet_b0 tf_efficientnetv2_s convnext_tiny convnextv2_tiny vit_base_patch16_224 "
    "deit_small_patch16_224 swin_tiny_patch4_window7_224 regnety_016 mixer_b16_224 beit_base_patch16_224 "
    "cait_xxs24_224 coatnet_0_rw_224 maxvit_tiny_rw_224 poolformer_s12 pvt_v2_b0 ghostnet_100 hrnet_w18_small "
    "res2net50_26w_4s mobilevit_s dm_nfnet_f0 repvgg_a0"
)

CASES: dict[str, Case] = {
    **{name: _timm(name) for name in _TIMM.split()},
    "swinv2_tiny_window8_256": _timm("swinv2_tiny_window8_256", 256),
    "inception_v3": _timm("inception_v3", 299),
    "googlenet": _vision("googlenet", aux_logits=False, init_weights=False),
    "shufflenet_v2_x1_0": _vision("shufflenet_v2_x1_0"),
    "deeplabv3_resnet50": _vision("deeplabv3_resnet50", 128, dense=True, weights_backbone=None),
    "bert_base": _text("BertForSequenceClassification", "BertConfig", labels="class"),
    "distilbert": _text("DistilBertForMaskedLM", "DistilBertConfig"),
    "roberta_base": _text("RobertaForMaskedLM", "RobertaConfig"),
    "albert_base": _text(
        "AlbertForMaskedLM", "AlbertConfig", hidden_size=768, num_attention_heads=12, intermediate_size=3072
    ),
    "electra_small": _text("ElectraForSequenceClassification", "ElectraConfig", labels="class"),
    "deberta_v2": _text("DebertaV2ForMaskedLM", "DebertaV2Config", "4 of 24", num_hidden_layers=4),
    "gpt2": _text("GPT2LMHeadModel", "GPT2Config"),
    "opt_125m": _text("OPTForCausalLM", "OPTConfig", do_layer_norm_before=True, ffn_dim=3072),
    "pythia_160m": _text(
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=3072,
    ),
    "bloom": _text(
        "BloomForCausalLM", "BloomConfig", "4 of 24", hidden_size=1024, n_head=16, n_layer=4, vocab_size=50000
    ),
    "llama": _text(
        "LlamaForCausalLM",
        "LlamaConfig",
        "4 of 22",
        hidden_size=2048,
        intermediate_size=5632,
        num_hidden_layers=4,
        num_attention_heads=32,
        num_key_value_heads=4,
    ),
    "mistral": _text(
        "MistralForCausalLM",
        "MistralConfig",
        "4 of 32, half as wide",
        hidden_size=2048,
        intermediate_size=7168,
        num_hidden_layers=4,
        num_attention_heads=16,
        num_key_value_heads=4,
    ),
    "qwen2": _text(
        "Qwen2ForCausalLM",
        "Qwen2Config",
        "4 of 24",
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=4,
        num_attention_heads=14,
        num_key_value_heads=2,
    ),
    "gemma": _text(
        "GemmaForCausalLM",
        "GemmaConfig",
        "4 of 18",
        hidden_size=2048,
        intermediate_size=16384,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=1,
        vocab_size=32000,
    ),
    "phi": _text("PhiForCausalLM", "PhiConfig", "4 of 24", num_hidden_layers=4),
    "mamba_130m": _text("MambaForCausalLM", "MambaConfig", "4 of 24", num_hidden_layers=4),
    "t5_small": _text("T5ForConditionalGeneration", "T5Config", decoder_start_token_id=0),
    "bart_base": _text(
        "BartForConditionalGeneration",
        "BartConfig",
        d_model=768,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    ),
    "whisper_tiny": _other(
        "WhisperForConditionalGeneration", "WhisperConfig", ("input_features", "labels"), _whisper, call_use_cache=False
    ),
    "wav2vec2_base": _other(
        "Wav2Vec2ForSequenceClassification",
        "Wav2Vec2Config",
        ("input_values", "labels"),
        _speech,
        mask_time_prob=0.0,
        layerdrop=0.0,
    ),
    "clip": _other("CLIPModel", "CLIPConfig", ("input_ids", "pixel_values"), _pairs, call_return_loss=True),
    "segformer_b0": _other(
        "SegformerForSemanticSegmentation", "SegformerConfig", ("pixel_values", "labels"), _segments, num_labels=19
    ),
}


ON_CPU = [*CASES]
CASES |= {
    "mlp": Case("torch", "mlp", _mlp, _vectors),
    "placed": Case("torch", "placed", Placed, _vectors),
    "vit_base_bf16": _lowered(CASES["vit_base_patch16_224"]),
    "gpt2_bf16": _lowered(CASES["gpt2"]),
    "resnet50_bf16": _lowered(CASES["resnet50"]),
    "mlp_f16": _lowered(Case("torch", "mlp", _mlp, _vectors), torch.float16),
}
CASES |= {f"{name}_from_cpu": _from_cpu(CASES[name]) for name in ("mlp", "placed", "bert_base")}
ON_DEVICES = (
    "bert_base bert_base_from_cpu gpt2 gpt2_bf16 vit_base_patch16_224 vit_base_bf16 resnet50 resnet50_bf16 "
    "convnext_tiny llama mlp mlp_f16 mlp_from_cpu placed placed_from_cpu"
).split()


def model(name: str, device: str = "cpu") -> nn.Module:
    """A model in training mode, with the same weights each time."""
    torch.manual_seed(1)
    return CASES[name].make().train().to(device)


def inputs(name: str, batch: int, device: str = "cpu") -> tuple[Tensor, ...]:
    """Its inputs, the same ones each time."""
    torch.manual_seed(2)
    return tuple(each.to(device) for each in CASES[name].inputs(batch))
