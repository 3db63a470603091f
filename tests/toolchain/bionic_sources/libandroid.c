// Android's native framework: ONNX Runtime lists the library and takes nothing from it.
