"""Packs: the models of a release in the form in which an app's store delivers them beside the app."""
