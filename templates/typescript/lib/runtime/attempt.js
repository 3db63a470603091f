// A model that is about to be opened.
export {};
