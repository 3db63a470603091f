package apps;

import com.example.models.Options;
import com.example.models.Source;
import com.example.models.UpdateOptions;
import device.DeviceKt;

/** Makes options as an app in Java does. */
public final class Choices {
    private Choices() {}

    public static void main(String[] arguments) {
        Options options = new Options.Builder().threads(3).spinning(true).build();
        DeviceKt.report("options", options.getThreads() + " " + options.getSpinning() + " " + options.getQueue());
        UpdateOptions updates = new UpdateOptions.Builder().storageLimitBytes(5).fallback(Source.bundled).build();
        DeviceKt.report("updates", updates.getStorageLimitBytes() + " " + updates.getFallback());
        DeviceKt.report("all", options + " " + updates);
    }
}
