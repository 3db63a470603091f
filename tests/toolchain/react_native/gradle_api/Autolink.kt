import com.facebook.react.tasks.GeneratePackageListTask
import com.facebook.react.utils.JsonUtils
import java.io.File
import org.gradle.api.file.DirectoryProperty
import org.gradle.api.file.RegularFileProperty

/** What the tasks of React Native's Gradle plugin make of autolinking.json: `Autolink <json> <java folder> <jni folder>`. */
fun main(arguments: Array<String>) {
    val (json, java, jni) = arguments.map(::File)
    checkNotNull(JsonUtils.fromAutolinkingConfigJson(json)) { "React Native cannot read $json" }
    PackageList(json, java).taskAction()
    NativeFiles(json, jni).taskAction()
}

private class PackageList(json: File, folder: File) : GeneratePackageListTask() {
    override val autolinkInputFile = RegularFileProperty(json)
    override val generatedOutputDirectory = DirectoryProperty(folder)
}
