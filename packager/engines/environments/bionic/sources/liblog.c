// Android's log, written to standard error as `logcat -v brief` shows it: `W/onnxruntime: text`.
#include <stdarg.h>
#include <stdio.h>

static int write_line(int priority, const char *tag, const char *format, va_list arguments) {
    // ANDROID_LOG_VERBOSE is 2, ANDROID_LOG_FATAL is 7 (android/log.h).
    char letter = priority >= 2 && priority <= 7 ? "VDIWEF"[priority - 2] : '?';
    flockfile(stderr);
    int length = fprintf(stderr, "%c/%s: ", letter, tag ? tag : "");
    length += vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    return length + 1;
}

static int write_formatted(int priority, const char *tag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = write_line(priority, tag, format, arguments);
    va_end(arguments);
    return length;
}

int __android_log_vprint(int priority, const char *tag, const char *format, va_list arguments) {
    return write_line(priority, tag, format, arguments);
}

int __android_log_print(int priority, const char *tag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = write_line(priority, tag, format, arguments);
    va_end(arguments);
    return length;
}

int __android_log_write(int priority, const char *tag, const char *text) {
    return write_formatted(priority, tag, "%s", text);
}
