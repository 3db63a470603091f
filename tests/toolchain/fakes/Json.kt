// The part of JSON that the sample apps' files have: an array of objects of strings.
package org.json

public class JSONArray public constructor(json: String) {
    private val objects = OBJECT.findAll(json).map { JSONObject(it.value) }.toList()

    public fun length(): Int = objects.size

    public fun getJSONObject(index: Int): JSONObject = objects[index]

    private companion object {
        val OBJECT = Regex("""\{[^{}]*}""")
    }
}

public class JSONObject internal constructor(json: String) {
    private val strings = MEMBER.findAll(json).associate { it.groupValues[1] to it.groupValues[2] }

    public fun getString(name: String): String = strings.getValue(name)

    private companion object {
        val MEMBER = Regex(""""([^"\\]*)"\s*:\s*"([^"\\]*)"""")
    }
}
