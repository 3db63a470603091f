"""Nets with seeded random weights for `mobpack export`: for a Python with PyTorch and the wheels of torch.txt."""

import ctypes
import importlib.util
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SIZES = {
    "inception_v3": 96,
    "maxvit_t": 224,
    "vit_b_16": 224,
    "vit_b_32": 224,
    "s3d": 64,
    "raft_small": 128,
    "ssd300_vgg16": 300,
}
"""pixels of an edge, for torchvision's nets that do not take EDGE"""
EDGE = 64
TINY = {
    "vocab_size": 512,
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embed_dim", "word_embed_proj_dim"), 64),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "encoder_num_hidden_layers", "decoder_num_hidden_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_num_attention_heads", "decoder_num_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner"), 128),
    **dict.fromkeys(("num_key_value_heads", "encoder_num_key_value_heads", "decoder_num_key_value_heads"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "rotary_dim"), 16),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_target_positions"), 128),
    **dict.fromkeys(("pad_token_id", "eos_token_id", "bos_token_id", "decoder_start_token_id"), 1),
    "num_local_experts": 4,
    "num_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 32,
    "q_lora_rank": 32,
    "kv_lora_rank": 32,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "first_k_dense_replace": 1,
    "num_mel_bins": 80,
    "max_source_positions": 32,
}
"""values of configurations, for those that have such a field"""
PARTICULAR: Mapping[str, Mapping[str, Any]] = {
    "deepseek_v3": {"num_key_value_heads": 4},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "moonshine": {"encoder_num_key_value_heads": 4, "decoder_num_key_value_heads": 4},
}
"""values that some architectures need instead"""
SOUND = ("speech_to_text", "whisper", "moonshine")

Made = tuple[Any, Any]
"""a module and its example inputs"""


def made(family: str, net: str) -> Made:
    """A net in eval mode, with seeded random weights, and example inputs."""
    import torch

    library = importlib.util.find_spec("torchvision")
    for runtime in Path(str(library and library.origin)).parents[1].glob("torchvision.libs/libcudart.*"):
        ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)  # torchvision asks for it even on a machine without a GPU
    torch.manual_seed(0)
    makers = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers}
    makers |= {"torchaudio": _torchaudio, "diffusers": _diffusers}
    module, inputs = makers[family](net)
    return module.eval(), inputs


def _torchvision(net: str) -> Made:
    import torch
    import torchvision

    edge = SIZES.get(net, EDGE)
    options = {"weights": None}
    builder = torchvision.models.get_model_builder(net)
    if "weights_backbone" in inspect.signature(builder).parameters:
        options["weights_backbone"] = None
    module = builder(**options)
    picture = torch.rand(1, 3, edge, edge)
    if net in torchvision.models.list_models(module=torchvision.models.detection):
        return _Detector(module.eval()), torch.rand(3, edge * 2, edge * 2)
    if net in torchvision.models.list_models(module=torchvision.models.video):
        return module, torch.rand(1, 3, 16, edge, edge)
    if net in torchvision.models.list_models(module=torchvision.models.optical_flow):
        return _Last(module.eval()), (picture, torch.rand(1, 3, edge, edge))
    return module, picture


def _timm(net: str) -> Made:
    import timm
    import torch

    module = timm.create_model(net, pretrained=False)
    size = module.pretrained_cfg.get("input_size", (3, 224, 224))
    if not module.pretrained_cfg.get("fixed_input_size"):
        size = (3, 128, 128)
    return module, torch.rand(1, *size)


def tiny(kind: Any, net: str) -> Any:
    """A configuration of the class `kind` with the values of TINY that it has."""
    known = inspect.signature(kind.__init__).parameters
    return kind(**{**{key: value for key, value in TINY.items() if key in known}, **PARTICULAR.get(net, {})})


def _transformers(net: str) -> Made:
    import torch
    import transformers

    kind = transformers.CONFIG_MAPPING[net]
    config = tiny(kind, net)
    config.use_cache = False
    words = torch.randint(2, 500, (1, 16))
    if not getattr(config, "is_encoder_decoder", False) or net == "trocr":
        return _Logits(transformers.AutoModelForCausalLM.from_config(config)), {"input_ids": words}
    if net in SOUND:
        module = _Logits(transformers.AutoModelForSpeechSeq2Seq.from_config(config))
        sound = {
            "whisper": {"input_features": torch.randn(1, 80, 64)},
            "speech_to_text": {"input_features": torch.randn(1, 64, 80)},
            "moonshine": {"input_values": torch.randn(1, 4000)},
        }
        return module, {**sound[net], "decoder_input_ids": words[:, :8]}
    module = _Logits(transformers.AutoModelForSeq2SeqLM.from_config(config))
    return module, {"input_ids": words, "decoder_input_ids": words[:, :8]}


def _torchaudio(net: str) -> Made:
    import torch
    from torchaudio import models

    sound, frames = torch.randn(1, 1, 4000), torch.randn(1, 50, 80)
    length = torch.tensor([50])
    makers: Mapping[str, Any] = {
        "conformer": lambda: (models.Conformer(80, 4, 128, 2, 31), (frames, length)),
        "wav2letter": lambda: (
            models.Wav2Letter(num_classes=40, input_type="mfcc", num_features=40),
            torch.randn(1, 40, 100),
        ),
        "emformer": lambda: (
            models.Emformer(80, 4, 128, 2, 16, right_context_length=4),
            (torch.randn(1, 54, 80), length),
        ),
        "deepspeech": lambda: (models.DeepSpeech(80, n_hidden=128, n_class=40), torch.randn(1, 1, 50, 80)),
        "wav2vec2": lambda: (_wav2vec2(models), sound[0]),
        "hubert": lambda: (_wav2vec2(models, hubert=True), sound[0]),
        "hdemucs": lambda: (models.hdemucs_low(["voice", "rest"]), torch.randn(1, 2, 22050)),
        "conv_tasnet": lambda: (models.ConvTasNet(msk_num_layers=4, msk_num_stacks=2), sound),
        "tacotron2_encoder": lambda: (_tacotron2_encoder(models), (torch.randn(1, 512, 20), torch.tensor([20]))),
        "wavernn": lambda: (
            models.WaveRNN([2, 2, 2], 16, 8, n_res_block=2, n_rnn=64, n_fc=64, n_freq=20, n_hidden=32, n_output=32),
            (torch.randn(1, 1, 48), torch.randn(1, 1, 20, 10)),
        ),
        "squim": lambda: (models.squim_objective_base(), sound[0]),
    }
    found: Made = makers[net]()
    return found


def _wav2vec2(models: Any, hubert: bool = False) -> Any:
    layers = [(64, 10, 5), (64, 3, 2), (64, 3, 2), (64, 2, 2)]
    mode = "group_norm" if not hubert else "layer_norm"
    return _First(models.wav2vec2_model(mode, layers, False, 64, 0.0, 16, 4, 2, 4, 0.0, 128, 0.0, 0.0, hubert, 0.0, 32))


def _tacotron2_encoder(models: Any) -> Any:
    return models.tacotron2._Encoder(512, 3, 5)


def _diffusers(net: str) -> Made:
    import diffusers
    import torch

    picture, latent, time = torch.randn(1, 3, 32, 32), torch.randn(1, 4, 16, 16), torch.tensor([10])
    words = torch.randn(1, 8, 32)
    blocks = {"block_out_channels": (32, 64), "norm_num_groups": 8}
    cross = {"down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D")}
    conditioned = {**blocks, **cross, "layers_per_block": 1, "cross_attention_dim": 32, "attention_head_dim": 8}
    coders = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, **blocks}
    heads = {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 2}
    makers: Mapping[str, Any] = {
        "unet2d": lambda: (
            diffusers.UNet2DModel(
                **blocks,
                layers_per_block=1,
                down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                up_block_types=("AttnUpBlock2D", "UpBlock2D"),
            ),
            (picture, time),
        ),
        "unet2d_condition": lambda: (
            diffusers.UNet2DConditionModel(**conditioned, up_block_types=("CrossAttnUpBlock2D", "UpBlock2D")),
            (latent, time, words),
        ),
        "controlnet": lambda: (
            diffusers.ControlNetModel(**conditioned, conditioning_embedding_out_channels=(16, 32)),
            (latent, time, words, torch.randn(1, 3, 32, 32)),
        ),
        "autoencoder_kl": lambda: (diffusers.AutoencoderKL(**coders), picture),
        "asymmetric_kl": lambda: (
            diffusers.AsymmetricAutoencoderKL(
                down_block_out_channels=(32, 64),
                up_block_out_channels=(32, 64),
                norm_num_groups=8,
                down_block_types=("DownEncoderBlock2D",) * 2,
                up_block_types=("UpDecoderBlock2D",) * 2,
            ),
            picture,
        ),
        "vq_model": lambda: (diffusers.VQModel(**coders, num_vq_embeddings=64), picture),
        "autoencoder_tiny": lambda: (
            diffusers.AutoencoderTiny(
                encoder_block_out_channels=(32, 32),
                decoder_block_out_channels=(32, 32),
                num_encoder_blocks=(1, 1),
                num_decoder_blocks=(1, 1),
            ),
            picture,
        ),
        "dit": lambda: (
            diffusers.DiTTransformer2DModel(**heads, sample_size=16, num_embeds_ada_norm=100),
            {"hidden_states": latent, "timestep": time, "class_labels": torch.tensor([1])},
        ),
        "pixart": lambda: (
            diffusers.PixArtTransformer2DModel(
                **heads, sample_size=16, cross_attention_dim=32, caption_channels=32, use_additional_conditions=False
            ),
            {"hidden_states": latent, "encoder_hidden_states": words, "timestep": time},
        ),
        "sd3_transformer": lambda: (
            diffusers.SD3Transformer2DModel(
                sample_size=16,
                in_channels=4,
                num_layers=2,
                attention_head_dim=16,
                num_attention_heads=2,
                joint_attention_dim=32,
                caption_projection_dim=32,
                pooled_projection_dim=32,
                out_channels=4,
            ),
            (latent, words, torch.randn(1, 32), time),
        ),
        "flux_transformer": lambda: (
            diffusers.FluxTransformer2DModel(
                in_channels=4,
                num_layers=1,
                num_single_layers=1,
                attention_head_dim=16,
                num_attention_heads=2,
                joint_attention_dim=32,
                pooled_projection_dim=32,
                axes_dims_rope=(4, 4, 8),
            ),
            {
                "hidden_states": torch.randn(1, 16, 4),
                "encoder_hidden_states": words,
                "pooled_projections": torch.randn(1, 32),
                "timestep": torch.tensor([0.5]),
                "img_ids": torch.zeros(16, 3),
                "txt_ids": torch.zeros(8, 3),
            },
        ),
    }
    module, inputs = makers[net]()
    return _First(module.eval()), inputs


def _wrapper(pick: Any) -> Any:
    """A class of modules that give one tensor out of what the wrapped module gives."""
    import torch

    class Wrapper(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.module = module
            self.forward = self._named(module.forward)

        def _named(self, forward: Any) -> Any:
            def call(*places: Any, **names: Any) -> Any:
                return pick(self.module(*places, **names))

            call.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]
            return call

    return Wrapper


def _Logits(module: Any) -> Any:  # noqa: N802
    return _wrapper(lambda found: found.logits)(module)


def _First(module: Any) -> Any:  # noqa: N802
    return _wrapper(lambda found: next(iter(found.values())) if hasattr(found, "values") else found[0])(module)


def _Last(module: Any) -> Any:  # noqa: N802
    return _wrapper(lambda found: found[-1])(module)


def _Detector(module: Any) -> Any:  # noqa: N802
    """A detector of one picture, which gives its boxes, scores and labels."""
    import torch

    class Detector(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, image: Any) -> Any:
            [found] = self.module([image])
            return found

    return Detector()
