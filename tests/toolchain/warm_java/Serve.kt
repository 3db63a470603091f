/** Java programs, one after the other in one process: classes stay loaded, and compiled, for the next run. */

package warm

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.EOFException
import java.io.InputStream
import java.io.PrintStream
import java.lang.classfile.ClassFile
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption
import java.lang.classfile.ClassHierarchyResolver
import java.lang.classfile.ClassTransform
import java.lang.classfile.CodeTransform
import java.lang.classfile.instruction.InvokeInstruction
import java.lang.constant.ClassDesc
import java.lang.constant.MethodTypeDesc
import java.lang.reflect.InvocationTargetException
import java.net.StandardProtocolFamily
import java.net.URL
import java.net.URLClassLoader
import java.net.UnixDomainSocketAddress
import java.nio.channels.Channels
import java.nio.channels.ServerSocketChannel
import java.nio.channels.SocketChannel
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread

/** A run may take no longer, and a process that waits for one ends after this time. */
const val LONGEST_MS = 600_000L
const val LOOK_MS = 500L
const val KOTLIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"

/** Ends the process after each run, too, by a call of Java's in its main class. */
const val BUNDLETOOL = "com.android.tools.build.bundletool.BundleToolMain"

/** Parameters and result of [Ended.end]: a process and an exit code, as `exit` has them. */
const val END = "(Ljava/lang/Runtime;I)V"

val loaders = HashMap<String, ClassLoader>()
val last = AtomicLong(System.currentTimeMillis())

/** Answers at the socket [arguments]`[0]` until its folder is gone, or nobody asks any more. */
fun main(arguments: Array<String>) {
    System.setProperty("java.awt.headless", "true")
    val place = Path.of(arguments[0])
    val server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
    server.bind(UnixDomainSocketAddress.of(place))
    thread(isDaemon = true) {
        while (Files.exists(place) && System.currentTimeMillis() - last.get() < LONGEST_MS) Thread.sleep(LOOK_MS)
        Runtime.getRuntime().halt(0)
    }
    while (true) server.accept().use(::answer)
}

/**
 * Reads a class path, a main class and its arguments; writes the exit code, and what the program printed: nothing if it
 * throws, so that who asked runs it alone.
 */
fun answer(connection: SocketChannel) {
    val input = DataInputStream(Channels.newInputStream(connection))
    val words =
        try {
            String(ByteArray(input.readInt()).also(input::readFully)).split('\u0000')
        } catch (_: EOFException) {
            return
        }
    last.set(System.currentTimeMillis())
    val isDone = AtomicLong()
    thread(isDaemon = true) {
        val isOver = runCatching { input.read() == -1 }.getOrDefault(false) // false where this process closes it
        if (isOver && isDone.get() == 0L) Runtime.getRuntime().halt(1) // nobody waits for this run any more
    }
    val (code, printed, complaints) =
        try {
            run(words[0], words[1], words.drop(2).toTypedArray())
        } catch (failure: InvocationTargetException) {
            if (failure.targetException is VirtualMachineError) throw failure // this process may be at its end
            return
        } finally {
            isDone.set(1)
            last.set(System.currentTimeMillis())
        }
    val output = DataOutputStream(Channels.newOutputStream(connection))
    for (each in listOf(printed, complaints)) {
        output.writeInt(each.size)
        output.write(each)
    }
    output.writeInt(code)
    output.flush()
}

/** Exit code, standard output and standard error of a program that neither throws nor ends the process. */
fun run(classpath: String, main: String, arguments: Array<String>): Triple<Int, ByteArray, ByteArray> {
    val loader = loaders.getOrPut(classpath) { loader(classpath) }
    val printed = ByteArrayOutputStream()
    val complaints = ByteArrayOutputStream()
    val (before, errorsBefore, inputBefore) = Triple(System.out, System.err, System.`in`)
    System.setOut(PrintStream(printed, true))
    System.setErr(PrintStream(complaints, true))
    System.setIn(ByteArrayInputStream(ByteArray(0)) as InputStream)
    Thread.currentThread().contextClassLoader = loader
    try {
        return Triple(call(loader.loadClass(main), arguments), printed.toByteArray(), complaints.toByteArray())
    } finally {
        System.out.flush()
        System.err.flush()
        System.setOut(before)
        System.setErr(errorsBefore)
        System.setIn(inputBefore)
    }
}

fun loader(classpath: String): ClassLoader {
    val files = classpath.split(java.io.File.pathSeparator).map { Path.of(it).toUri().toURL() }
    return Programs(files.toTypedArray())
}

/** Classes of a program. Where bundletool's main class would end the process, it throws [Ended]. */
class Programs(path: Array<URL>) : URLClassLoader(path, ClassLoader.getPlatformClassLoader()) {
    override fun findClass(name: String): Class<*> = when (name) {
        Ended::class.java.name -> Ended::class.java
        BUNDLETOOL -> changed(name).let { defineClass(name, it, 0, it.size) }
        else -> super.findClass(name)
    }

    private fun changed(name: String): ByteArray {
        val file = ClassFile.of(ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(this)))
        val content = getResourceAsStream("${name.replace('.', '/')}.class")!!.use { it.readAllBytes() }
        val throws = CodeTransform { code, element ->
            if (element is InvokeInstruction && element.isExit()) {
                code.invokestatic(ClassDesc.of(Ended::class.java.name), "end", MethodTypeDesc.ofDescriptor(END))
            } else {
                code.with(element)
            }
        }
        return file.transformClass(file.parse(content), ClassTransform.transformingMethodBodies(throws))
    }
}

fun InvokeInstruction.isExit(): Boolean =
    owner().asInternalName() == "java/lang/Runtime" && name().equalsString("exit")

/** A program that would have ended the process with [code]. */
class Ended(val code: Int) : Error() {
    companion object {
        @JvmStatic
        fun end(@Suppress("UNUSED_PARAMETER") runtime: Runtime, code: Int) {
            throw Ended(code)
        }
    }
}

/**
 * Kotlin's compiler ends the process after each run of `main`, so its method that gives an exit code is called. Other
 * programs throw when they fail, or would end it.
 */
fun call(program: Class<*>, arguments: Array<String>): Int {
    if (program.name != KOTLIN) {
        try {
            program.getMethod("main", Array<String>::class.java).invoke(null, arguments)
        } catch (failure: InvocationTargetException) {
            if ((failure.targetException as? Ended)?.code != 0) throw failure
        }
        return 0
    }
    val run = program.getMethod("exec", PrintStream::class.java, Array<String>::class.java)
    val ended = run.invoke(program.getDeclaredConstructor().newInstance(), System.err, arguments)
    return ended.javaClass.getMethod("getCode").invoke(ended) as Int
}
