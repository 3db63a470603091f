package com.google.gson

import java.io.Reader
import kotlin.reflect.KClass
import kotlin.reflect.KType
import kotlin.reflect.full.primaryConstructor
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** Makes data classes of JSON, as Gson does, and refuses what Gson would let through as null where none belongs. */
class Gson {
    fun <T : Any> fromJson(reader: Reader, type: Class<T>): T = fromJson(reader.readText(), type)

    fun <T : Any> fromJson(text: String, type: Class<T>): T =
        type.cast(made(type.kotlin, Json.parseToJsonElement(text) as JsonObject))

    private fun made(type: KClass<*>, json: JsonObject): Any {
        val constructor = checkNotNull(type.primaryConstructor)
        val given = constructor.parameters.filterNot { it.isOptional && json[it.name] == null }
        return constructor.callBy(given.associateWith { value(it.type, json[it.name] ?: JsonNull) })
    }

    private fun value(type: KType, json: JsonElement): Any? {
        val wanted = type.classifier as KClass<*>
        return when {
            json is JsonNull && type.isMarkedNullable -> null
            wanted == Map::class && json is JsonObject -> json.mapValues { value(argument(type, 1), it.value) }
            wanted == List::class && json is JsonArray -> json.map { value(argument(type, 0), it) }
            wanted == String::class && json is JsonPrimitive && json.isString -> json.content
            wanted == Boolean::class && json is JsonPrimitive && !json.isString -> json.content.toBooleanStrict()
            wanted.isData && json is JsonObject -> made(wanted, json)
            else -> throw IllegalArgumentException("$json where a $type belongs")
        }
    }

    private fun argument(type: KType, index: Int): KType = checkNotNull(type.arguments[index].type)
}
