// Calls the stand-ins as code compiled for Android would: Android's layouts and numbers, no glibc header.
// Each function returns 0 when the stand-in behaves, else a number that says which step did not.
typedef unsigned long size_t;
typedef struct { long seconds, nanoseconds; } timespec;
#ifdef __x86_64__
typedef __float128 Quad;
#else
typedef long double Quad;
#endif

extern int *__errno(void);
extern size_t strlen(const char *);
extern int strcmp(const char *, const char *);
extern void *memset(void *, int, size_t);
extern void *memcpy(void *, const void *, size_t);
extern void *malloc(size_t);
extern void free(void *);
extern int sigfillset(unsigned long *);
extern int pthread_sigmask(int, const unsigned long *, unsigned long *);
extern long sysconf(int);
extern char *dirname(const char *);
extern int strerror_r(int, char *, size_t);
extern char *__gnu_strerror_r(int, char *, size_t);
extern int open(const char *, int, ...);
extern void *newlocale(int, const char *, void *);
extern Quad strtold_l(const char *, char **, void *);
extern int snprintf(char *, size_t, const char *, ...);
extern int fprintf(void *, const char *, ...);
extern int fflush(void *);
extern char __sF[3 * 152];
extern void *stdout;
extern int pthread_attr_init(void *);
extern int pthread_attr_setstacksize(void *, size_t);
extern int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);
extern int pthread_join(unsigned long, void **);
extern int pthread_mutex_lock(void *);
extern int pthread_mutex_unlock(void *);
extern int pthread_cond_wait(void *, void *);
extern int pthread_cond_timedwait(void *, void *, const timespec *);
extern int pthread_cond_broadcast(void *);
extern int pthread_cond_destroy(void *);

// A fixed-width guard behind an object of Android's size: a stand-in that writes glibc's size destroys it.
#define GUARD 0x5a5a5a5a5a5a5a5aUL

int memory_functions_are_glibcs(void) {
    char *text = malloc(64);
    if (!text) return 1;
    memset(text, 'x', 63);
    text[63] = 0;
    if (strlen(text) != 63) return 2;
    memcpy(text, "ab", 3);
    int same = strcmp(text, "ab");
    free(text);
    return same == 0 ? 0 : 3;
}

int variadic_arguments_pass_through(void) {
    char text[32];
    snprintf(text, sizeof text, "%d %.2f %s", 7, 2.5, "z");
    return strcmp(text, "7 2.50 z") == 0 ? 0 : 1;
}

int errors_reach_the_caller(void) {
    if (open("/no/such/file", 0) != -1) return 1;
    if (*__errno() != 2) return 2;  // ENOENT
    char text[64] = "";
    if (strerror_r(2, text, sizeof text) != 0 || strlen(text) == 0) return 3;
    char other[64];
    return strcmp(__gnu_strerror_r(2, other, sizeof other), text) == 0 ? 0 : 4;
}

int signal_sets_are_eight_bytes(void) {
    unsigned long set[2] = {0, GUARD}, previous[2] = {0, GUARD};
    sigfillset(&set[0]);
    if (set[0] != ~0UL || set[1] != GUARD) return 1;
    unsigned long nothing = 0;
    if (pthread_sigmask(2, &nothing, &previous[0]) != 0) return 2;  // SIG_SETMASK
    return previous[1] == GUARD ? 0 : 3;
}

int sysconf_speaks_androids_numbers(void) {
    if (sysconf(0x27) < 4096 || sysconf(0x27) != sysconf(0x28)) return 1;
    if (sysconf(0x61) < 1 || sysconf(0x60) < sysconf(0x61)) return 2;
    if (sysconf(0x62) < sysconf(0x63)) return 3;
    return sysconf(0x7fff) == -1 ? 0 : 4;
}

int dirname_leaves_a_constant_alone(void) {
    const char *path = "/data/app/base.apk";  // in read-only memory
    return strcmp(dirname(path), "/data/app") == 0 && strcmp(path, "/data/app/base.apk") == 0 ? 0 : 1;
}

// The upper half of a 128-bit IEEE number: sign, 15 bits of exponent, 48 of the fraction.
static unsigned long upper_half(const char *text, void *c_locale) {
    unsigned long halves[2];
    char *end;
    Quad value = strtold_l(text, &end, c_locale);
    memcpy(halves, &value, sizeof halves);
    return *end ? 0 : halves[1];
}

int long_double_is_quadruple_precision(void) {
    void *c_locale = newlocale(0x1fbf, "C", 0);
    if (upper_half("-1.5e3", c_locale) != 0xc009770000000000UL) return 1;
    if (upper_half("0", c_locale) != 0) return 2;
    return upper_half("inf", c_locale) == 0x7fff000000000000UL ? 0 : 3;
}

int old_and_new_standard_streams_work(void) {
    fprintf(&__sF[152], "old ");
    fprintf(stdout, "new");
    fflush(&__sF[152]);
    return 0;
}

static void *nothing(void *argument) { return argument; }

int attributes_of_threads_are_56_bytes(void) {
    unsigned long attributes[8] = {0}, thread;
    attributes[7] = GUARD;
    if (pthread_attr_init(attributes) != 0 || pthread_attr_setstacksize(attributes, 1 << 20) != 0) return 1;
    void *result = 0;
    if (pthread_create(&thread, attributes, nothing, attributes) != 0 || pthread_join(thread, &result) != 0) return 2;
    return result == attributes && attributes[7] == GUARD ? 0 : 3;
}

// Two condition variables side by side, all zero like PTHREAD_COND_INITIALIZER, at both alignments Android allows.
static struct {
    int words[12];
} conditions[2] __attribute__((aligned(4)));
static unsigned long mutex[5];
static int turn;
static struct {
    int padding;
    struct {
        int words[12];
    } condition;
    int guard;
} odd __attribute__((aligned(8))) = {.guard = 0x5a5a5a5a};

static void *second_player(void *rounds) {
    for (long round = 0; round < (long)rounds; round++) {
        pthread_mutex_lock(mutex);
        while (turn != 1) pthread_cond_wait(&odd.condition, mutex);
        turn = 0;
        pthread_cond_broadcast(&conditions[0]);
        pthread_mutex_unlock(mutex);
    }
    return 0;
}

int condition_variables_work_at_any_alignment(void) {
    unsigned long thread;
    long rounds = 2000;
    if (pthread_create(&thread, 0, second_player, (void *)rounds) != 0) return 1;
    for (long round = 0; round < rounds; round++) {
        pthread_mutex_lock(mutex);
        turn = 1;
        pthread_cond_broadcast(&odd.condition);
        while (turn != 0) pthread_cond_wait(&conditions[0], mutex);
        pthread_mutex_unlock(mutex);
    }
    pthread_join(thread, 0);
    timespec past = {1, 0};
    pthread_mutex_lock(mutex);
    int result = pthread_cond_timedwait(&conditions[1], mutex, &past);
    pthread_mutex_unlock(mutex);
    if (result != 110) return 2;  // ETIMEDOUT
    pthread_cond_destroy(&odd.condition);
    for (int word = 0; word < 12; word++)
        if (odd.condition.words[word] != 0) return 3;
    return odd.guard == 0x5a5a5a5a && odd.padding == 0 ? 0 : 4;
}
