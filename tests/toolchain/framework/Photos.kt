// Shows photos to the package of the sample apps in Android's own framework, by every way that Android has to them.
package framework

import android.app.Activity
import android.app.Application
import android.content.ComponentCallbacks
import android.content.ComponentCallbacks2
import android.content.ContentProvider
import android.content.ContentValues
import android.content.Context
import android.content.ContextWrapper
import android.content.Intent
import android.content.res.AssetManager
import android.database.Cursor
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.graphics.Canvas
import android.graphics.ImageDecoder
import android.media.ExifInterface
import android.net.Uri
import android.os.Build
import android.os.Looper
import android.os.ParcelFileDescriptor
import android.os.PowerManager
import android.view.View
import android.widget.EditText
import android.widget.ListView
import android.widget.TextView
import com.example.picture.MainActivity
import com.example.picture.NotesActivity
import com.example.picture.Photo
import com.example.picture.R
import com.example.vision.Classifier
import com.example.vision.LoadEvent
import com.example.vision.ModelObserver
import com.example.vision.Options
import com.example.vision.Orientation
import com.example.vision.Provider
import com.example.vision.ReleaseEvent
import java.io.File
import java.io.FileOutputStream
import java.util.concurrent.CopyOnWriteArrayList
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf

private const val ADDRESS = "content://com.example.photos/"
private val MANY_WAYS = setOf("upright.jpg", "alpha.png")

/** Another app that has the photos. */
class Photos : ContentProvider() {
    override fun onCreate(): Boolean = true

    override fun openFile(uri: Uri, mode: String): ParcelFileDescriptor =
        ParcelFileDescriptor.open(File(folder, uri.lastPathSegment!!), ParcelFileDescriptor.MODE_READ_ONLY)

    override fun getType(uri: Uri): String? = null

    override fun query(uri: Uri, names: Array<String>?, by: String?, with: Array<String>?, order: String?): Cursor? = null

    override fun insert(uri: Uri, values: ContentValues?): Uri? = null

    override fun update(uri: Uri, values: ContentValues?, by: String?, with: Array<String>?): Int = 0

    override fun delete(uri: Uri, by: String?, with: Array<String>?): Int = 0

    companion object {
        lateinit var folder: File
    }
}

private object Events : ModelObserver {
    val seen = CopyOnWriteArrayList<String>()

    override fun onLoad(event: LoadEvent) {
        seen += "load"
    }

    override fun onRelease(event: ReleaseEvent) {
        seen += "release ${event.reason}"
    }
}

fun main(arguments: Array<String>) {
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    Photos.folder = File(given.getValue("photos"))
    Robolectric.setupContentProvider(Photos::class.java, "com.example.photos")
    val app = RuntimeEnvironment.getApplication()
    Classifier.loadBlocking(app, Options(providers = listOf(Provider.CPU), observer = Events)).use { model ->
        for (photo in Photos.folder.listFiles().orEmpty().sorted()) look(app, model, photo)
        tell(app, model, File(Photos.folder, "upright.jpg"))
    }
    report("kept", File(app.noBackupFilesDir, "mobpack").walk().filter { it.isFile }.joinToString { it.name })
    deflated(app, given.getValue("deflated"))
    report("providers", app.packageManager.getPackageInfo(app.packageName, 8).providers.orEmpty().joinToString { it.name })
    val screens = File(given.getValue("screens"))
    screens(screens)
    if (Build.VERSION.SDK_INT == given.getValue("newest").toInt()) search(screens, given.getValue("query"))
}

private fun look(app: Context, model: Classifier, photo: File) {
    val exif = ExifInterface(photo.path).getAttributeInt(ExifInterface.TAG_ORIENTATION, 0)
    val orientation = Orientation.ofExif(exif)
    fun see(way: String, orientation: Orientation, decode: () -> Bitmap?) = report(
        "${photo.name} $way",
        runCatching { decode()?.let { model.seen(it, orientation) } }.getOrElse { "refused: $it" },
    )
    see("file", orientation) { BitmapFactory.decodeFile(photo.path) }
    if (photo.name !in MANY_WAYS) return
    see("stream", orientation) { photo.inputStream().use { BitmapFactory.decodeStream(it) } }
    see("uri", orientation) { app.contentResolver.openInputStream(Uri.parse(ADDRESS + photo.name)).use { BitmapFactory.decodeStream(it) } }
    see("asset", orientation) { app.assets.open(photo.name).use { BitmapFactory.decodeStream(it) } }
    if (Build.VERSION.SDK_INT >= 28) {
        see("decoder", Orientation.UP) {
            ImageDecoder.decodeBitmap(ImageDecoder.createSource(photo)) { decoder, _, _ ->
                decoder.allocator = ImageDecoder.ALLOCATOR_SOFTWARE
            }
        }
    }
}

private fun Classifier.seen(bitmap: Bitmap, orientation: Orientation): String =
    classifyBlocking(bitmap, orientation).joinToString("|") { "${it.label} ${it.score}" }

/** Heat, and memory that is short, as Android's own services and its Application tell them. */
private fun tell(app: Context, model: Classifier, photo: File) {
    val bitmap = BitmapFactory.decodeFile(photo.path)
    fun events(name: String, happens: () -> Unit) {
        Events.seen.clear()
        happens()
        val answer = model.seen(bitmap, Orientation.UP)
        report(name, "${Events.seen.joinToString()}; ${answer.substringBefore(' ')}")
    }
    val application = app.applicationContext as Application
    events("calm") { application.onTrimMemory(ComponentCallbacks2.TRIM_MEMORY_UI_HIDDEN) }
    events("short") { application.onTrimMemory(ComponentCallbacks2.TRIM_MEMORY_RUNNING_CRITICAL) }
    events("low") { application.onLowMemory() }
    if (Build.VERSION.SDK_INT >= 29) {
        val power = app.getSystemService(PowerManager::class.java)
        shadowOf(power).setCurrentThermalStatus(PowerManager.THERMAL_STATUS_SEVERE)
        val end = System.nanoTime() + 60_000_000_000
        Events.seen.clear()
        // The model asks once a second.
        while (Events.seen.isEmpty() && System.nanoTime() < end) model.seen(bitmap, Orientation.UP)
        report("hot", Events.seen.joinToString())
    }
}

/** An app whose build compressed its assets. */
private fun deflated(app: Context, apk: String) {
    val assets = AssetManager::class.java.getDeclaredConstructor().newInstance()
    AssetManager::class.java.getMethod("addAssetPath", String::class.java).invoke(assets, apk)
    val other = object : ContextWrapper(app) {
        override fun getApplicationContext(): Context = this

        override fun getAssets(): AssetManager = assets

        override fun getPackageCodePath(): String = apk

        override fun registerComponentCallbacks(callback: ComponentCallbacks) = app.registerComponentCallbacks(callback)

        override fun unregisterComponentCallbacks(callback: ComponentCallbacks) =
            app.unregisterComponentCallbacks(callback)
    }
    report("openFd", runCatching { assets.openFd("mobpack/vision/classifier.ort.tflite").length }.getOrElse { "$it" })
    Classifier.loadBlocking(other, Options(providers = listOf(Provider.CPU))).use { model ->
        report("deflated", model.seen(BitmapFactory.decodeFile(File(Photos.folder, "upright.jpg").path), Orientation.UP))
    }
    report("copied", File(app.noBackupFilesDir, "mobpack").walk().filter { it.isFile }.joinToString { it.name })
}

/** The sample app: a user chooses a photo, turns the phone, and leaves. */
private fun screens(folder: File) {
    val main = Robolectric.buildActivity(MainActivity::class.java).setup()
    main.get().draw(File(folder, "empty.png"))
    main.get().findViewById<View>(R.id.choose).performClick()
    val asked = shadowOf(main.get()).nextStartedActivityForResult
    report("asked", asked.intent)
    shadowOf(main.get()).receiveResult(asked.intent, Activity.RESULT_OK, Intent().setData(Uri.parse("${ADDRESS}turned.jpg")))
    report("said", main.get().said())
    main.get().draw(File(folder, "photo.png"))
    main.recreate()
    report("said again", main.get().said())
    main.pause().stop().destroy()
}

/** The other screen: a query finds notes by their meaning. */
private fun search(folder: File, query: String) {
    val notes = Robolectric.buildActivity(NotesActivity::class.java).setup()
    val (typed, state, found) = notes.get().run {
        Triple(findViewById<EditText>(R.id.query), findViewById<TextView>(R.id.state), findViewById<ListView>(R.id.found))
    }
    until { state.text.startsWith("40 ") }
    typed.setText(query)
    until { found.count > 0 }
    report("state", state.text)
    report("found", (0 until found.count).joinToString("|") { (found.getItemAtPosition(it) as Map<*, *>)["title"].toString() })
    notes.get().draw(File(folder, "notes.png"))
    notes.pause().stop().destroy()
}

private fun Activity.said(): String {
    val labels = findViewById<TextView>(R.id.labels)
    until { labels.text.lines().size > 1 }
    return labels.text.toString()
}

/** Does what the main thread has to do until `isTrue`, a minute at most. */
private fun until(isTrue: () -> Boolean) {
    val end = System.nanoTime() + 60_000_000_000
    while (!isTrue() && System.nanoTime() < end) {
        Thread.sleep(20)
        shadowOf(Looper.getMainLooper()).idle()
    }
}

private fun Activity.draw(file: File) {
    val view = window.decorView
    val bitmap = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888)
    view.draw(Canvas(bitmap))
    val named = File(file.parentFile, "${Build.VERSION.SDK_INT}-${file.name}")
    FileOutputStream(named).use { bitmap.compress(Bitmap.CompressFormat.PNG, 100, it) }
}
