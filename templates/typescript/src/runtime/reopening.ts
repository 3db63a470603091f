// A session that may be closed between runs, and is opened again by the next one.

import { ModelError } from './errors.js';
import type { Session } from './session.js';

/** Counts who uses the session: one that is used is not released. */
export class Reopening {
  /** Null while it is closed. */
  private session: Session | null;
  private readonly reopen: () => Promise<Session>;
  private opening: Promise<Session> | null = null;
  private users = 0;
  private isEnded = false;

  /** `session` is null for one that its first run opens. */
  constructor(session: Session | null, reopen: () => Promise<Session>) {
    this.session = session;
    this.reopen = reopen;
  }

  /** The session, if it is open. */
  get current(): Session | null {
    return this.session;
  }

  /** Does something with the session, at once where it is open. Until that has ended it is not released. */
  async use<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    this.users += 1;
    try {
      return await work(this.session ?? (await this.open()));
    } finally {
      this.users -= 1;
    }
  }

  /** Closes the session if nothing uses it. Whether it was. */
  release(): boolean {
    if (this.session === null || this.users > 0) return false;
    this.session.close();
    this.session = null;
    return true;
  }

  /** Closes the session for good. */
  end(): void {
    this.isEnded = true;
    this.session?.close();
  }

  private open(): Promise<Session> {
    this.opening ??= this.openOnce();
    return this.opening;
  }

  private async openOnce(): Promise<Session> {
    try {
      const session = await this.reopen();
      if (this.isEnded) {
        session.close();
        throw new ModelError('disposed', 'the model was disposed of while it was opened again');
      }
      this.session = session;
      return session;
    } finally {
      this.opening = null;
    }
  }
}
