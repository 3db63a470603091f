package ai.onnxruntime;

import java.nio.ByteBuffer;

public final class OrtEnvironment implements AutoCloseable {
    public static native OrtEnvironment getEnvironment();

    public native OrtSession createSession(ByteBuffer model, OrtSession.SessionOptions options) throws OrtException;

    public native String getVersion();

    public native void setTelemetry(boolean isOn) throws OrtException;

    public native void close();
}
