"""The client of Hugging Face's hub, from which `mobpack import` fetches models by name."""

from pathlib import Path

from packager.engines.environments.framework import Framework

HUB = Framework(
    name="hub",
    about="huggingface_hub: fetches models by name, `mobpack import hf:owner/name` (24 MB)",
    lock=Path(__file__).with_name("hub.txt"),
    trial="import huggingface_hub, requests",
    settings=(
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("HF_HUB_DISABLE_PROGRESS_BARS", "1"),
        ("HF_HUB_DISABLE_SYMLINKS_WARNING", "1"),
    ),
)
