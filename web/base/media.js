// @ts-check
/** The errors of camera and microphone: for each reason a sentence with the remedy. */
import { MetaqdaError } from './remote.js';

/**
 * The error to show if a source cannot be opened. Errors of the browser are explained by their name.
 *
 * @param {unknown} error @param {string} source such as 'camera'
 * @param {{again?: string, instead?: string}} [ways] again: how to try once more; instead: what to do without the source, such as 'add pictures
 * from files'
 */
export function sourceError(error, source, { again = 'try again', instead } = {}) {
  if (error instanceof MetaqdaError) return error;
  const or = instead ? `, or ${instead}` : ` and ${again}`;
  const denied = ['denied', `The browser may not use the ${source}: allow it for this page beside the address bar, then ${again}.`];
  /** @type {Record<string, string[]>} by the names of the browser's errors */
  const reasons = {
    NotAllowedError: denied,
    SecurityError: denied,
    NotFoundError: ['missing', `No ${source} was found: connect one${or}.`],
    OverconstrainedError: ['missing', `No suitable ${source} was found: connect another one${or}.`],
    NotReadableError: ['busy', `The ${source} is in use by another program: close that program and ${again}.`],
    AbortError: ['busy', `The ${source} stopped while it was starting: ${again}.`],
  };
  const [code, text] = reasons[error instanceof Error ? error.name : ''] ?? [
    'device',
    `The ${source} could not be started: ${again}${instead ? `, or ${instead}` : ''}.`,
  ];
  return new MetaqdaError(code, text);
}

/**
 * Returns the devices. Throws if the page can never use a source.
 *
 * @param {{isSecureContext: boolean, navigator: {mediaDevices?: MediaDevices}}} scope @param {string} source such as 'camera' @param {string} [instead] as for `sourceError`
 */
export function mediaDevices(scope, source, instead = 'open this page in another browser') {
  if (!scope.isSecureContext) throw insecure(source);
  const devices = scope.navigator.mediaDevices;
  if (!devices?.getUserMedia) throw new MetaqdaError('missing', `This browser offers no ${source}: ${instead}.`);
  return devices;
}

/** Why a browser starts no sound: it waits for a press, or has nothing to play it on. */
export const soundless = () =>
  navigator.userActivation?.hasBeenActive
    ? new MetaqdaError('device', 'The browser starts no sound: connect a loudspeaker or headphones, then try again.')
    : new MetaqdaError('denied', 'The browser starts no sound before a press: press a button of this page, then try again.');

/** @param {string} source such as 'camera' */
export const insecure = (source) => new MetaqdaError('insecure', `The ${source} needs a secure page: open this page by https or on localhost.`);
