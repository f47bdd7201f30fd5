// @ts-check
/** What is made of pictures left out in turn. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { advice, bandInWords, goodnessOf, headline, judge, spoilsInWords, trialsOf } from '../../ui/teach/goodness.js';

const classes = ['cat', 'dog', 'one'];

/** @param {string} label @param {string|null} [confusedWith] */
const needed = (label, confusedWith = null) => ({ label, confusedWith, doubt: 0.4 });

/** A prediction with the classifier's decision. The tests write every decision down, since no rule of ours may decide here. @param {string|null} decision @param {number[]} answer */
const predicted = (decision, answer) => ({
  label: '',
  probabilities: Object.fromEntries(classes.map((label, i) => [label, answer[i]])),
  none: 1 - answer.reduce((a, b) => a + b, 0),
  decision,
  doubtful: false,
  headline: '',
  first: decision,
});

/** @param {string} label @param {string|null} decided a class, null for none of these @param {number[]} answer @param {string[]} [ids] */
const trial = (label, decided, answer, ids = [`${label}-${answer[0]}`]) => ({ label, ids, prediction: predicted(decided, answer) });

test('an answer is what the classifier decided, whatever the numbers are', () => {
  assert.deepEqual(judge('cat', ['a'], predicted('cat', [0.7, 0.2, 0])), { truth: 'cat', answer: 'cat', own: 0.7, sure: 0.7, ids: ['a'] });
  for (const numbers of [
    [0.9, 0.05, 0],
    [0.6, 0, 0],
    [0.3, 0.2, 0],
    [0, 0, 0],
  ]) {
    for (const decided of ['cat', 'dog', 'one', null]) assert.equal(judge('cat', [], predicted(decided, numbers)).answer, decided, `${decided} by ${numbers}`);
  }
  assert.equal(judge('cat', [], predicted(null, [0.6, 0, 0])).sure, 0.4, 'none of these');
});

test('the frames of a burst, which have one answer, are one trial', () => {
  const [one, other] = [predicted('cat', [0.9, 0, 0]), predicted('cat', [0.8, 0, 0])];
  const left = [
    { id: 'a', label: 'cat', prediction: one },
    { id: 'b', label: 'cat', prediction: one },
    { id: 'c', label: 'cat', prediction: other },
    { id: 'd', label: 'dog', prediction: null },
  ];
  assert.deepEqual(
    trialsOf(left).map(({ label, ids }) => [label, ...ids]),
    [
      ['cat', 'a', 'b'],
      ['cat', 'c'],
      ['dog', 'd'],
    ],
  );
});

test('right answers and confusions are counted, a class of one picture is not asked', () => {
  const trials = [
    trial('cat', 'cat', [0.9, 0.05, 0]),
    trial('cat', 'dog', [0.1, 0.85, 0], ['a', 'b', 'c']),
    trial('cat', 'dog', [0.15, 0.6, 0]),
    trial('dog', 'dog', [0.1, 0.8, 0]),
    trial('dog', null, [0.1, 0.5, 0]),
    trial('one', null, [0, 0, 0]),
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
    got.classes.map(({ label, right, asked, repeats }) => [label, right, asked, repeats]),
    [
      ['cat', 1, 3, 2],
      ['dog', 1, 2, 0],
      ['one', 0, 0, 0],
    ],
  );
  assert.deepEqual(got.bands, [], 'five trials say nothing of percentages');
  assert.match(advice(got, needed('one')), /Add a different picture to “one”: it has only one that counts/);
  assert.equal(advice(got, needed('cat', 'dog')), 'One more picture of “cat” would probably help most, to tell it from “dog”.');
  assert.equal(advice(got, needed('cat')), 'One more picture of “cat” would probably help most, to tell it from “dog”.');
  assert.equal(
    advice(got, needed('dog', 'cat')),
    'One more picture of “dog” would probably help most: some were taken for none of these.',
    'what it is taken for, not what it is like',
  );
});

test('what an example that looks like another class spoils is said in words', () => {
  const one = { label: 'cat', like: 'dog', ids: ['a'], odds: 1, asked: 9, right: 2, logProbability: 0.1 };
  assert.equal(spoilsInWords(one), 'Taught as “cat”, more like “dog”. Without it 2 more of the others would be right.');
  assert.match(spoilsInWords({ ...one, right: -1 }), /Without it 1 fewer of the others would be right\. Keep it if the class is right\.$/);
  assert.match(spoilsInWords({ ...one, right: 0 }), /Without it the others would be surer\.$/);
  assert.equal(
    spoilsInWords({ ...one, right: 0, logProbability: -0.1, ids: ['a', 'b'] }),
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
  assert.match(headline(goodnessOf([trial('one', null, [0, 0, 0])])), /Add a second, different picture/);
  assert.match(headline(goodnessOf([])), /Add a second, different picture/);
  const fine = goodnessOf(['cat', 'dog'].flatMap((one, k) => [1, 2].map(() => trial(one, one, k ? [0, 0.99, 0] : [0.99, 0, 0]))));
  assert.equal(headline(fine), 'All 4 right');
  assert.match(advice(fine, needed('cat', 'dog')), /told apart well so far/);
  const much = goodnessOf(['cat', 'dog'].flatMap((one, k) => Array.from({ length: 5 }, () => trial(one, one, k ? [0, 0.99, 0] : [0.99, 0, 0]))));
  assert.equal(headline(much), 'All 10 right');
  assert.match(advice(much, needed('cat', 'dog')), /more pictures would change little/);
});

test('a single class is not called told apart', () => {
  const alone = goodnessOf([trial('cat', 'cat', [0.99, 0, 0]), trial('cat', 'cat', [0.99, 0, 0])]);
  assert.match(advice(alone, null), /^Only “cat” has examples\. With more good pictures .* With a second class /);
  assert.equal(headline(alone), '2 of 2 recognised as “cat”. Other things were not tried.');
  assert.equal(headline(alone, true), '2 of 2 recognised as “cat” as a whole, not part by part. Other things were not tried.');
});
