package android.util

public object Base64 {
    public const val DEFAULT: Int = 0

    /** Throws IllegalArgumentException for what is none. */
    @JvmStatic
    public fun decode(text: String, flags: Int): ByteArray {
        check(flags == DEFAULT)
        return java.util.Base64.getDecoder().decode(text.filterNot { it.isWhitespace() })
    }
}
