// @ts-check
/** The package under Node.js: events of a stream. What they are is shown in Go; here, that each call hands it over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, taught } from './installed.js';
import { vector } from './project.js';

/** Four answers a second about one vector. @param {import('../../library/index.js').Classifier} c @param {import('../../library/index.js').Watch} watch @param {import('../../library/index.js').Vector | null} x null for an answer that is sure of none @param {number} from @param {number} n */
function show(c, watch, x, from, n) {
  const prediction = x ? c.predictSync(x) : { probabilities: Object.fromEntries(c.labels.map((label) => [label, 0.01])) };
  return Array.from({ length: n }, (_, i) => watch.next(prediction, from + i / 4)).flat();
}

test('a watch says what comes and what goes', async () => {
  const { c } = await taught(['cup', 'pen']);
  /** @type {import('../../library/index.js').WatchEvent[]} */
  const told = [];
  const watch = c.watch({ onEvent: (event) => told.push(event) });
  assert.equal(watch.here, null);
  assert.deepEqual(show(c, watch, null, 0, 8), []);
  const [came, ...more] = show(c, watch, vector(0, 5), 2, 8);
  assert.deepEqual([more.length, came.label, came.here, came.since, came.probability >= 0.9, watch.here], [0, 'cup', true, 2, true, 'cup']);
  c.renameClass('cup', '日本 mug');
  const [went, next, ...rest] = show(c, watch, vector(1, 5), 4, 8);
  assert.deepEqual([rest.length, went.label, went.here, next.label, next.here], [0, '日本 mug', false, 'pen', true]);
  const gone = [6, 6.25, 6.5, 6.75].flatMap((seconds) => watch.next(null, seconds))[0]; // there is nothing to ask about
  assert.deepEqual([gone.label, gone.here, gone.since, watch.here], ['pen', false, 6, null]);
  assert.deepEqual(told, [came, went, next, gone]);
  c.dispose();
});

test('a listener that throws gets all events, and the watch goes on', async () => {
  const { c } = await taught(['cup', 'pen']);
  /** @type {string[]} */
  const told = [];
  const watch = c.watch({
    onEvent: ({ label, here }) => {
      told.push(`${label} ${here}`);
      throw new Error(told.join());
    },
  });
  /** @param {{cup: number, pen: number}} probabilities @param {number} seconds */
  const next = (probabilities, seconds) => () => watch.next({ probabilities }, seconds);
  assert.throws(next({ cup: 1, pen: 0 }, 0), /^Error: cup true$/);
  assert.equal(watch.here, 'cup');
  assert.throws(next({ cup: 0, pen: 1 }, 2), /^Error: cup true,cup false$/, 'the first error');
  assert.equal(watch.here, 'pen');
  assert.deepEqual(next({ cup: 0, pen: 1 }, 3)(), []);
  assert.deepEqual(told, ['cup true', 'cup false', 'pen true']);
  c.dispose();
});

test('what a watch shows names the class that is here, and one other answer does not change it', async () => {
  const { c } = await taught(['cup', 'pen']);
  const watch = c.watch();
  const nothing = { decision: null, headline: '', first: null, probabilities: null, none: 0 };
  assert.deepEqual({ ...watch.shown }, nothing, 'before any prediction');
  show(c, watch, vector(0, 5), 0, 8);
  assert.deepEqual([watch.shown.decision, watch.shown.first], ['cup', 'cup']);
  const { probabilities, none, headline } = watch.shown;
  assert.ok(Object.isFrozen(probabilities), 'what a caller changes would be shown from then on');
  assert.ok(probabilities && Math.abs(Object.values(probabilities).reduce((sum, p) => sum + p, none) - 1) < 1e-9);
  assert.ok(headline.endsWith(`${Math.round(100 * probabilities.cup)} %`) || /[<>]/.test(headline), 'the headline has the number that is shown beside it');
  assert.match(watch.shown.headline, /cup/);
  show(c, watch, null, 2, 1);
  assert.equal(watch.shown.decision, 'cup', 'after one other answer');
  show(c, watch, null, 2.25, 8);
  assert.deepEqual([watch.here, watch.shown.decision, watch.shown.first], [null, null, null]);
  assert.match(watch.shown.headline, /none of these/);
  watch.next(null, 5);
  assert.deepEqual(watch.shown, nothing, 'with nothing to ask about');
  c.dispose();
});

test('classes that come while it watches are seen, and those that go are gone', async () => {
  const { c } = await taught(['cup']);
  const watch = c.watch();
  c.addExamplesSync([vector(1, 0), vector(1, 1), vector(1, 2)], ['__proto__', '__proto__', '__proto__']);
  assert.deepEqual(
    show(c, watch, vector(1, 5), 0, 8).map(({ label, here }) => [label, here]),
    [['__proto__', true]],
  );
  c.removeClass('__proto__');
  assert.deepEqual(
    show(c, watch, null, 2, 8).map(({ label, here }) => [label, here]),
    [['__proto__', false]],
  );
  c.removeClass('cup');
  assert.deepEqual(watch.next(null, 4), []);
  c.dispose();
});

test('several watches do not disturb each other, and the more false events are allowed, the sooner it is sure', async () => {
  const { c } = await taught(['cup', 'pen']);
  const [strict, lax] = [0.01, 1000].map((falseEventsPerHour) => c.watch({ falseEventsPerHour }));
  const prediction = { probabilities: { cup: 0.8, pen: 0.1 } };
  const at = [strict, lax].map((watch) => [0, 1, 2, 3].findIndex((i) => watch.next(prediction, i / 4).length > 0));
  assert.ok(at[1] >= 0 && (at[0] < 0 || at[0] > at[1]), `${at}`);
  lax.dispose();
  assert.throws(() => lax.next(prediction, 9), refusal('disposed'));
  strict.next(prediction, 9);
  assert.equal(c.watch().next(prediction).length, 0, 'without a time');
  c.dispose();
  assert.throws(() => strict.next(null, 10), refusal('disposed'));
  assert.throws(() => c.watch(), refusal('disposed'));
});

test('what a watch refuses', async () => {
  const { c } = await taught(['cup', 'pen']);
  for (const options of [{ falseEventsPerHour: 0 }, { falseEventsPerHour: NaN }, { falseEventsPerHour: '1' }, { onEvent: 1 }, { perHour: 1 }, 1]) {
    assert.throws(() => c.watch(/** @type {any} */ (options)), refusal('argument'), JSON.stringify(options));
  }
  for (const [value, named] of [
    [-1, '-1'],
    ['often', "'often'"],
    [[], 'an array'],
  ]) {
    const message = `The option falseEventsPerHour is ${named}: it must be a positive number, or be left out for the default.`;
    assert.throws(() => c.watch({ falseEventsPerHour: /** @type {any} */ (value) }), { code: 'argument', message });
  }
  const watch = c.watch();
  watch.next({ probabilities: { cup: 0.1, pen: 0.1 } }, 5);
  for (const probabilities of [{ cup: 1 }, { cup: 1, key: 0 }, { cup: 0.5, pen: '0' }, {}, undefined, { cup: 0.1, pen: 0.1, key: 0.1 }]) {
    assert.throws(() => watch.next(/** @type {any} */ ({ probabilities }), 6), refusal('argument'), JSON.stringify(probabilities));
  }
  assert.throws(() => watch.next(/** @type {any} */ (Promise.resolve()), 6), /after await/);
  for (const [x, named] of [
    [NaN, 'NaN'],
    ['', 'an empty string'],
    [undefined, 'undefined'],
    [false, 'a boolean'],
  ]) {
    const message = `There is ${named} in place of a prediction: hand over what predict answers, after await, or null.`;
    assert.throws(() => watch.next(/** @type {any} */ (x), 6), { code: 'argument', message });
  }
  assert.throws(() => watch.next(null, /** @type {any} */ ('now')), { code: 'argument', message: /^The time is 'now': it must be a number of seconds/ });
  for (const [p, seconds] of [
    [NaN, 6],
    [2, 6],
    [-1, 6],
    [0.5, NaN],
    [0.5, Infinity],
    [0.5, 4],
  ]) {
    assert.throws(() => watch.next({ probabilities: { cup: p, pen: 0 } }, seconds), refusal('value'), `${p} at ${seconds}`);
  }
  assert.deepEqual(watch.next({ probabilities: { cup: 0.1, pen: 0.1 } }, 5), []);
  for (const label of c.labels) c.removeClass(label);
  for (const probabilities of [{}, null]) assert.throws(() => watch.next(/** @type {any} */ ({ probabilities }), 6), refusal('argument'));
  watch.next(null, 6);
  assert.equal(watch.shown.headline, '');
  for (const seconds of ['7', new Date(7)]) assert.throws(() => watch.next(null, /** @type {any} */ (seconds)), refusal('argument'));
  watch.dispose();
  assert.throws(() => watch.next(null, 7), { code: 'disposed', message: /^This watch was disposed of/ });
  c.dispose();
});
