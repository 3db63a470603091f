// A channel at an address, and who keeps what is known of it.
export {};
