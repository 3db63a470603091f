"""Values, names and errors that every part uses; imports nothing of the parts."""
