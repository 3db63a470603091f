package apps;

import com.example.models.Options;
import com.example.models.OrientationModel;
import com.example.models.Policies;
import com.example.models.Progress;
import com.example.models.Provider;
import com.example.models.Source;
import com.example.models.Verify;
import device.DeviceKt;
import device.InstalledApp;
import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Loads a model as an app in Java does: with options, progress, and a way to end it early. */
public final class Loads {
    private Loads() {}

    public static void main(String[] arguments) throws InterruptedException {
        Map<String, String> given = new TreeMap<>();
        for (String each : arguments) {
            given.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
        }
        InstalledApp app = new InstalledApp(new File(given.get("apk")), new File(given.get("data")));
        Options options = new Options.Builder()
            .providers(Arrays.asList(Provider.CPU))
            .threads(1)
            .verify(Verify.ALWAYS)
            .queue(2)
            .policies(new Policies(false))
            .build();
        Source source = Source.url(given.get("at"));
        if (given.get("do").equals("cancel")) {
            cancel(app, options, source);
            return;
        }
        List<String> told = Collections.synchronizedList(new java.util.ArrayList<>());
        try (OrientationModel model = OrientationModel.loadBlocking(app, options, source, progress -> told.add(shown(progress)))) {
            DeviceKt.report("provider", model.getProvider());
            DeviceKt.report("last", told.get(told.size() - 1));
            DeviceKt.report("options", options);
            OrientationModel.Output output = model.runBlocking(new OrientationModel.Input(1));
            DeviceKt.report("scores", output.getFetchName0().capacity());
            OrientationModel.removeOldDownloadsBlocking(app);
            OrientationModel.removeDownloadsBlocking(app);
        }
        try (OrientationModel bundled = OrientationModel.loadBlocking(app, options)) {
            DeviceKt.report("bundled", bundled.getProvider());
        }
    }

    /** Interrupts the thread that loads as soon as some bytes have come. */
    private static void cancel(InstalledApp app, Options options, Source source) {
        Thread loads = Thread.currentThread();
        try {
            OrientationModel.loadBlocking(app, options, source, progress -> {
                if (progress.getLoadedBytes() > 0) loads.interrupt();
            }).close();
            DeviceKt.report("ended", "loaded");
        } catch (InterruptedException cancelled) {
            DeviceKt.report("ended", "interrupted");
        }
    }

    private static String shown(Progress progress) {
        return progress.getLoadedBytes() + "/" + progress.getTotalBytes();
    }
}
