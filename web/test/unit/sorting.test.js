// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { after, countsOf, groupsOf, isDoubtful, NONE, percent, tableOf, verdict, WAITING, without } from '../../ui/sort/sorting.js';

/** @import {Sortable} from '../../ui/sort/sorting.js' */

const classes = [{ id: 'c', name: 'Cat' }, { id: 'd', name: 'Dog, small' }];

/** @param {string} name @param {number[]} p of none, and of the classes @param {string} [taught] @returns {Sortable} */
const picture = (name, [none, ...probabilities], taught = '') => ({ name, path: `f/${name}`, taught, held: '',
  answer: { classes: ['c', 'd'], probabilities, none, taken: none >= 0.335 ? -1 : probabilities.indexOf(Math.max(...probabilities)), doubtful: Math.max(none, ...probabilities) < 0.7 } });
const cat = picture('cat.png', [0.05, 0.9, 0.05]);
const doubt = picture('doubt.png', [0.2, 0.5, 0.3]);
const dog = picture('dog.png', [0, 0.004, 0.996]);
const outOfSet = picture('10.png', [0.66, 0.24, 0.1]);
const taught = picture('taught.png', [0.9, 0.1, 0], 'd');
const waiting = { name: 'w', path: 'w', answer: null, taught: '', held: '' };
const all = [cat, doubt, dog, outOfSet, taught, waiting];

test('a picture is none of these from a third on, else the most probable class, or what it was taught as', () => {
  assert.deepEqual(verdict(picture('p', [0.34, 0.64, 0.02])), { id: NONE, probability: 0.34 });
  assert.deepEqual(verdict(picture('p', [0.33, 0.32, 0.35])), { id: 'd', probability: 0.35 });
  assert.deepEqual([cat, outOfSet, taught, waiting].map(verdict),
    [{ id: 'c', probability: 0.9 }, { id: NONE, probability: 0.66 }, { id: 'd', probability: 1 }, { id: WAITING, probability: 0 }]);
  assert.deepEqual(all.filter(isDoubtful), [doubt, outOfSet]);
});

test('what was left out of a class is not of it, and what was none of these needs more to become one, what was one to become none', () => {
  const answer = /** @type {import('../../ui/sort/sorting.js').Answer} */ (cat.answer);
  assert.deepEqual(without(answer, new Set(['c'])), { classes: ['c', 'd'], probabilities: [0, 0.5], none: 0.5, taken: -1, doubtful: true });
  assert.equal(verdict({ ...cat, answer: without(answer, new Set(['c'])) }).id, NONE);
  assert.deepEqual(without({ ...answer, none: 0 }, new Set(['c', 'd'])).none, 1, 'left out of all');
  const torn = picture('torn.png', [0.45, 0.3, 0.25]);
  assert.deepEqual([[NONE, cat], [NONE, doubt], [WAITING, doubt], ['d', doubt], [NONE, outOfSet], ['c', outOfSet], ['c', torn], ['d', torn]].map(([former, item]) => {
    const now = { ...(/** @type {Sortable} */ (item)), ...after(/** @type {string} */ (former), /** @type {any} */ (item).answer) };
    return `${verdict(now).id} ${isDoubtful(now)} ${now.held}`;
  }), ['c false ', `${NONE} true c`, 'c true ', 'c true ', `${NONE} true `, `${NONE} true `, 'c true ', `${NONE} true `]);
  assert.deepEqual(verdict({ ...doubt, held: 'c' }), { id: NONE, probability: 0.2 });
});

test('groups stand in the order taught, within them the most doubtful first', () => {
  const names = (/** @type {Parameters<typeof groupsOf>[2]} */ options) => groupsOf(all, classes, options).map(({ name, items }) => [name, ...items.map((item) => item.name)]);
  assert.deepEqual(names({}), [['Cat', 'doubt.png', 'cat.png'], ['Dog, small', 'dog.png', 'taught.png'], ['None of these', '10.png'], ['Not sorted yet', 'w']]);
  assert.deepEqual(names({ order: 'sure' })[0], ['Cat', 'cat.png', 'doubt.png']);
  assert.deepEqual(names({ order: 'name' })[0], ['Cat', 'cat.png', 'doubt.png']);
  assert.deepEqual(names({ filter: { kind: 'doubtful' } }), [['Cat', 'doubt.png'], ['None of these', '10.png']]);
  assert.deepEqual(names({ filter: { kind: 'group', id: NONE } }), [['None of these', '10.png']]);
  assert.deepEqual(groupsOf([dog], [classes[0]]).map(({ id }) => id), [WAITING], 'of a class that has gone');
  assert.deepEqual(groupsOf([picture('9.png', [0, 1, 0]), picture('10.png', [0, 1, 0])], classes, { order: 'name' })[0].items.map(({ name }) => name), ['9.png', '10.png']);
});

test('counts are those of the groups', () => {
  const { groups, doubtful } = countsOf(all);
  assert.deepEqual([Object.fromEntries(groups), doubtful], [{ c: 2, d: 2, [NONE]: 1, [WAITING]: 1 }, 2]);
});

test('the table has a line for each picture with all probabilities', () => {
  assert.equal(tableOf([cat, taught, waiting], classes), [
    'file,answer,probability,taught as,doubtful,Cat,"Dog, small",none of these',
    'f/cat.png,Cat,0.9000,,,0.9000,0.0500,0.0500',
    'f/taught.png,"Dog, small",1.0000,"Dog, small",,0.0000,1.0000,0.0000',
    'w,,,,,,,', ''].join('\r\n'));
  assert.match(tableOf([{ ...cat, path: 'a "b".png' }], classes), /\r\n"a ""b""\.png",Cat/);
  assert.match(tableOf([cat], [...classes, { id: 'new', name: 'New' }]), /0\.9000,0\.0500,,0\.0500\r\n$/, 'a class that the answer does not know');
});

test('no name is a formula in a spreadsheet', () => {
  for (const name of ["=cmd|' /C calc'!A0", '+1', '-1', '@SUM(A1)', '\t=1', '\r=1']) {
    const cell = /\r/.test(name) ? `"'${name}"` : `'${name}`;
    assert.equal(tableOf([{ ...taught, path: name }], classes.map((one) => ({ ...one, name: one.id === 'd' ? name : one.name }))), [
      `file,answer,probability,taught as,doubtful,Cat,${cell},none of these`, `${cell},${cell},1.0000,${cell},,0.0000,1.0000,0.0000`, ''].join('\r\n'));
  }
});

test('no picture is quite certain', () => {
  assert.deepEqual([0, 0.001, 0.25, 0.994, 0.996, 1].map(percent), ['0 %', '< 1 %', '25 %', '99 %', '> 99 %', '100 %']);
});
