// @ts-check
/** The rows of the table environment x entry, one a line: the tests of all environments run in processes of their own. */
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** @typedef {{environment: string, entry: string, result: string, command: string}} Row */

export const ROWS = fileURLToPath(new URL('../../../../build/environments.jsonl', import.meta.url));

/** @param {Row} row */
export const note = (row) => appendFileSync(ROWS, `${JSON.stringify(row)}\n`);
