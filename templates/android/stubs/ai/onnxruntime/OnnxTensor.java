package ai.onnxruntime;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

public class OnnxTensor extends OnnxTensorLike {
    public static native OnnxTensor createTensor(OrtEnvironment env, String[] data, long[] shape) throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, FloatBuffer data, long[] shape) throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, DoubleBuffer data, long[] shape) throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, IntBuffer data, long[] shape) throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, LongBuffer data, long[] shape) throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, ShortBuffer data, long[] shape, OnnxJavaType type)
        throws OrtException;

    public static native OnnxTensor createTensor(OrtEnvironment env, ByteBuffer data, long[] shape, OnnxJavaType type)
        throws OrtException;

    public native Object getValue() throws OrtException;

    public native FloatBuffer getFloatBuffer();

    public native DoubleBuffer getDoubleBuffer();

    public native ByteBuffer getByteBuffer();

    public native ShortBuffer getShortBuffer();

    public native IntBuffer getIntBuffer();

    public native LongBuffer getLongBuffer();

    public native void close();
}
