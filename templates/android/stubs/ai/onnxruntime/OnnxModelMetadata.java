package ai.onnxruntime;

import java.util.Optional;

public class OnnxModelMetadata {
    public native Optional<String> getCustomMetadataValue(String key);
}
