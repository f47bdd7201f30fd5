// @ts-check
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

/** A folder of a test file's own, gone after it. @param {string} name */
export function temporaryFolder(name) {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), `${name}-`));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return folder;
}
