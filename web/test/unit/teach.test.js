// @ts-check
/** Teaching a sample: the class is looked up once the sample is read, which takes a while. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { teach } from '../../ui/kinds/index.js';
import { Classes } from '../../ui/teach/model.js';

/** @param {Classes} model @param {() => void} [meanwhile] what happens while the sample is read */
async function taught(model, meanwhile = () => {}) {
  /** @type {string[]} */
  const labels = [];
  let closed = 0;
  const all = {
    nearest: () => [],
    has: (/** @type {string} */ label) => model.idOf(label) !== '',
    addExampleSync: (/** @type {unknown} */ _, /** @type {string} */ label) => `${labels.push(label)}`,
  };
  const engine = /** @type {any} */ ({
    ready: async () => {},
    taught: all,
    stored: async (/** @type {(all: any) => unknown} */ change) => ({ result: change(all) }),
  });
  const sample = /** @type {any} */ ({
    thumbnail: async () => new Uint8Array(1),
    async embed() {
      meanwhile();
      return new Float32Array(2);
    },
    close: () => closed++,
  });
  const error = await teach(engine, /** @type {any} */ ({ copy: 0 }), () => model.name('c'), sample).then(
    () => '',
    ({ code }) => code,
  );
  return { labels, error, closed };
}

const one = () => {
  const model = new Classes();
  model.set([{ id: 'c', name: 'cup', examples: [], bursts: [] }]);
  return model;
};

test('a class that is renamed while a sample is read gets it, and one that is removed does not come back', async () => {
  const renamed = one();
  const rename = () => renamed.follow({ do: 'put-class', class: 'c', name: 'mug', at: 0 });
  assert.deepEqual(await taught(renamed, rename), { labels: ['mug'], error: '', closed: 1 });
  const removed = one();
  const remove = () => removed.follow({ do: 'drop-class', class: 'c' });
  assert.deepEqual(await taught(removed, remove), { labels: [], error: 'class', closed: 1 });
  assert.throws(() => removed.label('c'), { code: 'class', message: /does not exist any more/ });
});
