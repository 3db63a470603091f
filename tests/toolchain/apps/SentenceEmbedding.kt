package apps

import com.example.models.Minilm
import device.report

/** Embeds a batch of sentences that a tokenizer has turned into numbers. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    timed("load") { Minilm.loadBlocking(task.app, task.options) }.use { model ->
        reportModel(model.provider, model.fallbacks, model.info)
        val input = Minilm.Input(batch = task.number("batch"), sequence = task.number("sequence"))
        input.inputIds.put(task.longs("input_ids"))
        input.attentionMask.put(task.longs("attention_mask"))
        input.tokenTypeIds.put(task.longs("token_type_ids"))

        val output = timed("run") { model.runBlocking(input) }

        task.write("last_hidden_state", output.lastHiddenState)
        report("shape", output.lastHiddenStateShape.joinToString(","))
    }
}
