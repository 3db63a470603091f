// How a provider is started.
export {};
