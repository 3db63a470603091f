// How many threads a model has on a hot device.

import type { Backend } from './backend.js';
import type { LoadOptions } from './options.js';
import { policiesOf } from './policies.js';

/** The threads of a model's sessions. */
export class Heat {
  /** Of the session that is open: 0 for the usual number. */
  threads = 0;
  private readonly backend: Backend;
  private readonly half: number;

  private constructor(backend: Backend, usual: number) {
    this.backend = backend;
    this.half = Math.floor(usual / 2);
  }

  /** Null where the app decides how many threads there are, or where there are none to spare. */
  static of(backend: Backend, { threads = 0, policies }: LoadOptions): Heat | null {
    const usual = backend.about().threads;
    return policiesOf(policies).fewerThreadsWhenHot && threads === 0 && usual > 1 ? new Heat(backend, usual) : null;
  }

  /** Whether the device has become hot or cool since the session was opened. */
  isChanged(): boolean {
    return this.wanted !== this.threads;
  }

  /** What the next session gets. */
  follow(): void {
    this.threads = this.wanted;
  }

  private get wanted(): number {
    return this.backend.isHot() ? this.half : 0;
  }
}
