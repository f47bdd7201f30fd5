// @ts-check
/** Files of priors and classifiers that another extractor made. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { card, downloaded, priorText, siteFolder, status, teach, visit, sessionsOf } from './harness.js';

/** @import {Page} from 'playwright-core' */

const shipped = await readFile(path.join(siteFolder, 'prior.safetensors'));

/**
 * A file as another version of the extractor would have made it: one digit of
 * the version in its header differs.
 *
 * @param {Buffer} file
 * @returns {{bytes: Buffer, id: string}}
 */
function ofAnotherExtractor(file) {
  const found = /\\"id\\":\\"([^"\\]+)\\"/.exec(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))).toString());
  assert.ok(found, 'the header names the extractor');
  const bytes = Buffer.from(file);
  const at = bytes.indexOf(found[1]) + found[1].length - 1;
  bytes[at] = bytes[at] === 0x39 ? 0x38 : bytes[at] + 1;
  const length = Number(bytes.readBigUInt64LE(0));
  const {
    __metadata__: { sha256, ...metadata },
    ...tensors
  } = JSON.parse(bytes.subarray(8, 8 + length).toString());
  if (sha256) bytes.write(checksum(metadata, tensors, bytes.subarray(8 + length)), bytes.indexOf(sha256));
  return { bytes, id: bytes.subarray(at - found[1].length + 1, at + 1).toString() };
}

/**
 * The checksum that a file of a session names, by the words of core/model alone.
 *
 * @param {Record<string, string>} metadata
 * @param {Record<string, {dtype: string, shape: number[], data_offsets: [number, number]}>} tensors
 * @param {Buffer} data
 */
function checksum(metadata, tensors, data) {
  const sha256 = (/** @type {string|Buffer} */ what) => createHash('sha256').update(what).digest('hex');
  const parts = [JSON.stringify(Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))))];
  for (const name of Object.keys(tensors).sort()) {
    const {
      dtype,
      shape,
      data_offsets: [from, to],
    } = tensors[name];
    parts.push(JSON.stringify([name, dtype, shape, sha256(data.subarray(from, to))]));
  }
  return sha256(parts.join(','));
}

/** Opens the dialog for it and chooses a file. @param {Page} page @param {'prior'|'classifier'} what @param {Buffer} buffer */
async function load(page, what, buffer) {
  await page.keyboard.press('Escape'); // the other dialog
  const dialog = page.getByRole('dialog', { name: what === 'prior' ? 'Settings' : 'Sessions' });
  await page.getByRole('button', { name: what === 'prior' ? 'Settings' : /^Session:/ }).click();
  await dialog
    .getByLabel(what === 'prior' ? 'Open background knowledge' : 'Open a saved session')
    .setInputFiles({ name: `${what}.safetensors`, mimeType: 'application/octet-stream', buffer });
  return dialog;
}

test('files of another feature extractor are refused in a sentence that names both', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', ['noto', 'twemoji']);
    const before = await priorText(page);
    const prior = ofAnotherExtractor(shipped);
    const dialog = await load(page, 'prior', prior.bytes);
    await dialog
      .getByRole('alert')
      .filter({ hasText: prior.id })
      .filter({ hasText: prior.id.replace(/.$/, '') })
      .waitFor();
    assert.equal(await priorText(page), before);

    await page.keyboard.press('Escape');
    const sessions = await sessionsOf(page);
    const download = await downloaded(page, 'Save this session');
    assert.equal(download.suggestedFilename(), 'My classes.safetensors');
    const exported = await readFile(await download.path());
    await load(page, 'classifier', ofAnotherExtractor(exported).bytes);
    await sessions
      .getByRole('alert')
      .filter({ hasText: `This classifier was made with the feature extractor “${prior.id}”` })
      .waitFor();
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    // A file that another place of the page opens is told where.
    for (const [place, what, file, told] of /** @type {const} */ ([
      [sessions, 'classifier', shipped, 'This file holds background knowledge: open it under Settings, “Open background knowledge”.'],
      [page.getByRole('dialog', { name: 'Settings' }), 'prior', exported, 'This file holds a session: open it under “Session”, “Open a saved session”.'],
    ])) {
      await page.keyboard.press('Escape');
      await load(page, what, file);
      await place.getByRole('alert').filter({ hasText: told }).waitFor();
    }
    await page.keyboard.press('Escape');
    await (await sessionsOf(page)).getByText('For other programs').click();
    const numbers = await readFile(await (await downloaded(page, 'Save the numbers')).path());
    await page.keyboard.press('Escape');
    await load(page, 'classifier', numbers);
    await sessions.getByRole('alert').filter({ hasText: 'This file holds numbers for other programs, which cannot be opened here' }).waitFor();
    await page.keyboard.press('Escape');
    const header = Buffer.from('{"__metadata__":{"format":"pt","extractor":"none"}}'); // of another program
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    await load(page, 'classifier', Buffer.concat([length, header]));
    await sessions.getByRole('alert').filter({ hasText: 'its format is “pt”, want “metaqda.classifier”' }).waitFor();
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      const { arrayBuffer } = Blob.prototype;
      Blob.prototype.arrayBuffer = async () => {
        Blob.prototype.arrayBuffer = arrayBuffer;
        throw new DOMException('The requested file could not be read', 'NotReadableError'); // as of a file of gigabytes
      };
    });
    await load(page, 'classifier', exported);
    await sessions.getByRole('alert').filter({ hasText: 'could not be read: check that it is still there' }).waitFor();
    await page.keyboard.press('Escape');
    await load(page, 'classifier', exported);
    await status(page, 'The session was opened.');
  }));
