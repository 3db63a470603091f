"""Fetches models that are named on Hugging Face's hub: `hf:owner/name`, `zoo:name`."""

from packager.workflows.importing.hub.fetching import Fetched, fetch
from packager.workflows.importing.hub.naming import HubModel, parse

__all__ = ["Fetched", "HubModel", "fetch", "parse"]
