// What an app says to an updater, and what it is told.
export {};
