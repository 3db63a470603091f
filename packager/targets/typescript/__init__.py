"""TypeScript of npm packages, which targets share: a typed module for every model, over one runtime."""
