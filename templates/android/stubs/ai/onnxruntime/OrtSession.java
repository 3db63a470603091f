package ai.onnxruntime;

import ai.onnxruntime.providers.NNAPIFlags;
import ai.onnxruntime.providers.OrtCUDAProviderOptions;
import ai.onnxruntime.providers.OrtTensorRTProviderOptions;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

public class OrtSession implements AutoCloseable {
    public native Result run(
        Map<String, ? extends OnnxTensorLike> inputs,
        Set<String> requestedOutputs,
        Map<String, ? extends OnnxValue> pinnedOutputs,
        RunOptions options)
        throws OrtException;

    public native Map<String, NodeInfo> getInputInfo() throws OrtException;

    public native Map<String, NodeInfo> getOutputInfo() throws OrtException;

    public native String endProfiling() throws OrtException;

    public native OnnxModelMetadata getMetadata() throws OrtException;

    public native void close() throws OrtException;

    public static class Result implements AutoCloseable {
        public native Optional<OnnxValue> get(String name);

        public native void close();
    }

    public static class RunOptions implements AutoCloseable {
        public RunOptions() throws OrtException {}

        public native void setTerminate(boolean isEnded) throws OrtException;

        public native void close();
    }

    public static class SessionOptions implements AutoCloseable {
        public native void addConfigEntry(String key, String value) throws OrtException;

        public native void addCUDA(OrtCUDAProviderOptions options) throws OrtException;

        public native void addCoreML(Map<String, String> options) throws OrtException;

        public native void addDirectML(int device) throws OrtException;

        public native void addExecutionProvider(java.util.List<OrtEpDevice> devices, Map<String, String> options)
            throws OrtException;

        public native void addNnapi(EnumSet<NNAPIFlags> flags) throws OrtException;

        public native void addOpenVINO(String device) throws OrtException;

        public native void addQnn(Map<String, String> options) throws OrtException;

        public native void addTensorrt(OrtTensorRTProviderOptions options) throws OrtException;

        public native void addWebGPU(Map<String, String> options) throws OrtException;

        public native void addXnnpack(Map<String, String> options) throws OrtException;

        public native void disablePerSessionThreads() throws OrtException;

        public native void enableProfiling(String filePath) throws OrtException;

        public native void setIntraOpNumThreads(int threads) throws OrtException;

        public native void close();
    }
}
