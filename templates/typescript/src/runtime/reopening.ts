// A session that may be closed between runs, and is opened again by the next one.

import { abortable } from './permitting.js';
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

  /**
   * Does something with the session, at once where it is open. Until that has ended it is not released. Whoever waits for
   * it to be opened stops when `signal` is aborted: it is there for the next one.
   */
  async use<Result>(work: (session: Session) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    this.users += 1;
    try {
      return await work(this.session ?? (await abortable(this.open(), signal)));
    } finally {
      this.users -= 1;
      if (this.isEnded) this.release();
    }
  }

  /** Closes the session if nothing uses it. Whether it was. */
  release(): boolean {
    if (this.session === null || this.users > 0) return false;
    this.lose(this.session);
    return true;
  }

  /** Closes a session that is of no use any more: the next run opens another. */
  lose(session: Session): void {
    if (this.session !== session) return;
    session.close();
    this.session = null;
  }

  /** Puts another session in the place of one that is open, and closes that: its runs end by themselves. */
  replace(session: Session): void {
    const before = this.session;
    this.session = session;
    before?.close();
  }

  /** Closes the session for good, after the last who uses it. */
  end(): void {
    this.isEnded = true;
    this.release();
  }

  private open(): Promise<Session> {
    this.opening ??= this.openOnce();
    return this.opening;
  }

  private async openOnce(): Promise<Session> {
    try {
      const session = await this.reopen();
      this.session = session;
      if (this.isEnded) this.release(); // nobody waits for it any more
      return session;
    } finally {
      this.opening = null;
    }
  }
}
