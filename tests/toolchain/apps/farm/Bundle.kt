package android.os

public class Bundle {
    public val values: MutableMap<String, Any> = linkedMapOf()

    public fun putInt(key: String, value: Int) {
        values[key] = value
    }

    public fun putString(key: String, value: String) {
        values[key] = value
    }
}
