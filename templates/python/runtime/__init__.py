"""What the models of this package share."""
