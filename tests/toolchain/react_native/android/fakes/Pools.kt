package androidx.core.util

/** As androidx has it, for React Native's `DynamicFromMap`. */
public class Pools private constructor() {
    public class SimplePool<T : Any>(private val size: Int) {
        private val kept = ArrayDeque<T>()

        public fun acquire(): T? = kept.removeLastOrNull()

        public fun release(instance: T): Boolean = kept.size < size && kept.add(instance)
    }
}
