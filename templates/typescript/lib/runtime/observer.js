// What an app is told of its models: when they are loaded, run and released.
export {};
