"""Apple's .xcframework: what is in one, what is wrong with it, and what its code calls for."""
