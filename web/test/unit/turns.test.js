// @ts-check
/** Calls of a storage's classifier, and the sessions that are opened between them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { turns } from '../../library/storage/turns.js';

test('calls that wait for a session run before those that are made once it is open', async () => {
  /** @type {string[]} */
  const log = [];
  const open = async (/** @type {string} */ id) => {
    await setImmediate();
    log.push(id);
    if (id === 'gone') throw new Error('There is no such session.');
  };
  const storage = { newSession: open, openSession: open, deleteSession: open, importSession: open };
  const inTurn = turns(storage);
  const call = (/** @type {string} */ name) => inTurn(async () => void log.push(name));
  for (const id of ['desk', 'gone']) {
    const opened = storage.openSession(id);
    const later = () => call('later');
    await Promise.all([opened.then(later, later), call('first'), call('second')]);
    assert.deepEqual(log.splice(0), [id, 'first', 'second', 'later']);
  }
  await Promise.all([storage.openSession('desk'), call('first'), storage.newSession('garden'), call('second')]);
  assert.deepEqual(log, ['desk', 'first', 'garden', 'second']);
});
