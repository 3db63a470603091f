// The states of an updater, and who is told of them.

import type { ModelDescriptor } from '../descriptor.js';
import { tell } from '../observing.js';
import { storedModel, type StoredState } from './state.js';
import type { UpdateState, UpdateStates } from './states.js';

/** States of all models of a package. */
export class Telling {
  /** The latest ones. */
  states: UpdateStates;
  private readonly version: string;
  private readonly listeners = new Set<(states: UpdateStates) => void>();

  /** `version` is that of the package. */
  constructor(models: readonly ModelDescriptor[], version: string) {
    const state: UpdateState = { phase: 'unchecked', version, loadedBytes: 0, totalBytes: 0, reason: '' };
    this.version = version;
    this.states = Object.fromEntries(models.map(({ name }) => [name, state]));
  }

  subscribe(listener: (states: UpdateStates) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Shows which versions the next loads open. */
  showVersions(state: StoredState): void {
    for (const name of Object.keys(this.states)) {
      const { active } = storedModel(state, name);
      this.tell(name, { version: active?.version ?? this.version });
    }
  }

  tellAll(change: Partial<UpdateState>): void {
    for (const name of Object.keys(this.states)) this.tell(name, change);
  }

  tell(name: string, change: Partial<UpdateState>): void {
    const before = this.states[name];
    if (before === undefined || Object.entries(change).every(([key, value]) => before[key as keyof UpdateState] === value)) return;
    this.states = { ...this.states, [name]: { ...before, ...change } };
    const { states } = this;
    for (const listener of this.listeners) {
      tell(() => {
        listener(states);
      });
    }
  }
}
