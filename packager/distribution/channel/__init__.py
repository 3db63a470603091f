"""Channels: folders of files from which apps that have shipped get newer models."""
