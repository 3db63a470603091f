package android.os

public class Looper private constructor() {
    public companion object {
        private var main: Looper? = null

        @JvmStatic
        public fun getMainLooper(): Looper? = main

        @JvmStatic
        public fun prepareMainLooper() {
            check(main == null) { "it is there" }
            main = Looper()
        }
    }
}
