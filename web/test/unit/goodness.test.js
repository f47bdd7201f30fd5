// @ts-check
/** What is made of pictures left out in turn. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { advice, bandInWords, goodnessOf, headline, judge } from '../../ui/teach/goodness.js';

const classes = ['cat', 'dog', 'one'];
const name = (/** @type {string|null} */ id) => id ?? 'none of these';

/**
 * A trial with the engine's decision. The tests write every decision down, since no rule of ours may decide here.
 *
 * @param {string} truth @param {string|null} decided a class, null for none of these @param {number[]} answer @param {Partial<import('../../engine/contract.js').Trial>} [more]
 */
function trial(truth, decided, answer, more = {}) {
  const none = 1 - answer.reduce((a, b) => a + b, 0);
  const decision = { class: decided ?? '', doubtful: false, headline: '' };
  return { decision, of: 9, revision: 1, class: truth, pictures: [`${truth}-${answer[0]}`], alone: false, classes, answer, none, ...more };
}

test('an answer is what the engine decided, whatever the numbers are', () => {
  assert.deepEqual(judge(trial('cat', 'cat', [0.7, 0.2, 0])), { truth: 'cat', answer: 'cat', own: 0.7, sure: 0.7, pictures: ['cat-0.7'] });
  for (const numbers of [[0.9, 0.05, 0], [0.6, 0, 0], [0.3, 0.2, 0], [0, 0, 0]]) {
    for (const decided of ['cat', 'dog', 'one', null]) assert.equal(judge(trial('cat', decided, numbers)).answer, decided, `${decided} by ${numbers}`);
  }
  assert.equal(judge(trial('cat', null, [0.6, 0, 0])).sure, 0.4, 'none of these');
});

test('right answers, confusions and misfits are counted, a class of one picture is not asked', () => {
  const trials = [
    trial('cat', 'cat', [0.9, 0.05, 0]), trial('cat', 'dog', [0.1, 0.85, 0], { pictures: ['a', 'b', 'c'] }), trial('cat', 'dog', [0.15, 0.6, 0]),
    trial('dog', 'dog', [0.1, 0.8, 0]), trial('dog', null, [0.1, 0.5, 0]), trial('one', null, [0, 0, 0], { alone: true }),
  ];
  const got = goodnessOf(trials);
  assert.equal(headline(got), '2 of 5 right');
  assert.deepEqual(got.confusions.map(({ truth, answer, trials: { length } }) => [truth, answer, length]), [['cat', 'dog', 2], ['dog', null, 1]]);
  assert.deepEqual(got.misfits.map(({ own }) => own), [0.1, 0.15]);
  assert.deepEqual(got.classes.map(({ id, right, asked, repeats }) => [id, right, asked, repeats]), [['cat', 1, 3, 2], ['dog', 1, 2, 0], ['one', 0, 0, 0]]);
  assert.deepEqual(got.bands, [], 'five trials say nothing of percentages');
  assert.match(advice(got, name), /Add one more picture to “one”: it has only one that counts/);
  const without = goodnessOf(trials.slice(0, 5));
  assert.match(advice(without, name), /“cat” would probably help most: only 1 of 3 right, the smallest share\.$/, 'as the table says');
});

test('advice agrees with the table: the class with the smallest share of right answers, where all are right the least sure one', () => {
  const many = (/** @type {string} */ one, /** @type {string} */ decided, /** @type {number} */ count, /** @type {number[]} */ answer) => Array.from({ length: count }, () => trial(one, decided, answer));
  const kaiser = [...many('cat', 'cat', 8, [0.9, 0.05, 0]), ...many('cat', 'dog', 1, [0.1, 0.8, 0])];
  const pineapple = [...many('dog', 'dog', 5, [0.05, 0.9, 0]), ...many('dog', 'cat', 5, [0.6, 0.3, 0])];
  assert.match(advice(goodnessOf([...kaiser, ...pineapple]), name), /“dog” would .* only 5 of 10 right/);
  assert.match(advice(goodnessOf([...many('cat', 'cat', 5, [0.7, 0.1, 0]), ...many('dog', 'dog', 6, [0.1, 0.85, 0])]), name), /“cat” would .* the least sure of the classes with few pictures\.$/);
});

test('percentages are compared with what came true once there are enough', () => {
  const sure = Array.from({ length: 20 }, (_, i) => trial('cat', i < 19 ? 'cat' : 'dog', i < 19 ? [0.97, 0.01, 0] : [0.01, 0.97, 0]));
  const half = Array.from({ length: 12 }, (_, i) => trial('dog', i < 7 ? 'dog' : 'cat', i < 7 ? [0.2, 0.6, 0] : [0.6, 0.2, 0]));
  const { bands } = goodnessOf([...sure, ...half]);
  assert.deepEqual(bands.map(bandInWords), [
    'Where it was at least 95 % sure, 19 of 20 answers were right.',
    'Where it was 50 to 80 % sure, 7 of 12 answers were right.',
  ]);
});

test('nothing taught twice, and everything right, are told too', () => {
  assert.match(headline(goodnessOf([trial('one', null, [0, 0, 0], { alone: true })])), /Add a second picture/);
  assert.match(headline(goodnessOf([])), /Add a second picture/);
  const fine = goodnessOf([trial('cat', 'cat', [0.99, 0, 0]), trial('dog', 'dog', [0, 0.99, 0])]);
  assert.equal(headline(fine), 'Both right');
  assert.match(advice(fine, name), /told apart well so far/);
  const much = goodnessOf(['cat', 'dog'].flatMap((one, k) => Array.from({ length: 5 }, () => trial(one, one, k ? [0, 0.99, 0] : [0.99, 0, 0]))));
  assert.equal(headline(much), 'All 10 right');
  assert.match(advice(much, name), /more pictures would change little/);
});

test('a single class is not called told apart', () => {
  const alone = goodnessOf([trial('cat', 'cat', [0.99, 0, 0]), trial('cat', 'cat', [0.99, 0, 0])]);
  assert.match(advice(alone, name), /“cat” is the only class: add a second one/);
  assert.equal(headline(goodnessOf([trial('cat', 'cat', [0.99, 0, 0])])), '1 of 1 right');
});
