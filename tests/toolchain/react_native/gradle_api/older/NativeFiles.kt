import com.facebook.react.tasks.GenerateAutolinkingNewArchitecturesFileTask
import java.io.File
import org.gradle.api.file.DirectoryProperty
import org.gradle.api.file.RegularFileProperty

class NativeFiles(json: File, folder: File) : GenerateAutolinkingNewArchitecturesFileTask() {
    override val autolinkInputFile = RegularFileProperty(json)
    override val generatedOutputDirectory = DirectoryProperty(folder)
}
