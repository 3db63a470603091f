"""Attacks on the tool: kills, damage, hostile files, fuzzed models, full and read-only disks."""
