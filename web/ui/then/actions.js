// @ts-check
/** Actions as text, which the session keeps with a class. The text may come from a file of others, so everything is checked. */

import { metadataOf } from '../../base/safetensors.js';

/** @import {Action, Device, Field} from './index.js' */
/** @typedef {'come'|'go'} When */
/** @typedef {Record<When, Action[]> & {perHour?: number}} Actions perHour: of none of these, the false events an hour that the session allows */
/**
 * @typedef {object} Rule one action with what it belongs to
 * @property {string} id of the class, empty for none of these
 * @property {string} name
 * @property {When} when
 * @property {number} at its place among the actions of that class and time
 * @property {Action} action
 */

/** @type {When[]} */
const WHENS = ['come', 'go'];
export const NONE_NAME = 'None of these';
/** How many false events an hour are allowed, unless chosen otherwise. The engine has the same default. */
export const PER_HOUR = 1;
/** The least and the most that can be chosen: one in four days, and one in four seconds. */
export const PER_HOUR_RANGE = [0.01, 1000];

/** The actions in a text; anything else in it is left out. @param {string|undefined} text @returns {Actions} */
export function actionsOf(text) {
  /** @type {any} */
  let found = {};
  try {
    found = JSON.parse(text || '{}') ?? {};
  } catch {
    // an action of another program: nothing happens
  }
  const list = (/** @type {When} */ when) =>
    (Array.isArray(found[when]) ? found[when] : []).filter((/** @type {any} */ one) => typeof one?.device === 'string');
  const { perHour } = found;
  return {
    come: list('come'),
    go: list('go'),
    ...(typeof perHour === 'number' && perHour >= PER_HOUR_RANGE[0] && perHour <= PER_HOUR_RANGE[1] && { perHour }),
  };
}

/** The inverse of the function above; empty for no actions. @param {Actions} actions */
export const textOf = ({ come, go, perHour }) => (come.length + go.length || perHour !== undefined ? JSON.stringify({ come, go, perHour }) : '');

/** How many false events an hour a session allows. @param {string} none actions of none of these */
export const perHourOf = (none) => actionsOf(none).perHour ?? PER_HOUR;

/**
 * The actions in a file of a session.
 *
 * @param {Uint8Array} file
 * @returns {{none: string, classes: Map<string, string>}} of none of these, and of classes by their labels
 */
export function actionsIn(file) {
  const { settings = '{}', classes = '[]' } = metadataOf(file) ?? {};
  const labelled = /** @type {{label: string, actions?: string}[]} */ (JSON.parse(classes));
  return { none: JSON.parse(settings).actions ?? '', classes: new Map(labelled.map(({ label, actions = '' }) => [label, actions])) };
}

/** @param {readonly {id: string, name: string, actions?: string}[]} classes @param {string} none actions of none of these @returns {Rule[]} */
export function rulesOf(classes, none) {
  return [...classes, { id: '', name: NONE_NAME, actions: none }]
    .filter(({ actions }) => actions)
    .flatMap(({ id, name, actions }) => {
      const all = actionsOf(actions);
      return WHENS.flatMap((when) => all[when].map((action, at) => ({ id, name, when, at, action })));
    });
}

/** The action with a possible value in each field. @param {Device} device @param {Action} action @returns {Action} */
export function checked(device, action) {
  return { device: device.id, ...Object.fromEntries(device.fields.map((field) => [field.name, possible(field, action[field.name])])) };
}

/** @param {Field} field @param {unknown} value */
function possible({ kind, first, least = 0, most = Infinity, choices = [] }, value) {
  switch (kind) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? Math.round(Math.min(Math.max(value, least), most)) : first;
    case 'choice':
      return choices.some(([one]) => one === value) ? value : first;
    default:
      return typeof value === 'string' ? value.slice(0, most) : first;
  }
}
