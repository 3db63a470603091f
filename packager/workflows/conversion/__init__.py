"""Parts of `mobpack export` and `mobpack import`: both compare what a converter wrote with the framework itself."""
