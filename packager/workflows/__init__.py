"""The commands from top to bottom, one file or folder each; `build.py` is the pipeline."""
