package device

/** Tells the test a fact: one line `name<TAB>value` on standard output. */
fun report(name: String, value: Any?) {
    println("$name\t${value.toString().replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")}")
}

/** Runs [action] and reports what it throws, as `name.thrown` and `name.message`. */
fun reportFailure(name: String, action: () -> Unit) {
    val failure = runCatching(action).exceptionOrNull()
    report("$name.thrown", failure?.javaClass?.name)
    report("$name.message", failure?.message)
}
