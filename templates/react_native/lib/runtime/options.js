// How an app loads a model, and what it learns meanwhile.
export {};
