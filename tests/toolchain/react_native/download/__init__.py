"""Downloads of React Native packages, under Node."""
