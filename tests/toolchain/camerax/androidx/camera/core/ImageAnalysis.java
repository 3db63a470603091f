package androidx.camera.core;

import java.util.concurrent.Executor;

public final class ImageAnalysis {
    public static final int STRATEGY_KEEP_ONLY_LATEST = 0;

    private ImageAnalysis() {
    }

    public native void setAnalyzer(Executor executor, Analyzer analyzer);

    public interface Analyzer {
        void analyze(ImageProxy image);
    }

    public static final class Builder {
        public native Builder setBackpressureStrategy(int strategy);

        public native ImageAnalysis build();
    }
}
