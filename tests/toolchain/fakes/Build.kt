package android.os

/** The device: API level 34 and no known chip, unless the Java properties `android.sdk` and `android.soc` say others. */
public class Build {
    public class VERSION {
        public companion object {
            @JvmField public val RELEASE: String = "14"

            @JvmField public val SDK_INT: Int = Integer.getInteger("android.sdk", 34)
        }
    }

    public companion object {
        @JvmField public val SOC_MODEL: String = socModel()

        @JvmField public val FINGERPRINT: String = "maker/phone:14/1:user/release-keys"

        @JvmField public val MANUFACTURER: String = "Maker"

        @JvmField public val MODEL: String = "Phone"

        @JvmField public val SUPPORTED_ABIS: Array<String> = arrayOf("x86_64")

        @JvmField public val SUPPORTED_64_BIT_ABIS: Array<String> = arrayOf("x86_64")

        /** Android 11 and older have no such field: code that reads it there ends. */
        private fun socModel(): String =
            if (VERSION.SDK_INT >= 31) System.getProperty("android.soc", "unknown") else throw NoSuchFieldError("SOC_MODEL")
    }
}
