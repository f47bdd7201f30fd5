// @ts-check
/** Hangs in a browser, without end: harness.test.js looks whether the limit of time ends it. */
import test from 'node:test';
import { visit } from './harness.js';

test('hangs', () =>
  visit(
    {},
    () =>
      new Promise(() => {
        setInterval(() => {}, 1000);
      }),
  ));
