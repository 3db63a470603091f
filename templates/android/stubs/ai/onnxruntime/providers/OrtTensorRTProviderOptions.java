package ai.onnxruntime.providers;

import ai.onnxruntime.OrtException;

public final class OrtTensorRTProviderOptions implements AutoCloseable {
    public OrtTensorRTProviderOptions() throws OrtException {}

    public native void add(String key, String value) throws OrtException;

    public native void close();
}
