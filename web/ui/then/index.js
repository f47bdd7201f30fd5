// @ts-check
/**
 * The devices that act when a class comes or goes. To add a device, write one file that exports a
 * `Device` and add it to the list below: the form, the checks and the shared files follow.
 *
 * @typedef {object} Field one setting of an action
 * @property {string} name under which the action keeps it
 * @property {string} label
 * @property {'text'|'number'|'choice'|'sound'} kind
 * @property {string|number} first the value before anything is set
 * @property {number} [least] of a number
 * @property {number} [most] of a number, or the length of a text
 * @property {[value: string, label: string][]} [choices]
 * @property {string} [hint] a sentence below the field
 *
 * @typedef {{device: string} & Record<string, any>} Action what happens: the id of a device, and a value for each of its fields
 * @typedef {import('../../library/types.js').WatchEvent} WatchEvent
 *
 * @typedef {object} Link the connection to a thing outside, which ends with the page
 * @property {string} name such as 'serial port'
 * @property {() => string} to the name of what it is connected to, empty while it is not
 * @property {(action: Action) => Promise<void>} connect asks the person for the thing; call it right after a press. Rejects with a sentence
 * @property {(lost: (why: string) => void) => void} onLost calls `lost` with a sentence once the connection has ended
 *
 * @typedef {object} Device
 * @property {string} id stored in actions
 * @property {string} does such as 'say a sentence'
 * @property {Field[]} fields
 * @property {(action: Action) => string} words the action in words, such as 'say “Hello”'
 * @property {() => string} lacks a sentence that says why this browser cannot, and which one can; empty if it can
 * @property {(action: Action, event: WatchEvent) => Promise<void>} run rejects with a sentence if it cannot be done
 * @property {Link} [link]
 */
import { flash } from './flash.js';
import { message } from './message.js';
import { microbit } from './microbit.js';
import { midi } from './midi.js';
import { recording } from './recording.js';
import { serial } from './serial.js';
import { speech } from './speech.js';
import { tone } from './tone.js';
import { vibrate } from './vibrate.js';

/** In the order in which they are offered. @type {Device[]} */
export const devices = [speech, tone, recording, flash, vibrate, serial, microbit, midi, message];

/** @param {string} id */
export const deviceOf = (id) => devices.find((device) => device.id === id);
