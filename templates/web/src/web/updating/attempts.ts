// Notes that a page was left or hidden while a model opened, in localStorage: nothing else is written as a page goes.

import type { Attempts } from '../../runtime/updating/attempts.js';

const EVENTS = ['pagehide', 'visibilitychange'] as const;

/** The attempts of pages with the same folder. Where there is no localStorage, as in workers, nobody is known to leave. */
export class PageAttempts implements Attempts {
  private readonly folder: string;
  private readonly running: Map<string, (event: Event) => void> = new Map();
  /** Attempts during which somebody has left the page, though he may have come back. */
  private readonly unseen: Set<string> = new Set();

  constructor(folder: string) {
    this.folder = folder;
  }

  begin(name: string): void {
    this.end(name);
    this.unseen.delete(name);
    // A browser may end a hidden page without a further word.
    const note = (event?: Event): void => {
      const isLeft = event?.type === 'pagehide' || isHidden();
      if (isLeft) this.unseen.add(name);
      this.keep(name, isLeft);
    };
    note();
    this.running.set(name, note);
    for (const event of EVENTS) globalThis.addEventListener(event, note, { capture: true });
  }

  end(name: string): void {
    const note = this.running.get(name);
    this.running.delete(name);
    if (note !== undefined) for (const event of EVENTS) globalThis.removeEventListener(event, note, { capture: true });
    this.keep(name, false);
  }

  wasLeft(name: string): boolean {
    return storage()?.getItem(this.key(name)) === 'left';
  }

  isSeen(name: string): boolean {
    return !this.unseen.has(name);
  }

  private keep(name: string, isLeft: boolean): void {
    try {
      if (isLeft) storage()?.setItem(this.key(name), 'left');
      else storage()?.removeItem(this.key(name));
    } catch {
      // Full: the attempt counts as one that ended the page.
    }
  }

  private key(name: string): string {
    return `mobpack ${this.folder} ${name}`;
  }
}

/** Workers have no document. */
function isHidden(): boolean {
  return (globalThis as Partial<typeof globalThis>).document?.visibilityState === 'hidden';
}

/** Null in workers, and in pages whose settings forbid it. */
function storage(): Storage | null {
  try {
    return (globalThis as Partial<typeof globalThis>).localStorage ?? null;
  } catch {
    return null;
  }
}
