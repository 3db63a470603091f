// From a conversation to the prompt that a model goes on with.

import { ModelError } from '../errors.js';

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

const LETTERS: ReadonlyMap<unknown, string> = new Map([
  ['system', 's'],
  ['user', 'u'],
  ['assistant', 'a'],
]);
const BLANKS =
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680' +
  '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/**
 * The prompt that asks for the next message.
 *
 * @throws ModelError `bad-input` for a conversation that the template does not take
 */
export function promptOf(template: ChatTemplate, messages: readonly Message[]): string {
  if (messages.length === 0) throw refused('a conversation needs a message');
  const roles = messages.map((message, index) => roleOf(template, message, index + 1)).join('');
  const padded = '^'.repeat(template.before) + roles + '$'.repeat(template.after + 1);
  const width = template.before + 1 + template.after;
  let prompt = '';
  for (let place = 0; place <= messages.length; place += 1) {
    const key = (template.hasFirst ? roles.charAt(0) : '') + padded.slice(place, place + width);
    const piece = template.pieces[key];
    if (piece === undefined) {
      throw refused(template.errors[key] ?? 'the chat template does not take these roles in this order');
    }
    for (const [index, part] of piece.entries()) {
      const source = part.startsWith('f') ? messages[0] : messages[place];
      prompt += index % 2 === 0 ? part : trimmed(source?.text ?? '', part);
    }
  }
  return prompt;
}

/** The letter of its role in keys. */
function roleOf(template: ChatTemplate, { role, text }: Message, number: number): string {
  const letter = LETTERS.get(role);
  const given: unknown = text;
  if (letter === undefined) throw refused(`message ${String(number)} has the role ${JSON.stringify(role)}`);
  if (typeof given !== 'string' || (template.needsText && trimmed(text, '<') === '')) {
    throw refused(`message ${String(number)} has no text`);
  }
  for (const each of template.refused) {
    if (text.includes(each)) throw refused(`message ${String(number)} has '${each}', which the chat template acts on`);
  }
  return letter;
}

/** `text` without what the marks of a slot say: blanks for `<` and `>`, newlines for `[` and `]`. */
function trimmed(text: string, slot: string): string {
  const first = slot.includes('<') ? BLANKS : slot.includes('[') ? '\n' : '';
  const last = slot.includes('>') ? BLANKS : slot.includes(']') ? '\n' : '';
  let start = 0;
  let end = text.length;
  while (start < end && first.includes(text.charAt(start))) start += 1;
  while (start < end && last.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function refused(words: string): ModelError {
  return new ModelError('bad-input', words);
}
