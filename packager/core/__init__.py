"""Values, names and errors that every part uses. Imports none of the parts."""
