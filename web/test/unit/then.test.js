// @ts-check
/** When it sees …: which of what happens is reported, and what is kept of actions. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { actionsOf, checked, perHourOf, rulesOf, textOf } from '../../ui/then/actions.js';
import { devices, deviceOf } from '../../ui/then/index.js';
import { messages } from '../../ui/then/messages.js';
import { PAUSE, Presence } from '../../ui/then/presence.js';

const came = (/** @type {string} */ label) => ({ label, here: true, since: 1, probability: 0.95 });
const went = (/** @type {string} */ label) => ({ ...came(label), here: false });

/** A presence of the classes Cup and Pot, with the ids c and p. */
function presence() {
  /** @type {Record<string, string>} */
  const names = { c: 'Cup', p: 'Pot' };
  const made = new Presence({ idOf: (name) => Object.keys(names).find((id) => names[id] === name) ?? '', nameOf: (id) => names[id] ?? '', none: 'None' });
  let now = 0;
  /** What happens, in short, after so many milliseconds. */
  const next = (/** @type {number} */ after, /** @type {import('../../ui/then/presence.js').Happening['event'][]} */ events = [], here = '') => {
    now += after;
    return made.next({ answer: null, events, here }, now).map(({ id, event }) => `${id} ${event.label} ${event.here ? 'comes' : 'goes'}`);
  };
  return { names, next, made, end: () => made.end(now).map(({ id, event }) => `${id} ${event.label} ${event.here ? 'comes' : 'goes'}`) };
}

test('none of these goes with the first class, and comes once nothing has been here for a while', () => {
  const { next } = presence();
  assert.deepEqual(next(PAUSE * 9), []);
  assert.deepEqual(next(0, [came('Cup')], 'Cup'), ['c Cup comes', ' None goes']);
  assert.deepEqual(next(100, [went('Cup')]), ['c Cup goes']);
  assert.deepEqual(next(PAUSE - 1), []);
  assert.deepEqual(next(1), [' None comes']);
  assert.deepEqual(next(PAUSE * 9), [], 'once');
  assert.deepEqual(next(0, [came('Pot')], 'Pot'), ['p Pot comes', ' None goes']);
});

test('from one class to another there is no none of these between', () => {
  const { next } = presence();
  next(0, [came('Cup')], 'Cup');
  assert.deepEqual(next(100, [went('Cup')]), ['c Cup goes']);
  assert.deepEqual(next(PAUSE - 1, [came('Pot')], 'Pot'), ['p Pot comes']);
  assert.deepEqual(next(PAUSE * 9, [went('Pot'), came('Cup')], 'Cup'), ['p Pot goes', 'c Cup comes']);
});

test('what is here goes as the live view ends, and by the name that it has then', () => {
  const { names, next, made, end } = presence();
  next(0, [came('Cup')], 'Cup');
  names.c = 'Mug';
  assert.equal(made.here, 'c');
  assert.deepEqual(end(), ['c Mug goes']);
  assert.deepEqual(end(), []);
  assert.deepEqual(next(PAUSE * 9), [], 'nobody looked meanwhile');
});

test('what is here goes where the engine has begun anew', () => {
  const { next } = presence();
  next(0, [came('Cup')], 'Cup');
  assert.deepEqual(next(1, [], ''), ['c Cup goes']);
});

test('texts of others give possible actions only', () => {
  for (const text of ['', 'null', '7', '[]', '{', '{"come":{}}', '{"come":[7,null,{"text":"x"}]}', undefined])
    assert.deepEqual(actionsOf(text), { come: [], go: [] }, text);
  const of = (/** @type {string} */ id, /** @type {object} */ action) => checked(/** @type {any} */ (deviceOf(id)), { device: id, ...action });
  assert.deepEqual(of('midi', { note: 1e9, channel: 'x', more: 1 }), { device: 'midi', note: 127, channel: 1 });
  assert.deepEqual(of('midi', { note: 0.4, channel: 16 }), { device: 'midi', note: 0, channel: 16 });
  assert.deepEqual(of('serial', { text: 7, speed: '1' }), { device: 'serial', text: '', speed: '115200' });
  assert.equal(of('speech', { text: 'x'.repeat(999) }).text.length, 300);
  assert.deepEqual(of('tone', { sound: 'constructor' }), { device: 'tone', sound: 'ding' });
  for (const device of devices) assert.match(device.words(checked(device, { device: device.id })), /^[a-z]/, device.id);
});

test('the false alarms that a session allows stay with its actions, and impossible ones do not count', () => {
  const none = { come: [{ device: 'tone', sound: 'ding' }], go: [] };
  assert.equal(perHourOf(''), 1);
  assert.equal(perHourOf(textOf(none)), 1);
  assert.equal(perHourOf(textOf({ ...none, perHour: 12.5 })), 12.5);
  assert.deepEqual(actionsOf(textOf({ ...none, perHour: 12.5 })), { ...none, perHour: 12.5 });
  assert.equal(perHourOf(textOf({ come: [], go: [], perHour: 0.1 })), 0.1);
  for (const perHour of ['0', '-1', '1e9', '"5"', 'null', '[]']) assert.equal(perHourOf(`{"perHour":${perHour}}`), 1, perHour);
});

test('a serial port that takes no text any more is closed, and opens again', async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  let works = false;
  const port = Object.assign(new EventTarget(), {
    writable: /** @type {WritableStream|null} */ (null),
    open: async () => {
      if (port.writable) throw new DOMException('The port is already open.', 'InvalidStateError');
      port.writable = new WritableStream({
        write: () => {
          if (!works) throw new DOMException('The device has been lost.', 'NetworkError');
        },
      });
    },
    close: async () => {
      if (port.writable?.locked) throw new TypeError('The stream is locked.');
      port.writable = null;
    },
  });
  Object.defineProperty(globalThis, 'navigator', { value: { serial: { requestPort: async () => port } }, configurable: true });
  try {
    const { link, run } = /** @type {Required<import('../../ui/then/index.js').Device>} */ (deviceOf('serial'));
    const action = { device: 'serial', text: 'on', speed: '9600' };
    /** @type {string[]} */
    const lost = [];
    link.onLost((why) => lost.push(why));
    await link.connect(action);
    await run(action, came('Cup'));
    assert.match(lost.join(), /^The serial port was unplugged/);
    works = true;
    await link.connect(action);
    await run(action, came('Cup'));
    assert.equal(lost.length, 1);
    assert.equal(link.to(), 'a port at 9,600 baud');
  } finally {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else delete (/** @type {any} */ (globalThis).navigator);
  }
});

test('actions are listed by class, none of these last, and come back from their text', () => {
  const all = {
    come: [
      { device: 'speech', text: 'Hi' },
      { device: 'later', x: 1 },
    ],
    go: [{ device: 'tone', sound: 'ding' }],
  };
  assert.deepEqual(actionsOf(textOf(all)), all);
  assert.equal(textOf({ come: [], go: [] }), '');
  assert.deepEqual(
    rulesOf(
      [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B', actions: textOf(all) },
      ],
      textOf({ come: [], go: all.go }),
    ).map(({ id, name, when, at, action }) => [id, name, when, at, action.device]),
    [
      ['b', 'B', 'come', 0, 'speech'],
      ['b', 'B', 'come', 1, 'later'],
      ['b', 'B', 'go', 0, 'tone'],
      ['', 'None of these', 'go', 0, 'tone'],
    ],
  );
});

test('a page that asks for more than it was allowed keeps what it has while others wait', () => {
  const target = new EventTarget();
  const fakes = { window: {}, BroadcastChannel: EventTarget, addEventListener: target.addEventListener.bind(target) };
  for (const [name, value] of Object.entries(fakes)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  messages.start(() => {});
  /** @type {unknown[]} */
  const got = [];
  const ask = (/** @type {string} */ origin, /** @type {string} */ listen) => {
    const source = sources[origin];
    target.dispatchEvent(Object.assign(new Event('message'), { data: { type: 'metaqda', listen }, source, origin }));
  };
  const sources = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`https://${name}`, { postMessage: () => got.push(name) }]));
  ask('https://a', 'events');
  messages.set(messages.listeners[0].number, 'listens');
  for (const name of ['b', 'c', 'd', 'e']) ask(`https://${name}`, 'events');
  ask('https://a', 'answers');
  assert.ok(messages.post({ message: 'Hello', event: came('Cup') }));
  assert.deepEqual(got, ['a']);
});
