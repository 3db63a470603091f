/** Who says a message. */
export type Role = 'system' | 'user' | 'assistant';
/** A message of a conversation. */
export interface Message {
    readonly role: Role;
    readonly text: string;
}
/** Pieces of a prompt, one for each message and one for the end, by the roles near it. */
export interface ChatTemplate {
    /** How many roles before that of the message are in its key. */
    readonly before: number;
    /** How many roles after that of the message are in its key. */
    readonly after: number;
    /** Whether a key begins with the role of the first message. */
    readonly hasFirst: boolean;
    /** Whether each message needs a character that is not blank. */
    readonly needsText: boolean;
    /** Texts that no message may have. */
    readonly refused: readonly string[];
    /** Texts and, at each odd place, a text of a message: its own, `m`, or that of the first, `f`, trimmed as marks say. */
    readonly pieces: Readonly<Record<string, readonly string[]>>;
    /** Errors of the template about roles, by key. */
    readonly errors: Readonly<Record<string, string>>;
}
/**
 * The prompt that asks for the next message.
 *
 * @throws ModelError `bad-input` for a conversation that the template does not take
 */
export declare function promptOf(template: ChatTemplate, messages: readonly Message[]): string;
