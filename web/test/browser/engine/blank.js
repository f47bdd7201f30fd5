// @ts-check
/** The engine by itself in a browser: pages that are blank but for it. */
import { after, before } from 'node:test';
import { serveSite, visit } from '../harness.js';

/** @import {Page} from 'playwright-core' */

/** @type {import('../harness.js').Site} */
export let site;
before(async () => {
  site = await serveSite();
});
after(() => site.stop());

export const DIMENSION = 1280;

/** Visits a blank page of the site. @param {(visit: import('../harness.js').Visit) => Promise<void>} check */
export function blank(check) {
  return visit({ site, open: false, expect: [/favicon/] }, async (visited) => {
    await visited.page.goto(`${site.origin}/LICENSE.txt`);
    await check(visited);
  });
}

/**
 * Starts an engine in the page, as the global `engine`, with some helpers, such as `taught` for its classifier.
 *
 * @param {Page} page
 * @param {{simd?: boolean}} [options]
 */
export async function start(page, options = {}) {
  await page.evaluate(
    async ([dimension, settings]) => {
      const scope = /** @type {any} */ (globalThis);
      const { loadEngine } = await import(/** @type {any} */ ('/tests/modules.js'));
      scope.engine = await loadEngine({ base: `${location.origin}/`, .../** @type {object} */ (settings) });
      // Each method of the classifier, once what it changed is stored: {result, undo}.
      scope.taught = new Proxy(
        {},
        {
          get:
            (_, name) =>
            (/** @type {unknown[]} */ ...args) =>
              scope.engine.stored((/** @type {any} */ all) => all[name](...args)),
        },
      );
      // A picture of class k: the same numbers for the same arguments.
      scope.picture = (/** @type {number} */ k, /** @type {number} */ i) =>
        Float32Array.from({ length: /** @type {number} */ (dimension) }, (_, j) => Math.sin((k + 1) * (j + 1)) + 0.5 * Math.sin(i * 7919 + j * 1.3));
      scope.teach = async (/** @type {string[]} */ names, shots = 3) => {
        for (const [k, name] of names.entries()) {
          await scope.taught.addClass(name);
          for (let i = 0; i < shots; i++) await scope.taught.addExampleSync(scope.picture(k, i), name, { thumbnail: new Uint8Array([k, i]) });
        }
        return names;
      };
      scope.until = (/** @type {(state: any) => boolean} */ is) =>
        new Promise((resolve) => {
          let so = false;
          const look = async () => {
            const state = await scope.engine.state();
            if ((so ||= is(state))) resolve(null);
          };
          scope.engine.on('change', look);
          void look();
        });
      scope.ask = () => scope.engine.taught.predict(scope.picture(0, 50));
      scope.refusal = (/** @type {Promise<unknown>} */ promise) =>
        promise.then(
          () => null,
          (error) => ({ code: error.code, message: error.message }),
        );
    },
    /** @type {const} */ ([DIMENSION, options]),
  );
}

/** Evaluates in the page, where `engine`, `taught`, `teach`, `ask`, `picture`, `refusal` and `until`, which waits for a state, are. @param {Page} page @param {string} code @returns {Promise<any>} */
export const run = (page, code) => page.evaluate(`(async () => { ${code} })()`);
