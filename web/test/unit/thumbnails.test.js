// @ts-check
/** Images that show one example after another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Thumbnails } from '../../ui/kit/thumbnails.js';

test('an image shows nothing for an example without a thumbnail, whatever it showed before', async () => {
  const thumbnails = new Thumbnails({ thumbnails: async (ids) => ids.map((id) => (id === 'with' ? new Uint8Array(1) : null)) });
  const image = /** @type {any} */ ({
    dataset: {},
    removeAttribute(/** @type {string} */ name) {
      delete this[name];
    },
  });
  for (const [id, shows] of /** @type {const} */ ([
    ['with', true],
    ['without', false],
    ['with', true],
  ])) {
    thumbnails.painter(id)(image);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    assert.equal('src' in image, shows, id);
  }
});
