// @ts-check
/** The page in Firefox, driven by WebDriver BiDi: teach, recognise, reload, a second tab. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { assertProbabilities, assertSame, most, sample } from '../browser/harness.js';
import { ready, recognise, teach, visit } from './firefox.js';

const names = ['Banana', 'Umbrella', 'Bicycle'];

test('three classes are taught and recognised in Firefox, and again after a reload and in a second tab', () => visit(async ({ page, open }) => {
  for (const name of names) await teach(page, name, ['noto', 'twemoji', 'openmoji']);
  /** @type {Record<string, Record<string, number>>} */
  const before = {};
  for (const name of names) {
    const got = before[name] = await recognise(page, sample('emojione', name.toLowerCase()));
    assert.deepEqual(Object.keys(got).sort(), [...names, 'None of these'].sort());
    assertProbabilities(got);
    assert.equal(most(got), name);
  }
  await page.reload();
  await ready(page);
  const other = await open();
  for (const tab of [page, other]) {
    await tab.bringToFront();
    for (const name of names) assertSame(await recognise(tab, sample('emojione', name.toLowerCase())), before[name], name);
  }
}));
