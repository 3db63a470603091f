"""Apple's .xcframework: reads, checks and repackages them."""
