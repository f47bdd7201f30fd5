// @ts-check
/** Sentences about classes. */
import { counted, noun } from '../kit/dom.js';

/**
 * Says what a removal did. With fewer pictures, the probabilities of a class may change more than one expects.
 *
 * @param {string} name of the class
 * @param {number} gone pictures of it
 * @param {number} left pictures of it
 */
export function removed(name, gone, left) {
  if (left === 0) return gone === 1 ? `Removed the last ${noun()} of “${name}”.` : `Removed all ${gone} ${noun()}s of “${name}”.`;
  return `Removed ${gone === 1 ? `a ${noun()}` : counted(gone, noun())} of “${name}”. It now has ${counted(left, noun())}, so its percentages may change.`;
}

/**
 * Says what a batch added. A picture that the class had already teaches almost nothing, so the sentence gives the number
 * of these.
 *
 * @param {string} name of the class
 * @param {number} pictures added
 * @param {number} again those of them that the class had already
 */
export function added(name, pictures, again) {
  const all = pictures === 1 ? 'It' : 'All of them';
  const had = again ? ` ${again < pictures ? `${again} of them` : all} ${again === 1 ? 'was' : 'were'} there already.` : '';
  return `${counted(pictures, noun())} added to “${name}”.${had}`;
}

/**
 * Says that adding was stopped because another session was chosen. It holds even if that session could not be opened.
 *
 * @param {string} one example
 * @param {string} where they were added
 */
export const leftOut = (one, where) => `Adding ${one}s ${where} was stopped to open another session: go back and add the missing ones.`;

/**
 * Says that a class was removed, perhaps in another tab, while pictures were being added to it.
 *
 * @param {string} name of the class
 * @param {string} one example
 * @param {string} remedy
 */
export const removedMeanwhile = (name, one, remedy) => `“${name}” was removed while its ${one}s were being added: ${remedy}.`;

/** The fewest near-copies for which there is a hint. */
const WORTH_SAYING = 3;

/**
 * The hint for a class in which most pictures are near-copies of others: near-copies count as little more than one
 * picture. Empty for other classes.
 *
 * @param {number[]} bursts number of pictures in each burst
 * @param {string} vary what to do about it
 */
export function repeated(bursts, vary) {
  const pictures = bursts.reduce((sum, n) => sum + n, 0);
  const alike = bursts.filter((n) => n > 1);
  const copies = alike.reduce((sum, n) => sum + n, 0);
  if (copies < WORTH_SAYING || 2 * bursts.length >= pictures) return '';
  const some = copies < pictures ? `${copies} of these ${pictures}` : `All ${pictures}`;
  return `${some} ${alike.length > 1 ? 'nearly repeat one another' : `are nearly the same ${noun()}`}: ${vary}.`;
}
