package ai.onnxruntime;

public class TensorInfo {
    public native long[] getShape();

    public native long getNumElements();
}
