// @ts-check
/**
 * The shipped prior against the hand-crafted one, on the samples: taught with
 * some art styles, asked in the others, in the page with its own extractor.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visit } from '../harness.js';
import { LONG } from '../../long.js';

const EPISODES = 40;
const WAY = 5;

/**
 * Runs in a page of its own. Embeds every sample once, then counts how many
 * queries are answered rightly; the same episodes whatever the prior.
 *
 * @param {{episodes: number, way: number, shots: number[], shipped: boolean}} plan
 * @returns {Promise<{shot: number, queries: number, right: number, loss: number}[]>}
 */
async function measure({ episodes, way, shots, shipped }) {
  const { loadEngine } = await import(/** @type {any} */ ('/web/library/storage.js'));
  const { loadExtractor } = await import(/** @type {any} */ ('/web/extractor/index.js'));
  const manifest = await (await fetch('/manifest.json')).json();
  const catalog = await (await fetch('/samples/samples.json')).json();
  const extractor = await loadExtractor({});
  /** @type {Float32Array[][]} by concept, then style */
  const pictures = [];
  for (const concept of catalog.concepts) {
    const row = [];
    for (const style of catalog.styles) {
      const blob = await (await fetch(`/samples/${style.id}/${concept.id}.png`)).blob();
      row.push(await extractor.embed(blob));
    }
    pictures.push(row);
  }
  let seed = 7;
  const random = (/** @type {number} */ n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
  const shuffled = (/** @type {number} */ n) => {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = random(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  };
  const engine = await loadEngine({ base: `${location.origin}/` });
  if (shipped) {
    const file = manifest.files.find((/** @type {{path: string}} */ f) => f.path === 'prior.safetensors');
    await engine.usePrior({ url: '/prior.safetensors', sha256: file.sha256 });
  }
  const answers = [];
  for (const shot of shots) {
    const score = { shot, queries: 0, right: 0, loss: 0 };
    for (let episode = 0; episode < episodes; episode++) {
      const concepts = shuffled(pictures.length).slice(0, way);
      const styles = shuffled(catalog.styles.length);
      /** @type {string[]} */
      const ids = [];
      for (const concept of concepts) {
        const { id } = await engine.addClass(`class ${concept}`);
        ids.push(id);
        for (const style of styles.slice(0, shot)) await engine.addExample(id, pictures[concept][style], null);
      }
      for (const [k, concept] of concepts.entries()) {
        for (const style of styles.slice(shot)) {
          /** @type {{classes: {id: string, probability: number}[]}} */
          const { classes } = await engine.probabilities(pictures[concept][style]);
          const best = classes.reduce((a, b) => (b.probability > a.probability ? b : a));
          const total = classes.reduce((sum, c) => sum + c.probability, 0);
          const own = classes.find((c) => c.id === ids[k])?.probability ?? 0;
          score.right += best.id === ids[k] ? 1 : 0;
          score.loss -= Math.log(Math.max(own / total, 1e-12));
          score.queries++;
        }
      }
      for (const id of ids) await engine.removeClass(id);
    }
    answers.push(score);
  }
  return answers;
}

/** @param {boolean} shipped */
async function answers(shipped) {
  /** @type {Awaited<ReturnType<typeof measure>>} */
  let scores = [];
  await visit({ open: false, expect: [/favicon/] }, async ({ page, site }) => {
    await page.goto(`${site.origin}/LICENSE.txt`);
    scores = await page.evaluate(measure, { episodes: EPISODES, way: WAY, shots: [1, 2, 3], shipped });
  });
  return scores;
}

test('the shipped prior recognises emoji better than the hand-crafted one at 1, 2 and 3 shots', { timeout: 300_000, ...LONG }, async () => {
  const learned = await answers(true);
  const crafted = await answers(false);
  for (const [i, a] of learned.entries()) {
    const b = crafted[i];
    const told = `${a.shot}-shot, ${a.queries} queries: shipped ${(100 * a.right / a.queries).toFixed(1)} %, hand-crafted ${(100 * b.right / b.queries).toFixed(1)} %`
      + `; mean -ln p ${(a.loss / a.queries).toFixed(3)}, ${(b.loss / b.queries).toFixed(3)}`;
    console.log(told);
    assert.equal(a.queries, b.queries);
    assert.ok(a.right > b.right, told);
    assert.ok(a.loss < b.loss, told);
  }
});
