// @ts-check
/** Learning background knowledge from other sessions, in the panel of the page. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, newSession, open, PATIENCE, priorText, status, teach, visit } from './harness.js';
import { describeLearned } from '../../ui/sessions/learning.js';

const names = ['Cat', 'Banana', 'Rocket', 'Umbrella'];
const styles = ['noto', 'twemoji', 'openmoji'];

test('what other sessions teach is learned by one press, measured, and taken back', () => visit({}, async ({ page, site }) => {
  await page.getByText('Learn from my other sessions').click();
  const box = page.locator('#learning');
  const press = () => box.getByRole('button', { name: 'Learn', exact: true }).click();
  for (const name of names) await teach(page, name, styles);
  await press();
  await box.getByRole('alert').filter({ hasText: 'at least 4 classes with 3 pictures each' }).waitFor();

  await newSession(page, 'Garden');
  const prior = await priorText(page);
  await page.keyboard.press('Escape');
  await press();
  const result = box.getByRole('status').filter({ hasText: 'Asked about classes left out of learning' });
  await result.waitFor({ timeout: 2 * PATIENCE });
  const text = await result.textContent() ?? '';
  const pays = text.startsWith('Learned from 4 classes in 1 other session, and in use here.');
  assert.ok(pays || text.startsWith('Learning does not pay: nothing has changed.'), text);
  await eventually(async () => assert.equal(await priorText(page) !== prior, pays));
  await page.keyboard.press('Escape');
  if (pays) {
    await box.getByRole('button', { name: 'Back to before' }).click();
    await status(page, 'The background knowledge from before is used again.');
  }
  await eventually(async () => assert.equal(await priorText(page), prior));
  await open(page, site);
  assert.equal(await priorText(page), prior);
}));

test('what was measured is told in words', () => {
  const told = (/** @type {Uint8Array|null} */ prior, /** @type {number} */ from, /** @type {number} */ to) =>
    describeLearned({ prior, classes: 14, sessions: 2, before: { accuracy: from, loss: 1, auroc: 0.7 }, after: { accuracy: to, loss: 0.9, auroc: 0.7 } });
  const asked = 'Asked about classes left out of learning, one and two pictures each, 71 % of the answers were right before';
  assert.equal(told(new Uint8Array(1), 0.71, 0.76), `Learned from 14 classes in 2 other sessions, and in use here. ${asked}, 76 % after it.`);
  assert.equal(told(new Uint8Array(1), 0.71, 0.71), `Learned from 14 classes in 2 other sessions, and in use here. ${asked}, 71 % after it, with percentages that are nearer to the truth.`);
  assert.equal(told(null, 0.71, 0.7), `Learning does not pay: nothing has changed. ${asked}, 70 % after it.`);
});
