package ai.onnxruntime.providers;

import ai.onnxruntime.OrtException;

public final class OrtCUDAProviderOptions implements AutoCloseable {
    public OrtCUDAProviderOptions() throws OrtException {}

    public native void add(String key, String value) throws OrtException;

    public native void close();
}
