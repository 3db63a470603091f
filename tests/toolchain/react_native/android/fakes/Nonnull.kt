package javax.annotation

public annotation class Nonnull
