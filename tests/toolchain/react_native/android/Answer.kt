package reactnative

import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReadableMap
import com.facebook.react.bridge.WritableMap
import java.util.concurrent.CountDownLatch

/** What a call was answered with. */
internal class Answer : Promise {
    var value: ReadableMap? = null
    var code: String? = null
    var words: String? = null
    var thread: String? = null
    private val done = CountDownLatch(1)

    fun await() = done.await()

    override fun resolve(value: Any?) {
        this.value = value as ReadableMap
        finish()
    }

    override fun reject(code: String?, message: String?, throwable: Throwable?) {
        this.code = code
        words = message
        finish()
    }

    private fun finish() {
        check(done.count == 1L) { "answered twice" }
        thread = Thread.currentThread().name
        done.countDown()
    }

    override fun reject(code: String?, message: String?): Unit = unused()

    override fun reject(code: String?, throwable: Throwable?): Unit = unused()

    override fun reject(throwable: Throwable): Unit = unused()

    override fun reject(throwable: Throwable, userInfo: WritableMap): Unit = unused()

    override fun reject(code: String?, userInfo: WritableMap): Unit = unused()

    override fun reject(code: String?, throwable: Throwable?, userInfo: WritableMap): Unit = unused()

    override fun reject(code: String?, message: String?, userInfo: WritableMap): Unit = unused()

    override fun reject(code: String?, message: String?, throwable: Throwable?, userInfo: WritableMap?): Unit = unused()

    @Deprecated("as in React Native")
    override fun reject(message: String): Unit = unused()

    private fun unused(): Nothing = error("another way to reject than the one in use")
}
