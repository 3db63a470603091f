// Notes that an app was left while a model opened, in the updater's folder: a system ends apps that nobody sees.

import { isAway, type AppStates } from '../native.js';
import type { Attempts } from './attempts.js';
import type { UpdatePlatform } from './platform.js';

type Texts = Pick<UpdatePlatform, 'readText' | 'writeText'>;

const NAME = 'left.json';

/** The attempts of an app. */
export class AppAttempts implements Attempts {
  private readonly app: AppStates;
  private readonly texts: Texts;
  private readonly running = new Set<string>();
  /** Attempts during which the app was left, though somebody may have come back. */
  private readonly unseen = new Set<string>();
  /** Names of attempts that were left, as they are written down. */
  private left: Promise<ReadonlySet<string>> | null = null;
  private subscription: { remove(): void } | null = null;

  constructor(app: AppStates, texts: Texts) {
    this.app = app;
    this.texts = texts;
  }

  async begin(name: string): Promise<void> {
    this.running.add(name);
    this.unseen.delete(name);
    this.subscription ??= this.app.addEventListener('change', (state) => {
      void this.note([...this.running], isAway(state));
    });
    await this.note([name], isAway(this.app.currentState));
  }

  async end(name: string): Promise<void> {
    this.running.delete(name);
    if (this.running.size === 0) {
      this.subscription?.remove();
      this.subscription = null;
    }
    await this.keep([name], false);
  }

  async wasLeft(name: string): Promise<boolean> {
    return (await this.known()).has(name);
  }

  isSeen(name: string): boolean {
    return !this.unseen.has(name);
  }

  private note(names: readonly string[], isLeft: boolean): Promise<void> {
    if (isLeft) for (const name of names) this.unseen.add(name);
    return this.keep(names, isLeft);
  }

  /** One after the other. What cannot be written down counts as an attempt that ended the app. */
  private keep(names: readonly string[], isLeft: boolean): Promise<void> {
    const kept = this.known().then(async (before) => {
      const after = new Set([...before].filter((name) => !names.includes(name)).concat(isLeft ? names : []));
      const isSame = after.size === before.size && [...after].every((name) => before.has(name));
      if (!isSame) await this.texts.writeText(NAME, JSON.stringify([...after])).catch(() => undefined);
      return after;
    });
    this.left = kept;
    return kept.then(() => undefined);
  }

  private known(): Promise<ReadonlySet<string>> {
    this.left ??= this.read().catch(() => new Set());
    return this.left;
  }

  private async read(): Promise<ReadonlySet<string>> {
    const found: unknown = JSON.parse((await this.texts.readText(NAME)) ?? '[]');
    return new Set(Array.isArray(found) ? found.filter((each) => typeof each === 'string') : []);
  }
}
