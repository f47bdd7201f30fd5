// @ts-check
/** Sends a MIDI note by Web MIDI, to everything that takes notes. */
import { lacking, loss, reason } from './link.js';

/** Milliseconds of a note, and how hard it is struck. */
const [LENGTH, VELOCITY] = [500, 100];
const NOTES = ['C', 'C♯', 'D', 'E♭', 'E', 'F', 'F♯', 'G', 'A♭', 'A', 'B♭', 'B'];

/** @type {MIDIAccess|null} */
let access = null;
const { lost, onLost } = loss();

const outputs = () => [...(access?.outputs.values() ?? [])].filter(({ state }) => state === 'connected');

/** @type {import('./index.js').Device} */
export const midi = {
  id: 'midi',
  does: 'send a MIDI note',
  fields: [
    { name: 'note', label: 'Note', kind: 'number', first: 60, least: 0, most: 127, hint: '60 is the middle C.' },
    { name: 'channel', label: 'Channel', kind: 'number', first: 1, least: 1, most: 16 },
  ],
  words: ({ note, channel }) => `send the MIDI note ${note} (${NOTES[note % 12]}) on channel ${channel}`,
  lacks: () => lacking('requestMIDIAccess', 'MIDI devices', 'Chrome, Edge or Firefox'),
  run: async ({ note, channel }) => {
    if (!access) throw new Error('The MIDI device is not connected: connect it.');
    for (const output of outputs()) {
      output.send([0x90 + channel - 1, note, VELOCITY]);
      output.send([0x80 + channel - 1, note, 0], performance.now() + LENGTH);
    }
  },
  link: {
    name: 'MIDI device',
    onLost,
    to: () =>
      outputs()
        .map(({ name }) => name || 'a device without a name')
        .join(', '),
    connect: async () => {
      const given = await navigator.requestMIDIAccess().catch((error) => {
        throw reason(error, {}, 'The browser may not use MIDI devices: allow it for this page beside the address bar, then connect again.');
      });
      access = given;
      if (!outputs().length) {
        access = null;
        throw new Error('No MIDI device that takes notes was found: plug one in, then connect again.');
      }
      given.onstatechange = () => {
        if (access !== given || outputs().length) return;
        access = null;
        lost('The MIDI device was unplugged: plug it in and connect it again.');
      };
    },
  },
};
