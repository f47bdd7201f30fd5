// @ts-check
/** Learning a prior on the session's own classes, in the panel of the page. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { assertProbabilities, assertSame, open, PATIENCE, priorText, recognise, sample, status, teach, visit } from './harness.js';
import { LONG } from '../long.js';

const names = ['Cat', 'Banana', 'Rocket', 'Umbrella', 'Bicycle', 'Guitar'];
const styles = ['noto', 'twemoji', 'openmoji', 'fxemoji'];

/** Opens the panel. @param {import('playwright-core').Page} page */
async function panel(page) {
  await page.getByText('Learn from my pictures').click();
  return page.locator('#learning');
}

test('a prior is learned on the session, over a pause and a reload, used, saved and taken back', LONG, () => visit({}, async ({ page, site }) => {
  for (const name of names) await teach(page, name, styles);
  const before = await priorText(page);
  await page.keyboard.press('Escape');
  const probabilities = await recognise(page, sample('emojione', 'cat'));

  let box = await panel(page);
  await box.getByLabel('How long').selectOption({ label: 'Short: 100 rounds' });
  await box.getByRole('button', { name: 'Learn from this session' }).click();
  await box.getByText(/^Round [1-9]\d* of 100/).waitFor();
  await box.getByRole('button', { name: 'Pause' }).click();
  await box.getByText(/^Round \d+ of 100, paused\.$/).waitFor();
  await box.getByRole('img', { name: /classes kept aside/ }).waitFor();
  await box.getByRole('button', { name: 'Resume' }).click();
  await box.getByRole('button', { name: 'Pause' }).click();
  await box.getByText(/^Round \d+ of 100, paused\.$/).waitFor();

  await open(page, site);
  box = await panel(page);
  await box.getByText(/^Round \d+ of 100, interrupted\.$/).waitFor();
  await box.getByRole('button', { name: 'Resume' }).click();
  await box.getByRole('button', { name: 'Use what was learned' }).waitFor({ timeout: 4 * PATIENCE });
  await box.getByText(/answers on classes kept aside/).first().waitFor();

  const download = page.waitForEvent('download', { timeout: PATIENCE });
  await box.getByRole('button', { name: 'Save it to a file' }).click();
  const saved = await readFile(await (await download).path());
  const header = JSON.parse(saved.subarray(8, 8 + Number(saved.readBigUInt64LE())).toString());
  assert.equal(header.__metadata__.format, 'metaqda.prior');

  await box.getByRole('button', { name: 'Use what was learned' }).click();
  await status(page, 'What was learned is in use.');
  assert.match(await priorText(page) ?? '', /^Learned in a browser tab from 6 classes, 100 of 100 rounds: 1,280 numbers per picture, sha256 /);
  const settings = page.getByRole('dialog', { name: 'Settings' });
  const exported = page.waitForEvent('download', { timeout: PATIENCE });
  await settings.getByRole('button', { name: 'Save background knowledge' }).click();
  assert.equal((await exported).suggestedFilename(), 'learned-prior.safetensors');
  await settings.getByRole('button', { name: 'Back to what is built in' }).click();
  await status(page, 'What is built in is in use.');
  assert.equal(await priorText(page), before);
  await page.keyboard.press('Escape');
  await box.getByRole('button', { name: 'Use what was learned' }).click();
  await status(page, 'What was learned is in use.');
  assertProbabilities(await recognise(page, sample('emojione', 'cat')));
  await box.getByRole('button', { name: 'Back to before' }).click();
  await status(page, 'All is as before learning.');
  assert.equal(await priorText(page), before);
  await page.keyboard.press('Escape');
  assertSame(await recognise(page, sample('emojione', 'cat')), probabilities);
}));

test('too little to learn from is said in a sentence, and cancelling leaves everything as it was', LONG, () => visit({}, async ({ page, site }) => {
  await teach(page, 'Cat', styles);
  let box = await panel(page);
  await box.getByRole('button', { name: 'Learn from this session' }).click();
  await box.getByRole('alert').filter({ hasText: 'at least 4 classes with 3 pictures each' }).waitFor();
  for (const name of names.slice(1)) await teach(page, name, styles);
  await box.getByLabel('How long').selectOption({ label: 'Long: 1,000 rounds' });
  await box.getByRole('button', { name: 'Learn from this session' }).click();
  await box.getByText(/^Round [3-9]\d of 1,000/).waitFor();
  await box.getByRole('button', { name: 'Cancel' }).click();
  await status(page, 'Learning was cancelled.');
  await box.getByRole('button', { name: 'Learn from this session' }).waitFor();
  await open(page, site);
  box = await panel(page);
  await box.getByRole('button', { name: 'Learn from this session' }).waitFor();
  await box.getByLabel('Learn from prepared data').setInputFiles({ name: 'x.npz', mimeType: 'application/zip', buffer: Buffer.from('no zip') });
  await box.getByRole('alert').filter({ hasText: 'This data set cannot be used' }).waitFor();
}));
