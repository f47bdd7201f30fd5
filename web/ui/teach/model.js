// @ts-check
/** A copy of the engine's classes. Nothing here touches the page. */

import { MetaqdaError } from '../../base/remote.js';

/** @import {ClassState, Step} from '../../library/types.js' */
/**
 * @typedef {object} Taught a class
 * @property {string} id
 * @property {string} name
 * @property {string[]} examples ids, in the order taught
 * @property {number[]} bursts number of examples in each burst; a burst is one picture with its near-copies
 * @property {string} actions what happens when the class comes and goes; empty for nothing
 */

/** Throws the error of a class that is gone. @returns {never} */
export function gone() {
  throw new MetaqdaError('class', 'This class does not exist any more: it was removed, perhaps in another tab.');
}

export class Classes {
  /** The classes in their order. @type {Taught[]} */
  all = [];

  /** Number of examples. */
  get examples() {
    return this.all.reduce((n, { examples }) => n + examples.length, 0);
  }

  /** @param {string} id */
  of(id) {
    return this.all.find((one) => one.id === id);
  }

  /** The name of a class; empty if there is none. @param {string|null|undefined} id */
  name(id) {
    return (id && this.of(id)?.name) || '';
  }

  /** The name of a class. It throws if the class is gone. @param {string} id */
  label(id) {
    return this.of(id)?.name ?? gone();
  }

  /** The id of the class of a name; empty if there is none. @param {string|null} name */
  idOf(name) {
    return this.all.find((one) => one.name === name)?.id ?? '';
  }

  /** The class that holds an example. @param {string} example */
  holding(example) {
    return this.all.find(({ examples }) => examples.includes(example));
  }

  /** Replaces all classes. @param {readonly ClassState[]} classes */
  set(classes) {
    this.all = classes.map(({ id, name, examples, bursts, actions = '' }) => ({ id, name, examples: examples.map((one) => one.id), bursts, actions }));
  }

  /** Applies a step. The cost does not depend on the examples of other classes. @param {Step} step */
  follow(step) {
    const at = this.all.findIndex(({ id }) => id === step.class);
    const one = this.all[at];
    if (step.do === 'put-class') {
      if (one) this.all.splice(at, 1);
      this.all.splice(step.at, 0, { ...(one ?? { id: step.class, examples: [], bursts: [] }), name: step.name, actions: step.actions ?? '' });
      return;
    }
    if (!one) return;
    switch (step.do) {
      case 'drop-class':
        this.all.splice(at, 1);
        break;
      case 'put-example':
        one.examples.splice(step.at, 0, step.example.id);
        break;
      case 'drop-example':
        one.examples.splice(one.examples.indexOf(step.example.id), 1);
        break;
      case 'put-burst':
        one.bursts.splice(step.at, 1, ...(step.sizes ?? []));
        break;
      case 'put-bursts':
        one.bursts = step.sizes ?? [];
    }
  }
}
