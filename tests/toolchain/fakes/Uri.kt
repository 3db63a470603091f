package android.net

import java.net.URLDecoder

/** An address. */
public class Uri private constructor(private val text: String) {
    override fun toString(): String = text

    public companion object {
        @JvmStatic
        public fun parse(text: String): Uri = Uri(text)

        /** Unlike URLDecoder, Android leaves `+` as it is. */
        @JvmStatic
        public fun decode(text: String): String = URLDecoder.decode(text.replace("+", "%2B"), "UTF-8")
    }
}
