/** Text that is the same for values of the same content. Memory is the same when it is the same memory. */
export declare function contentKey(value: object): string;
/** A number that no other object has. */
export declare function identityOf(value: object): number;
