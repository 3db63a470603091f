// How many threads a model has on a hot device.

import type { Backend } from './backend.js';
import { now } from './observing.js';
import type { LoadOptions } from './options.js';
import { policiesOf } from './policies.js';
import { PROVIDERS, type Provider } from './providers.js';

/** How long a device must be hot, or cool again, before a model is opened anew: some change every few seconds. */
const HOT_S = 10;
const COOL_S = 60;

/** The threads of a model's sessions. */
export class Heat {
  /** Threads of the session that is open: 0 for the usual number. */
  threads = 0;
  private readonly backend: Backend;
  private readonly half: number;
  /** Since when other threads are wanted; null while those of the session are. */
  private since: number | null = null;

  private constructor(backend: Backend, usual: number) {
    this.backend = backend;
    this.half = Math.floor(usual / 2);
  }

  /** Null where the app decides how many threads there are, or where there are none to spare. */
  static of(backend: Backend, { threads = 0, policies }: LoadOptions): Heat | null {
    const usual = backend.about().threads;
    return policiesOf(policies).fewerThreadsWhenHot && threads === 0 && usual > 1 ? new Heat(backend, usual) : null;
  }

  /** The threads that a session of `provider` should have in place of its own; null as long as those are right. */
  change(provider: Provider): number | null {
    const wanted = this.backend.isHot() ? this.half : 0;
    if (wanted === this.threads || !PROVIDERS[provider].isOnCores) {
      this.since = null;
      return null;
    }
    this.since ??= now();
    return now() - this.since >= (wanted > 0 ? HOT_S : COOL_S) ? wanted : null;
  }

  /** Now sessions have that many. */
  follow(threads: number): void {
    this.threads = threads;
    this.since = null;
  }

  /** The change failed: the next attempt is as much later as the first was. */
  postpone(): void {
    this.since = null;
  }
}
