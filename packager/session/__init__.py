"""The program that opens models in ONNX Runtime, whatever interpreter runs it, in a folder without other modules: an
older Python looks there first for what it imports."""
