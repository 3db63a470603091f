package apps

import com.example.models.EveryType
import device.report
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** Passes a tensor of each element type through a model that transposes them. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    EveryType.loadBlocking(task.app, task.options).use { model ->
        reportModel(model.provider, model.fallbacks, model.info)
        val input = EveryType.Input(count = 4, rowsDim1 = 3)
        input.f32.put(task.floats("f32"))
        input.f64.put(task.bytes("f64").asDoubleBuffer())
        input.f16.put(task.bytes("f16").asShortBuffer())
        input.i8.put(task.bytes("i8"))
        input.i16.put(task.bytes("i16").asShortBuffer())
        input.i32.put(task.bytes("i32").asIntBuffer())
        input.i64.put(task.longs("i64"))
        input.u8.put(task.bytes("u8"))
        input.flag.put(task.bytes("flag"))
        listOf("", "a", "Zürich", "日本", "tab\there", "🙂").forEachIndexed { index, word -> input.word[index] = word }
        input.scalar.put(task.floats("scalar"))
        input.rows.put(task.floats("rows"))

        val output = model.runBlocking(input)

        task.write("f32_t", output.f32T)
        task.write("f64_t", raw(48) { it.asDoubleBuffer().put(output.f64T) })
        task.write("f16_t", raw(12) { it.asShortBuffer().put(output.f16T) })
        task.write("i8_t", output.i8T)
        task.write("i16_t", raw(12) { it.asShortBuffer().put(output.i16T) })
        task.write("i32_t", raw(24) { it.asIntBuffer().put(output.i32T) })
        task.write("i64_t", raw(48) { it.asLongBuffer().put(output.i64T) })
        task.write("u8_t", output.u8T)
        task.write("u16_t", raw(12) { it.asShortBuffer().put(output.u16T) })
        task.write("u32_t", raw(24) { it.asIntBuffer().put(output.u32T) })
        task.write("u64_t", raw(48) { it.asLongBuffer().put(output.u64T) })
        task.write("flag_t", output.flagT)
        report("word_t", output.wordT.joinToString("|"))
        task.write("doubled", output.doubled)
        task.write("columns", output.columns)
        report("columns.shape", output.columnsShape.joinToString(","))

        val empty = EveryType.Input(count = 0, rowsDim1 = 3)
        report("columns.shape of no rows", model.runBlocking(empty, output).columnsShape.joinToString(","))
        report("columns of no rows", output.columns.capacity())
    }
}

private fun raw(size: Int, fill: (ByteBuffer) -> Unit): ByteBuffer =
    ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN).also(fill)
