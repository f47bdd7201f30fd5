// @ts-check
/**
 * Sends a line to a micro:bit by Web Bluetooth, through Nordic's UART service, which other boards have too.
 *
 * `@microbit/microbit-connection` 1.0.0 does this as well, and brings programs onto the board: 92 KB, with the phone
 * framework Capacitor inside, in the page and in every shared file. Writing a line takes the calls below.
 */
import { queue } from '../../base/task.js';
import { lacking, line, loss, reason } from './link.js';

const UART = '6e400001-b5a3-f393-e0a9-e50e24dcca9e';
/** Bytes of one write: the size that always fits, without negotiation. */
const PIECE = 20;

/** @typedef {{properties: {write: boolean, writeWithoutResponse: boolean}, writeValueWithResponse: (bytes: Uint8Array) => Promise<void>, writeValueWithoutResponse: (bytes: Uint8Array) => Promise<void>}} Characteristic */
/** @type {{device: any, characteristic: Characteristic}|null} */
let board = null;
const { lost, onLost } = loss();
const turn = queue();

const GONE = 'The connection to the micro:bit ended: check that it has power and is near, then connect it again.';

/** @param {any} device that ended the connection */
function lose(device) {
  if (board?.device !== device) return;
  board = null;
  lost(GONE);
}

/** @type {import('./index.js').Device} */
export const microbit = {
  id: 'microbit',
  does: 'send to a micro:bit',
  fields: [
    {
      name: 'text',
      label: 'Line',
      kind: 'text',
      first: '',
      most: 100,
      hint: 'The micro:bit needs a program with “bluetooth uart service”, made without pairing.',
    },
  ],
  words: ({ text }) => `send “${text}” to the micro:bit`,
  lacks: () => lacking('bluetooth', 'Bluetooth', 'Chrome or Edge on a computer or an Android phone'),
  run: ({ text }) =>
    turn(async () => {
      if (!board) throw new Error('The micro:bit is not connected: connect it.');
      const { device, characteristic } = board;
      const bytes = line(text);
      const write = (/** @type {Uint8Array} */ piece) =>
        characteristic.properties.write ? characteristic.writeValueWithResponse(piece) : characteristic.writeValueWithoutResponse(piece);
      try {
        for (let at = 0; at < bytes.length; at += PIECE) await write(bytes.subarray(at, at + PIECE));
      } catch (error) {
        if (board?.device === device && device.gatt.connected)
          throw reason(error, {}, 'The micro:bit did not accept the text, so it is lost. The next action tries again.');
        lose(device);
      }
    }),
  link: {
    name: 'micro:bit',
    onLost,
    to: () => (board ? board.device.name || 'a board without a name' : ''),
    connect: async () => {
      const device = await /** @type {any} */ (navigator).bluetooth
        .requestDevice({ filters: [{ namePrefix: 'BBC micro:bit' }, { services: [UART] }], optionalServices: [UART] })
        .catch((/** @type {any} */ error) => {
          throw reason(
            error,
            { NotFoundError: 'No micro:bit was chosen: switch on Bluetooth and the micro:bit, then connect again and choose it.' },
            'The browser may not use Bluetooth: allow it for this page and in the settings of the device, then connect again.',
          );
        });
      device.addEventListener('gattserverdisconnected', () => lose(device));
      const characteristic = await device.gatt
        .connect()
        .then((/** @type {any} */ server) => server.getPrimaryService(UART))
        .then((/** @type {any} */ service) => service.getCharacteristics())
        // The micro:bit and other boards use the two characteristics of the service the other way round. So take the one that can be written.
        .then((/** @type {Characteristic[]} */ all) => all.find(({ properties }) => properties.write || properties.writeWithoutResponse))
        .catch((/** @type {unknown} */ error) => {
          device.gatt.disconnect();
          throw reason(
            error,
            { NotFoundError: 'This board has no UART service: put a program with “bluetooth uart service” on it, then connect again.' },
            'The micro:bit does not answer: bring it near, press its reset button, then connect again.',
          );
        });
      if (!characteristic) throw new Error('This board takes no text: put a program with “bluetooth uart service” on it, then connect again.');
      const former = board;
      board = { device, characteristic };
      if (former && former.device !== device) former.device.gatt.disconnect();
    },
  },
};
