// Small texts in IndexedDB, which writes them whole or not at all, and to the disk before it says so.
import { ModelError } from '../../runtime/errors.js';
const STORE = 'texts';
/** Texts by name, in one database. */
export class Texts {
    name;
    opened = null;
    constructor(name) {
        this.name = name;
    }
    async read(name) {
        const found = await this.ask('readonly', (store) => store.get(name));
        return found ?? null;
    }
    async write(name, text) {
        await this.ask('readwrite', (store) => store.put(text, name));
    }
    async remove(name) {
        await this.ask('readwrite', (store) => store.delete(name));
    }
    async names() {
        return (await this.ask('readonly', (store) => store.getAllKeys())).map(String);
    }
    async ask(mode, request) {
        const database = await this.database();
        return new Promise((resolve, reject) => {
            const transaction = database.transaction(STORE, mode, { durability: 'strict' });
            const asked = request(transaction.objectStore(STORE));
            transaction.oncomplete = () => {
                resolve(asked.result);
            };
            transaction.onabort = () => {
                reject(failed(transaction.error));
            };
        });
    }
    database() {
        this.opened ??= this.open().catch((reason) => {
            this.opened = null; // the next call tries again
            throw reason;
        });
        return this.opened;
    }
    open() {
        return new Promise((resolve, reject) => {
            const request = indexedDB.open(this.name, 1);
            request.onupgradeneeded = () => {
                request.result.createObjectStore(STORE);
            };
            request.onerror = () => {
                reject(failed(request.error));
            };
            request.onsuccess = () => {
                const database = request.result;
                // The browser closes it when somebody clears the data of the site.
                database.onclose = () => {
                    this.opened = null;
                };
                database.onversionchange = () => {
                    database.close();
                    this.opened = null;
                };
                resolve(database);
            };
        });
    }
}
function failed(reason) {
    const code = reason?.name === 'QuotaExceededError' ? 'no-space' : 'unreadable';
    return new ModelError(code, `the browser's database cannot be used: ${String(reason)}`, { cause: reason });
}
