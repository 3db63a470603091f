import { type PageOptions } from './web/site.js';
/**
 * Says how this page runs the models that are loaded from now on. Without it they run in a worker, on as many threads as
 * the page can have.
 *
 * @throws ModelError `bad-options`
 */
export declare function setUp(options: PageOptions): void;
