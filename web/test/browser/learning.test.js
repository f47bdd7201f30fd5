// @ts-check
/** Learning background knowledge from other sessions, in the panel of the page. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, hold, newSession, open, PATIENCE, priorText, status, teach, visit } from './harness.js';
import { describeLearned } from '../../ui/sessions/learning.js';

const names = ['Cat', 'Banana', 'Rocket', 'Umbrella'];
const styles = ['noto', 'twemoji', 'openmoji'];

test('what other sessions teach is learned by one press, measured, and taken back', () =>
  visit({}, async ({ page, site }) => {
    await page.getByText('Learn from my other sessions').click();
    const box = page.locator('#learning');
    const press = () => box.getByRole('button', { name: 'Learn', exact: true }).click();
    for (const name of names) await teach(page, name, styles);
    await press();
    await box.getByRole('alert').filter({ hasText: 'at least 4 classes of 3 different examples each' }).waitFor();

    await newSession(page, 'Garden');
    const prior = await priorText(page);
    await page.keyboard.press('Escape');
    const learn = await hold(page, '**/web/ui/thread.js');
    await box.getByRole('button', { name: 'Learn', exact: true }).press('Enter');
    await box.getByRole('progressbar', { name: 'Learning' }).waitFor();
    await box.getByRole('status').filter({ hasText: 'Learning from your other sessions' }).waitFor();
    await box.locator('button[aria-disabled=true]:focus', { hasText: 'Learning …' }).waitFor(); // it keeps the focus
    learn();
    const result = box.getByRole('status').filter({ hasText: 'Tested on classes left out of learning' });
    await result.waitFor({ timeout: 2 * PATIENCE });
    const text = (await result.textContent()) ?? '';
    const pays = text.startsWith('Learned from 4 classes in 1 other session, and in use here.');
    assert.ok(pays || text.startsWith('Nothing has changed. What is learned is used only if'), text);
    await box.getByRole('button', { name: 'Learn', exact: true }).and(page.locator('[aria-disabled=false]:focus')).waitFor();
    assert.ok(await box.getByRole('progressbar').isHidden());
    await eventually(async () => assert.equal((await priorText(page)) !== prior, pays));
    await page.keyboard.press('Escape');
    if (pays) {
      await box.getByRole('button', { name: 'Restore the previous knowledge' }).click();
      await status(page, 'The previous background knowledge is used again.');
    }
    await eventually(async () => assert.equal(await priorText(page), prior));
    await open(page, site);
    assert.equal(await priorText(page), prior);
  }));

test('what was measured is told in words', () => {
  const told = (/** @type {Uint8Array|null} */ prior) =>
    describeLearned({
      prior,
      classes: 14,
      sessions: 2,
      before: { accuracy: 0.71, unknown: 0.4, loss: 1 },
      after: { accuracy: 0.76, unknown: 0.36, loss: 0.9 },
    });
  const tried =
    'Tested on classes left out of learning, with one and two pictures each: right answers 71 % before, 76 % after; mean chance of “none of these” for something unknown 40 % before, 36 % after.';
  assert.equal(told(new Uint8Array(1)), `Learned from 14 classes in 2 other sessions, and in use here. ${tried} Its percentages are closer to the truth.`);
  assert.equal(told(null), `Nothing has changed. Learned knowledge is used only if its percentages come closer to the truth and nothing gets worse. ${tried}`);
});
