// What goes into a model and what comes out.
export {};
