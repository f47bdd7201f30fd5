// @ts-check
/** Writes a line to a serial port by Web Serial: to an Arduino, a micro:bit by USB, and the like. */
import { queue } from '../../base/task.js';
import { lacking, line, loss, reason } from './link.js';

/**
 * @typedef {EventTarget & {open: (options: {baudRate: number}) => Promise<void>, close: () => Promise<void>, writable: WritableStream<Uint8Array>|null}} Port
 */

const SPEEDS = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 250_000];

/** @type {Port|null} */
let port = null;
let speed = 0;
const { lost, onLost } = loss();
const turn = queue();

/** @param {string} why */
function lose(why) {
  if (!port) return;
  const former = port;
  port = null;
  former.close().catch(() => {}); // it may be gone
  lost(why);
}

const UNPLUGGED = 'The serial port was unplugged: plug it in and connect it again.';

/** @param {Port} chosen @param {number} baudRate */
async function open(chosen, baudRate) {
  await chosen.open({ baudRate }).catch((error) => {
    throw reason(error, {}, 'The serial port could not be opened: another program may use it, such as the Arduino IDE. Close that and connect again.');
  });
  [port, speed] = [chosen, baudRate];
}

/** @type {import('./index.js').Device} */
export const serial = {
  id: 'serial',
  does: 'write to a serial port',
  fields: [
    {
      name: 'text',
      label: 'Line',
      kind: 'text',
      first: '',
      most: 200,
      hint: 'For an Arduino, a micro:bit by USB and the like. A line feed follows the text.',
    },
    { name: 'speed', label: 'Speed in baud', kind: 'choice', first: '115200', choices: SPEEDS.map((n) => [String(n), n.toLocaleString('en')]) },
  ],
  words: ({ text, speed: baud }) => `write “${text}” to the serial port at ${Number(baud).toLocaleString('en')} baud`,
  lacks: () => lacking('serial', 'serial ports', 'Chrome or Edge on a computer'),
  run: ({ text, speed: wanted }) =>
    turn(async () => {
      if (!port) throw new Error('The serial port is not connected: connect it.');
      const now = port;
      if (Number(wanted) !== speed) {
        await now.close().catch(() => {}); // then opening it says why
        await open(now, Number(wanted)).catch((error) => {
          port = null;
          throw error;
        });
      }
      if (!now.writable) {
        lose(UNPLUGGED);
        return;
      }
      const writer = now.writable.getWriter();
      const written = await writer.write(line(text)).then(
        () => true,
        () => false,
      );
      writer.releaseLock(); // a locked port cannot be closed
      if (!written) lose(UNPLUGGED);
    }),
  link: {
    name: 'serial port',
    onLost,
    to: () => (port ? `a port at ${speed.toLocaleString('en')} baud` : ''),
    connect: async ({ speed: wanted }) => {
      /** @type {Port} */
      const chosen = await /** @type {any} */ (navigator).serial.requestPort().catch((/** @type {unknown} */ error) => {
        throw reason(
          error,
          { NotFoundError: 'No serial port was chosen: connect again and choose one.' },
          'The browser may not use serial ports: allow it for this page beside the address bar, then connect again.',
        );
      });
      await turn(async () => {
        const former = port;
        port = null;
        await former?.close().catch(() => {});
        await open(chosen, Number(wanted));
      });
      chosen.addEventListener(
        'disconnect',
        () => {
          if (port === chosen) lose(UNPLUGGED);
        },
        { once: true },
      );
    },
  },
};
