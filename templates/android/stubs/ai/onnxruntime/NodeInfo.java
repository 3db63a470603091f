package ai.onnxruntime;

public class NodeInfo {
    public native ValueInfo getInfo();
}
