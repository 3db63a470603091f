# The target that fbjni's .aar brings.
add_library(fbjni::fbjni INTERFACE IMPORTED GLOBAL)
