// What is used of ONNX Runtime's JavaScript API. Its own types are not there in apps that do without it.
export {};
