// @ts-check
/** What is made of pictures left out in turn. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { advice, bandInWords, goodnessOf, headline, judge, spoilsInWords } from '../../ui/teach/goodness.js';

const classes = ['cat', 'dog', 'one'];
const name = (/** @type {string|null} */ id) => id ?? 'none of these';

const needed = (/** @type {string} */ id, confusedWith = '') => ({ class: id, confusedWith, doubt: 0.4 });

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
  for (const numbers of [
    [0.9, 0.05, 0],
    [0.6, 0, 0],
    [0.3, 0.2, 0],
    [0, 0, 0],
  ]) {
    for (const decided of ['cat', 'dog', 'one', null]) assert.equal(judge(trial('cat', decided, numbers)).answer, decided, `${decided} by ${numbers}`);
  }
  assert.equal(judge(trial('cat', null, [0.6, 0, 0])).sure, 0.4, 'none of these');
});

test('right answers and confusions are counted, a class of one picture is not asked', () => {
  const trials = [
    trial('cat', 'cat', [0.9, 0.05, 0]),
    trial('cat', 'dog', [0.1, 0.85, 0], { pictures: ['a', 'b', 'c'] }),
    trial('cat', 'dog', [0.15, 0.6, 0]),
    trial('dog', 'dog', [0.1, 0.8, 0]),
    trial('dog', null, [0.1, 0.5, 0]),
    trial('one', null, [0, 0, 0], { alone: true }),
  ];
  const got = goodnessOf(trials);
  assert.equal(headline(got), '2 of 5 right');
  assert.deepEqual(
    got.confusions.map(({ truth, answer, trials: { length } }) => [truth, answer, length]),
    [
      ['cat', 'dog', 2],
      ['dog', null, 1],
    ],
  );
  assert.deepEqual(
    got.classes.map(({ id, right, asked, repeats }) => [id, right, asked, repeats]),
    [
      ['cat', 1, 3, 2],
      ['dog', 1, 2, 0],
      ['one', 0, 0, 0],
    ],
  );
  assert.deepEqual(got.bands, [], 'five trials say nothing of percentages');
  assert.match(advice(got, needed('one'), name), /Add one more picture to “one”: it has only one that counts/);
  assert.equal(advice(got, needed('cat', 'dog'), name), 'One more picture of “cat” would probably help most, to tell it from “dog”.');
  assert.equal(advice(got, needed('cat'), name), 'One more picture of “cat” would probably help most, to tell it from “dog”.');
  assert.equal(
    advice(got, needed('dog', 'cat'), name),
    'One more picture of “dog” would probably help most: some were taken for none of these.',
    'what it is taken for, not what it is like',
  );
});

test('what an example that looks like another class spoils is said in words', () => {
  const one = { class: 'cat', like: 'dog', pictures: ['a'], asked: 9, right: 2, logProbability: 0.1 };
  assert.equal(spoilsInWords(one, name), 'Taught as “cat”, more like “dog”. Without it 2 more of the others would be right.');
  assert.match(spoilsInWords({ ...one, right: -1 }, name), /Without it 1 fewer of the others would be right\. Keep it if the class is right\.$/);
  assert.match(spoilsInWords({ ...one, right: 0 }, name), /Without it the others would be surer\.$/);
  assert.equal(
    spoilsInWords({ ...one, right: 0, logProbability: -0.1, pictures: ['a', 'b'] }, name),
    '2 pictures that are nearly the same, taught as “cat”, more like “dog”. Without them the others would be no surer.',
  );
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
  assert.match(advice(fine, needed('cat', 'dog'), name), /told apart well so far/);
  const much = goodnessOf(['cat', 'dog'].flatMap((one, k) => Array.from({ length: 5 }, () => trial(one, one, k ? [0, 0.99, 0] : [0.99, 0, 0]))));
  assert.equal(headline(much), 'All 10 right');
  assert.match(advice(much, needed('cat', 'dog'), name), /more pictures would change little/);
});

test('a single class is not called told apart', () => {
  const alone = goodnessOf([trial('cat', 'cat', [0.99, 0, 0]), trial('cat', 'cat', [0.99, 0, 0])]);
  assert.match(advice(alone, needed(''), name), /“cat” is the only class\. More good pictures .* A second class /);
  assert.equal(headline(goodnessOf([trial('cat', 'cat', [0.99, 0, 0])])), '1 of 1 right');
});
