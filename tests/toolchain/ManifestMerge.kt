import com.android.manifmerger.ManifestMerger2
import com.android.manifmerger.MergingReport
import com.android.utils.StdLogger
import java.io.File

/** Prints an app's manifest, the first argument, merged with those of its libraries, the nearest first. */
fun main(arguments: Array<String>) {
    val merger = ManifestMerger2.newMerger(
        File(arguments[0]), StdLogger(StdLogger.Level.ERROR), ManifestMerger2.MergeType.APPLICATION,
    )
    merger.withFeatures(ManifestMerger2.Invoker.Feature.REMOVE_TOOLS_DECLARATIONS)
    val applicationId = Regex("package=\"([^\"]+)\"").find(File(arguments[0]).readText())!!.groupValues[1]
    merger.setPlaceHolderValue("applicationId", applicationId)
    arguments.drop(1).forEach { merger.addLibraryManifest(File(it)) }
    val report = merger.merge()
    check(report.result.isSuccess) { report.reportString }
    print(report.getMergedDocument(MergingReport.MergedManifestKind.MERGED))
}
