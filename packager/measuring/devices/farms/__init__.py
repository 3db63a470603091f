"""Device farms: an app that measures and checks on its own, and its results as they come back."""
