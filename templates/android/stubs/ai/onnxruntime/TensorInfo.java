package ai.onnxruntime;

public class TensorInfo implements ValueInfo {
    public enum OnnxTensorType {}

    public final OnnxTensorType onnxType = null;

    public native long[] getShape();

    public native long getNumElements();
}
