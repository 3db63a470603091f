package ai.onnxruntime;

public final class OrtEpDevice {
    public native String getEpName();
}
