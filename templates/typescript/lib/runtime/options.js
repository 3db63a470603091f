// Options for loading and running a model.
export {};
