import com.android.manifmerger.ManifestMerger2
import com.android.manifmerger.MergingReport
import com.android.utils.StdLogger
import java.io.File

/** Prints an app's manifest, merged with its build type's, unless that is "", and those of its libraries. */
fun main(arguments: Array<String>) {
    val merger = ManifestMerger2.newMerger(
        File(arguments[0]), StdLogger(StdLogger.Level.ERROR), ManifestMerger2.MergeType.APPLICATION,
    )
    merger.withFeatures(ManifestMerger2.Invoker.Feature.REMOVE_TOOLS_DECLARATIONS)
    val applicationId = Regex("package=\"([^\"]+)\"").find(File(arguments[0]).readText())!!.groupValues[1]
    merger.setPlaceHolderValue("applicationId", applicationId)
    if (arguments[1].isNotEmpty()) merger.addFlavorAndBuildTypeManifest(File(arguments[1]))
    arguments.drop(2).forEach { merger.addLibraryManifest(File(it)) }
    val report = merger.merge()
    check(report.result.isSuccess) { report.reportString }
    print(report.getMergedDocument(MergingReport.MergedManifestKind.MERGED))
}
