// @ts-check
/** The form that adds an action, or changes one. */
import { el, seen, sentence, typedOr } from '../kit/dom.js';
import { html, live, nothing, render } from '../kit/view.js';
import { checked, NONE_NAME } from './actions.js';
import { deviceOf, devices } from './index.js';
import { NO_RECORDING, recording } from './recording.js';
import { SoundField } from './sound-field.js';

/** @import {Rule, When} from './actions.js' */
/** @import {Action, Device, Field} from './index.js' */
/** @import {Form, Named} from './then.js' */

/** The value of none of these in the list of classes. */
const NONE = 'none';

/** @implements {Form} */
export class ThenForm {
  #classes = /** @type {readonly Named[]} */ ([]);
  /** The id of the class, or NONE; empty until there are classes. */
  #id = '';
  /** @type {When} */
  #when = 'come';
  /** The values of each device's fields. @type {Map<string, Action>} */
  #values = new Map();
  #device = devices[0];
  /** The rule that is changed. @type {Rule|null} */
  #former = null;
  #error = '';
  #sound = new SoundField({
    onSound: (sound) => {
      this.#put('sound', sound, recording); // another device may be chosen by now
    },
    onError: (why) => {
      this.#error = why;
      this.#draw();
    },
  });

  /** @param {{add: (rule: Omit<Rule, 'name' | 'at'>, former: Rule|null) => Promise<void>, run: (action: Action, name: string) => Promise<void>, changed: () => void}} parts changed: another device was chosen */
  constructor({ add, run, changed }) {
    this.add = add;
    this.run = run;
    this.changed = changed;
    this.element = el('form', { class: 'then-form', autocomplete: 'off', 'aria-label': 'Add an action' });
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#draw();
  }

  get device() {
    return this.#device;
  }

  get action() {
    return this.#actionOf(this.#device);
  }

  /** @param {Device} device */
  #actionOf(device) {
    return checked(device, this.#values.get(device.id) ?? { device: device.id });
  }

  /** @param {readonly Named[]} classes @param {readonly Rule[]} rules all that there are now */
  show(classes, rules) {
    this.#classes = classes;
    if (this.#id !== NONE && !classes.some(({ id }) => id === this.#id)) this.#id = classes[0]?.id ?? '';
    if (!rules.some((one) => isSame(one, this.#former))) this.#former = null; // removed, undone, or of another session
    this.#draw();
  }

  /** Shows a rule, to be changed. @param {Rule} rule */
  edit(rule) {
    const device = deviceOf(rule.action.device);
    if (!device) return;
    [this.#former, this.#id, this.#when, this.#device, this.#error] = [rule, rule.id || NONE, rule.when, device, ''];
    this.#values.set(device.id, rule.action);
    this.#draw();
    this.changed();
    this.element.scrollIntoView({ block: 'nearest' });
    /** @type {HTMLElement|null} */ (this.element.querySelector('.then-fields :is(input, select, button)') ?? this.element.querySelector('select'))?.focus();
  }

  /** @param {string} name @param {string|number} value @param {Device} [device] */
  #put(name, value, device = this.#device) {
    this.#values.set(device.id, { ...this.#actionOf(device), [name]: value });
    this.#error = '';
    this.#draw();
  }

  async #submit() {
    try {
      if (this.#device.fields.some(({ kind, name }) => kind === 'sound' && !this.action[name])) throw new Error(NO_RECORDING);
      await this.add({ id: (this.#id || NONE) === NONE ? '' : this.#id, when: this.#when, action: this.action }, this.#former);
      this.#former = null;
      this.#error = '';
      if (this.#device.fields.some(({ name }) => name === 'text'))
        this.#put('text', ''); // the next action has a text of its own
      else if (this.#device.fields.some(({ kind }) => kind === 'sound')) this.#put('sound', '');
    } catch (error) {
      this.#error = sentence(error);
    }
    this.#draw();
  }

  #draw() {
    const { action } = this;
    const former = this.#former;
    render(
      html`<p class="then-title">${former ? 'Change this action' : 'Add an action'}</p>
      <div class="then-when">
        ${select(
          'then-class',
          'When',
          this.#id || NONE,
          [...this.#classes.map(({ id, name }) => /** @type {const} */ ([id, name])), [NONE, NONE_NAME]],
          (id) => {
            this.#id = id;
            this.#draw();
          },
        )}
        ${select(
          'then-when',
          'is',
          this.#when,
          [
            ['come', seen()],
            ['go', 'gone'],
          ],
          (when) => {
            this.#when = when;
            this.#draw();
          },
        )}
      </div>
      ${select(
        'then-device',
        'then',
        this.#device.id,
        devices.map(({ id, does }) => [id, does]),
        (id) => {
          this.#device = deviceOf(id) ?? this.#device;
          this.#error = '';
          this.#draw();
          this.changed();
        },
      )}
      ${this.#device.lacks() ? html`<p class="small muted">${this.#device.lacks()}</p>` : nothing}
      <div class="then-fields">${this.#device.fields.map((field) => this.#field(field, action[field.name]))}</div>
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      <div class="actions"><button class="button primary" type="submit">${former ? 'Save the change' : 'Add'}</button>
        <button class="button" type="button" ?disabled=${this.#device.lacks() !== ''} @click=${() => this.run(action, this.#classes.find(({ id }) => id === this.#id)?.name ?? NONE_NAME)}>Try it</button>
        ${
          former
            ? html`<button class="button quiet" type="button" @click=${() => {
                this.#former = null;
                this.#draw();
              }}>Leave it as it was</button>`
            : nothing
        }</div>`,
      this.element,
    );
  }

  /** @param {Field} field @param {string|number} value */
  #field({ name, label, kind, least, most, choices = [], hint }, value) {
    if (kind === 'sound') return this.#sound.show(String(value));
    const id = `then-${name}`;
    if (kind === 'choice') return select(id, label, String(value), choices, (chosen) => this.#put(name, chosen));
    const number = kind === 'number';
    return html`<div class="then-field"><label class="small" for=${id}>${label}</label><input class="field" id=${id} aria-describedby=${hint ? `${id}-hint` : nothing} required type=${number ? 'number' : 'text'} min=${least ?? nothing} max=${number ? (most ?? nothing) : nothing}
      maxlength=${number ? nothing : (most ?? nothing)} autocomplete="off" .value=${live(number ? typedOr(id, value) : String(value))} @input=${(
        /** @type {any} */ { target },
      ) => {
        if (!number) this.#put(name, target.value);
      }}
      @change=${(/** @type {any} */ { target }) => {
        if (!number) return;
        this.#put(name, target.valueAsNumber);
        target.value = this.action[name];
      }}>
      ${hint ? html`<p class="small muted" id="${id}-hint">${hint}</p>` : nothing}</div>`;
  }
}

/** @param {Rule} rule @param {Rule|null} other */
const isSame = ({ id, when, action }, other) => id === other?.id && when === other.when && JSON.stringify(action) === JSON.stringify(other.action);

/** @param {string} id @param {string} label @param {string} value @param {readonly (readonly [string, string])[]} choices @param {(value: any) => void} set */
const select = (id, label, value, choices, set) => html`<div class="then-field"><label class="small" for=${id}>${label}</label>
  <select class="field" id=${id} @change=${(/** @type {any} */ { target }) => set(target.value)}>${choices.map(([one, text]) => html`<option value=${one} .selected=${live(one === value)}>${text}</option>`)}</select></div>`;
