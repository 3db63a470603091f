/** Texts by name, in one database. */
export declare class Texts {
    private readonly name;
    private opened;
    constructor(name: string);
    read(name: string): Promise<string | null>;
    write(name: string, text: string): Promise<void>;
    remove(name: string): Promise<void>;
    names(): Promise<readonly string[]>;
    private ask;
    private database;
    private open;
}
