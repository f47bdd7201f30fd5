// @ts-check
/** Prints the table environment x entry, as the last run of the tests noted it: `node table.js`. */
import { existsSync, readFileSync } from 'node:fs';
import { WANT } from './programs.js';
import { ROWS } from './rows.js';

/** @type {Map<string, Record<string, string>>} */
const table = new Map();
for (const line of existsSync(ROWS) ? readFileSync(ROWS, 'utf8').trim().split('\n') : []) {
  const { environment, entry, result, command } = /** @type {import('./rows.js').Row} */ (JSON.parse(line));
  table.set(environment, { ...table.get(environment), [entry]: result, command });
}
const head = ['environment', ...Object.keys(WANT)];
const rows = [...table].map(([environment, row]) => [environment, ...head.slice(1).map((entry) => row[entry] ?? '')]);
const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i].length)));
const line = (/** @type {string[]} */ row) =>
  row
    .map((cell, i) => cell.padEnd(widths[i]))
    .join('  ')
    .trimEnd();
console.log(
  [
    '== The npm package, by environment and entry',
    line(head),
    ...rows.map(line),
    '',
    ...[...table].map(([environment, { command }]) => `${environment}:\n  ${command.trim().split('\n').join('\n  ')}`),
  ].join('\n'),
);
