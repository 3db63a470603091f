// Small texts in IndexedDB, which writes them whole or not at all, and to the disk before it says so.

import { ModelError } from '../../runtime/errors.js';

const STORE = 'texts';

/** Texts by name, in one database. */
export class Texts {
  private readonly name: string;
  private opened: Promise<IDBDatabase> | null = null;

  constructor(name: string) {
    this.name = name;
  }

  async read(name: string): Promise<string | null> {
    const found = await this.ask('readonly', (store) => store.get(name) as IDBRequest<string | undefined>);
    return found ?? null;
  }

  async write(name: string, text: string): Promise<void> {
    await this.ask('readwrite', (store) => store.put(text, name));
  }

  async remove(name: string): Promise<void> {
    await this.ask('readwrite', (store) => store.delete(name));
  }

  async names(): Promise<readonly string[]> {
    return (await this.ask('readonly', (store) => store.getAllKeys())).map(String);
  }

  private async ask<Value>(
    mode: 'readonly' | 'readwrite',
    request: (store: IDBObjectStore) => IDBRequest<Value>,
  ): Promise<Value> {
    const database = await this.database();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability: 'strict' });
      const asked = request(transaction.objectStore(STORE));
      transaction.oncomplete = (): void => {
        resolve(asked.result);
      };
      transaction.onabort = (): void => {
        reject(failed(transaction.error));
      };
    });
  }

  private database(): Promise<IDBDatabase> {
    this.opened ??= this.open().catch((reason: unknown) => {
      this.opened = null; // the next call tries again
      throw reason;
    });
    return this.opened;
  }

  private open(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, 1);
      request.onupgradeneeded = (): void => {
        request.result.createObjectStore(STORE);
      };
      request.onerror = (): void => {
        reject(failed(request.error));
      };
      request.onsuccess = (): void => {
        const database = request.result;
        // The browser closes it when somebody clears the data of the site.
        database.onclose = (): void => {
          this.opened = null;
        };
        database.onversionchange = (): void => {
          database.close();
          this.opened = null;
        };
        resolve(database);
      };
    });
  }
}

function failed(reason: DOMException | null): ModelError {
  const code = reason?.name === 'QuotaExceededError' ? 'no-space' : 'unreadable';
  return new ModelError(code, `the browser's database cannot be used: ${String(reason)}`, { cause: reason });
}
