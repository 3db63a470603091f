"""Signatures of releases: keys, DSSE envelopes, and OpenSSF Model Signing bundles."""
