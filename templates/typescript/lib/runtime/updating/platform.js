// What an updater needs of a platform: durable storage, downloads, patches, locks, and what the device says of itself.
export {};
