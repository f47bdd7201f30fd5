// @ts-check
/** "It is:" with a button for each class and one for a new class, and teaching what was pressed. */
import { complain, say } from '../kit/announce.js';
import { counted, el, icon, sentence } from '../kit/dom.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../kit/announce.js').UndoStack} UndoStack */
/** @typedef {import('../sort/sorting.js').Named} Named */
/** @typedef {{id: string}|{name: string}} Target a class, or the name of a new one */

/** So many classes have their button at once; the others come with "More". */
const AT_ONCE = 12;

let bars = 0;

/** A row of buttons that say what a picture is. */
export class CorrectBar {
  #classes = /** @type {readonly Named[]} */ ([]);
  #all = false;

  /** @param {{label: string, onChoose: (target: Target) => Promise<unknown>}} options */
  constructor({ label, onChoose }) {
    const id = `correct-${++bars}`;
    this.onChoose = onChoose;
    this.label = el('span', { class: 'correct-label', id }, label);
    this.choices = el('div', { class: 'correct-choices' });
    this.field = el('input', {
      class: 'field', type: 'text', maxlength: 80, autocomplete: 'off', 'aria-label': 'Name of the new class', placeholder: 'Name', enterkeyhint: 'done',
      onkeydown: (event) => this.#key(/** @type {KeyboardEvent} */ (event)),
    });
    this.newButton = el('button', { class: 'button', type: 'button', 'aria-expanded': 'false', onclick: () => this.#toggle() }, icon('plus'), 'New…');
    this.form = el('form', { class: 'correct-new', hidden: true, onsubmit: (event) => this.#submit(event) },
      this.field, el('button', { class: 'button primary', type: 'submit' }, 'Teach'));
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.element = el('div', { class: 'correct', role: 'group', 'aria-labelledby': id },
      this.label, this.choices, this.newButton, this.form, this.error);
  }

  /** @param {string} text */
  set text(text) {
    this.label.textContent = text;
  }

  /** Offers these classes. @param {readonly Named[]} classes */
  show(classes) {
    const same = classes.length === this.#classes.length && classes.every(({ id, name }, i) => id === this.#classes[i].id && name === this.#classes[i].name);
    if (same) return;
    this.#classes = classes;
    this.#draw();
  }

  /** Takes what was typed away. */
  reset() {
    this.field.value = '';
    this.form.hidden = true;
    this.newButton.setAttribute('aria-expanded', 'false');
    complain(this.error, '');
  }

  #draw() {
    const at = [...this.choices.children].indexOf(/** @type {Element} */ (document.activeElement));
    const shown = this.#all || this.#classes.length <= AT_ONCE + 1 ? this.#classes : this.#classes.slice(0, AT_ONCE);
    const left = this.#classes.length - shown.length;
    this.choices.replaceChildren(...shown.map(({ id, name }) =>
      el('button', { class: 'button ellipsis', type: 'button', title: name, onclick: () => void this.#choose({ id }) }, name)),
    ...left ? [el('button', { class: 'button quiet', type: 'button', onclick: () => this.#more() }, `${left} more…`)] : []);
    if (at >= 0) /** @type {HTMLElement|undefined} */ (this.choices.children[Math.min(at, this.choices.children.length - 1)])?.focus();
  }

  #more() {
    this.#all = true;
    this.#draw();
  }

  #toggle() {
    const open = this.form.hidden;
    this.reset();
    this.form.hidden = !open;
    this.newButton.setAttribute('aria-expanded', String(open));
    if (open) this.field.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation(); // arrows and letters are for the field
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.reset();
    this.newButton.focus();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    const name = this.field.value.trim();
    if (!name) {
      complain(this.error, 'Give the new class a name first.');
      this.field.focus();
      return;
    }
    const known = this.#classes.find((one) => one.name.toLowerCase() === name.toLowerCase());
    void this.#choose(known ? { id: known.id } : { name });
  }

  /** @param {Target} target */
  async #choose(target) {
    const typed = this.form.contains(document.activeElement);
    try {
      complain(this.error, '');
      await this.onChoose(target);
      this.reset();
      if (typed && this.newButton.isConnected) this.newButton.focus({ preventScroll: true });
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}

/**
 * Teaches pictures as a class, makes the class where it is new, and offers to take all
 * of that back. A picture that cannot be taught stops the rest; those before it stay.
 *
 * @param {{engine: Engine, undo: UndoStack, className: (id: string) => string}} parts
 * @param {Target} target
 * @param {readonly ((classId: string) => Promise<string>)[]} enrol adds one picture to the class and answers its id
 * @returns {Promise<void>}
 */
export function teachAs(parts, target, enrol) {
  return parts.undo.expect(teach(parts, target, enrol));
}

/** @type {typeof teachAs} */
async function teach({ engine, undo, className }, target, enrol) {
  const made = 'name' in target ? await engine.addClass(target.name) : null;
  const id = 'id' in target ? target.id : /** @type {{id: string}} */ (made).id;
  const name = made ? made.name : className(id);
  /** @type {string[]} */
  const taught = [];
  const takeBack = async () => {
    for (const example of taught) await engine.removeExample(id, example).catch(() => {}); // removed by hand meanwhile
    if (made && !(await engine.state()).classes.find((one) => one.id === id)?.examples.length) await engine.removeClass(id).catch(() => {});
    say(`${counted(taught.length, 'picture')} of “${name}” taken back.`);
  };
  try {
    for (const one of enrol) taught.push(await one(id));
  } finally {
    if (taught.length) undo.offer(taught.length === 1 ? `Taught as “${name}”.` : `${counted(taught.length, 'picture')} taught as “${name}”.`, takeBack);
    else if (made) await engine.removeClass(id).catch(() => {});
  }
  // The notice that offers to take it back says it to the eye.
  say(taught.length === 1 ? `Taught as “${name}”.` : `${counted(taught.length, 'picture')} taught as “${name}”.`, { seen: true });
}
