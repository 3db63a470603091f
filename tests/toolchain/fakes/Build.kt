package android.os

/** The device: API level 34 unless the Java property `android.sdk` says another. */
public class Build {
    public class VERSION {
        public companion object {
            @JvmField public val SDK_INT: Int = Integer.getInteger("android.sdk", 34)
        }
    }

    public companion object {
        @JvmField public val SUPPORTED_ABIS: Array<String> = arrayOf("x86_64")

        @JvmField public val SUPPORTED_64_BIT_ABIS: Array<String> = arrayOf("x86_64")
    }
}
