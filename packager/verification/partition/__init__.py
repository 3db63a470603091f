"""What each provider takes of a graph: asked of the provider where it runs here, predicted by its rules where not."""
