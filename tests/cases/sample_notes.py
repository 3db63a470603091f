"""sample_apps/notes: the vocabulary that its command writes, and the notes."""

from pathlib import Path

from tests.toolchain.sample_package import NOTES

FOLDER = Path(__file__).parents[2] / NOTES.folder
