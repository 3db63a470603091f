"""Parts of scripts/release that are not commands."""
