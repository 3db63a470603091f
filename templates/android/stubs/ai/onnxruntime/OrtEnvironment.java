package ai.onnxruntime;

import java.nio.ByteBuffer;

public final class OrtEnvironment implements AutoCloseable {
    public static native OrtEnvironment getEnvironment();

    public static native OrtEnvironment getEnvironment(
        OrtLoggingLevel level, String name, ThreadingOptions options);

    public native OrtSession createSession(ByteBuffer model, OrtSession.SessionOptions options) throws OrtException;

    public native java.util.List<OrtEpDevice> getEpDevices() throws OrtException;

    public native String getVersion();

    public native void registerExecutionProviderLibrary(String name, String path) throws OrtException;

    public native void setTelemetry(boolean isOn) throws OrtException;

    public native void close();

    public static final class ThreadingOptions implements AutoCloseable {
        public native void setGlobalIntraOpNumThreads(int threads) throws OrtException;

        public native void setGlobalInterOpNumThreads(int threads) throws OrtException;

        public native void setGlobalSpinControl(boolean isSpinning) throws OrtException;

        public native void close();
    }
}
