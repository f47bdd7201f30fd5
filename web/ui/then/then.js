// @ts-check
/**
 * When it sees …: runs the actions of the classes when they come and go before the camera or the microphone. It lists the
 * actions, their devices and the pages that listen. Shared files use it too, without the form.
 */
import { say, toast } from '../kit/announce.js';
import { byId, capital, counted, seen, sees, sentence, typedOr } from '../kit/dom.js';
import { html, live as bound, nothing, render, repeat } from '../kit/view.js';
import { actionsOf, checked, NONE_NAME, PER_HOUR, PER_HOUR_RANGE, perHourOf, rulesOf, textOf } from './actions.js';
import { deviceOf, devices } from './index.js';
import { messages } from './messages.js';
import { eventOf, Presence } from './presence.js';

/** @import {Prediction} from '../../library/index.js' */
/** @import {Live, WatchEvent} from '../../library/types.js' */
/** @import {Actions, Rule} from './actions.js' */
/** @import {Action, Device} from './index.js' */
/** @typedef {{id: string, name: string, actions?: string}} Named a class */
/** @typedef {{element: HTMLElement, show: (classes: readonly Named[], rules: readonly Rule[]) => void, edit: (rule: Rule) => void, readonly device: Device|undefined, readonly action: Action}} Form */

export class Then {
  #classes = /** @type {readonly Named[]} */ ([]);
  #none = '';
  #watching = false;
  #presence = new Presence({ idOf: (name) => this.#classes.find((one) => one.name === name)?.id ?? '', nameOf: (id) => this.#name(id), none: NONE_NAME });
  /** The last error of each device, by its id. @type {Map<string, string>} */
  #trouble = new Map();
  /** Closes the notice of each page that asks, by its number. @type {Map<number, () => void>} */
  #asking = new Map();
  /** @type {Form|undefined} */
  #form;
  #body = document.createElement('div');

  /**
   * @param {{change?: (sets: [id: string, actions: string][]) => Promise<unknown>, form?: (parts: {add: (rule: Omit<Rule, 'name' | 'at'>, former: Rule|null) => Promise<void>, run: (action: Action, name: string) => Promise<void>, changed: () => void}) => Form}} [parts]
   *   change: stores the actions of classes, or of none of these for an empty id, as one step; form: makes the form to add some
   */
  constructor({ change, form } = {}) {
    this.change = change;
    this.details = byId('then', HTMLDetailsElement);
    this.#body.className = 'then-body';
    this.details.append(this.#body);
    this.#form = form?.({
      add: (rule, former) => this.#add(rule, former),
      run: (action, name) => this.#run(action, eventOf(name, true, Date.now()), true),
      changed: () => this.#draw(),
    });
    for (const device of devices) device.link?.onLost((why) => this.#tell(device, why));
    messages.start(() => {
      this.#askForListeners();
      this.#draw();
    });
    this.#draw();
  }

  /** @param {readonly Named[]} classes @param {string} none actions of none of these */
  follow(classes, none) {
    this.#classes = classes;
    this.#none = none;
    this.#form?.show(classes, rulesOf(classes, none));
    this.#draw();
  }

  /** How many false events an hour are allowed. */
  get perHour() {
    return perHourOf(this.#none);
  }

  /** Takes the next answer of a live view. @param {Live} live */
  live(live) {
    messages.answer(live.answer);
    const started = !this.#watching;
    this.#watching = true;
    const all = this.#presence.next(live, Date.now());
    this.#happen(all);
    if (all.length || started) this.#draw();
  }

  /** The live view has ended, so the class that was here is gone. */
  end() {
    this.#watching = false;
    this.#happen(this.#presence.end(Date.now()));
    this.#draw();
  }

  /** @param {import('./presence.js').Happening[]} all */
  #happen(all) {
    for (const { id, event } of all) {
      if (id) messages.post({ event });
      for (const action of this.#of(id)[event.here ? 'come' : 'go']) void this.#run(action, event);
    }
  }

  /** Takes the answer about a file. @param {Prediction|null} answer */
  answer(answer) {
    messages.answer(answer);
  }

  /** @param {string} id */
  #name(id) {
    return this.#classes.find((one) => one.id === id)?.name ?? '';
  }

  /** @param {Action} action @param {WatchEvent} event @param {boolean} [pressed] whether a person waits for it */
  async #run(action, event, pressed = false) {
    const device = deviceOf(action.device);
    if (!device) return; // of a later version of the page
    try {
      const lack = device.lacks();
      if (lack) throw new Error(lack);
      await device.run(checked(device, action), event);
      if (this.#trouble.delete(device.id)) this.#draw();
    } catch (error) {
      this.#tell(device, sentence(error), pressed);
    }
  }

  /** Says once what is wrong with a device; recognition goes on. @param {Device} device @param {string} why @param {boolean} [again] says it once more */
  #tell(device, why, again = false) {
    const { id, link } = device;
    if (this.#trouble.get(id) === why && !again) return;
    this.#trouble.set(id, why);
    const used = this.#used(device);
    if (this.details.open) say(why);
    else
      toast({
        text: why,
        key: `then-${id}`,
        ...(link && used && !device.lacks() ? { action: 'Connect', onAction: () => void this.#connect(device, used) } : {}),
      });
    this.#draw();
  }

  /** The first action of a device, or the action in the form. @param {Device} device @returns {Action|undefined} */
  #used(device) {
    return (
      rulesOf(this.#classes, this.#none).find(({ action }) => action.device === device.id)?.action ??
      (this.#form?.device === device ? this.#form.action : undefined)
    );
  }

  /** Asks the person about each page that wants to listen. */
  #askForListeners() {
    for (const [number, close] of this.#asking) {
      if (messages.listeners.some((one) => one.number === number && one.state === 'asks')) continue;
      this.#asking.delete(number);
      close();
    }
    for (const { number, who, answers, state } of messages.listeners) {
      if (state !== 'asks' || this.#asking.has(number)) continue;
      const set = (/** @type {'listens'|'refused'} */ to) => messages.set(number, to);
      this.#asking.set(
        number,
        toast({ text: asks(who, answers), key: `listener-${number}`, action: 'Allow', onAction: () => set('listens'), onDismiss: () => set('refused') }),
      );
    }
  }

  /** @param {Device} device @param {Action} action */
  async #connect(device, action) {
    try {
      await device.link?.connect(checked(device, action));
      this.#trouble.delete(device.id);
      say(connected(device));
    } catch (error) {
      this.#trouble.set(device.id, sentence(error));
    }
    this.#draw();
  }

  /** Adds an action, in place of a former one if there is one. @param {Omit<Rule, 'name' | 'at'>} rule @param {Rule|null} former */
  async #add({ id, when, action }, former) {
    const stays = former?.id === id && former.when === when;
    const into = this.#of(id);
    const at = stays ? placeOf(into[when], former) : -1;
    into[when].splice(at < 0 ? into[when].length : at, at < 0 ? 0 : 1, action);
    /** @type {[string, string][]} */
    const sets = [[id, textOf(into)]];
    if (former && !stays) {
      const from = former.id === id ? into : this.#of(former.id);
      from[former.when] = without(from[former.when], former);
      if (former.id === id) sets[0][1] = textOf(into);
      else sets.push([former.id, textOf(from)]);
    }
    await this.change?.(sets);
    say(`${former ? 'Changed' : 'Added'}: ${wordsOf({ id, name: this.#name(id) || NONE_NAME, when, at: 0, action })}.`);
  }

  /** @param {HTMLInputElement} field */
  async #allow(field) {
    const perHour = field.valueAsNumber;
    const [least, most] = PER_HOUR_RANGE;
    if (!(perHour >= least && perHour <= most)) field.value = String(this.perHour);
    else if (perHour !== this.perHour) {
      await this.change?.([['', textOf({ ...this.#of(''), perHour: perHour === PER_HOUR ? undefined : perHour })]]);
      say(`${allowed(perHour)}.`);
    }
  }

  /** @param {Rule} rule */
  async #remove(rule) {
    const all = this.#of(rule.id);
    await this.change?.([[rule.id, textOf({ ...all, [rule.when]: without(all[rule.when], rule) })]]);
    say(`Removed: ${wordsOf(rule)}.`);
    this.details.querySelector('summary')?.focus({ preventScroll: true });
  }

  /** The actions of a class, or of none of these for an empty id. @param {string} id @returns {Actions} */
  #of(id) {
    return actionsOf(id ? this.#classes.find((one) => one.id === id)?.actions : this.#none);
  }

  #draw() {
    const rules = rulesOf(this.#classes, this.#none);
    const { listeners } = messages;
    this.details.hidden = !this.change && !rules.length && !listeners.length;
    byId('then-count', HTMLElement).textContent = rules.length ? counted(rules.length, 'action') : '';
    render(
      html`<p class="small muted">${this.change ? `While it recognises live, something can happen when a thing is ${seen()} and when it is gone.` : 'This happens while it recognises live.'}${
        this.#watching ? html` <b class="then-here">${capital(seen())} now: ${this.#name(this.#presence.here) || 'none of these'}.</b>` : nothing
      }</p>
      ${
        rules.length
          ? html`<ul class="then-rules" aria-label="When it ${sees()}">${repeat(
              rules,
              ({ id, when, at }) => `${id} ${when} ${at}`,
              (rule) => this.#row(rule),
            )}</ul>`
          : nothing
      }
      ${devices.map((device) => this.#link(device))}
      ${
        this.change
          ? html`<div class="then-rate"><label class="small" for="then-rate">About how many false alarms an hour</label>
        <input class="field" id="then-rate" type="number" inputmode="decimal" required min=${PER_HOUR_RANGE[0]} max=${PER_HOUR_RANGE[1]} step="any" autocomplete="off" aria-describedby="then-rate-hint" .value=${bound(typedOr('then-rate', this.perHour))}
          @change=${(/** @type {any} */ { target }) => void this.#allow(target).catch((error) => say(sentence(error)))}>
        <p class="small muted" id="then-rate-hint">The more you allow, the less it misses, and the sooner it is sure.</p></div>`
          : rules.length && this.perHour !== PER_HOUR
            ? html`<p class="small muted">${allowed(this.perHour)}.</p>`
            : nothing
      }
      ${this.#form?.element ?? nothing}
      ${
        listeners.length
          ? html`<ul class="then-rules" aria-label="Pages that listen">${repeat(
              listeners,
              ({ number }) => number,
              (one) => listenerRow(one),
            )}</ul>`
          : nothing
      }`,
      this.#body,
    );
  }

  /** @param {Rule} rule */
  #row(rule) {
    const { action, name } = rule;
    const device = deviceOf(action.device);
    const words = wordsOf(rule);
    const button = (/** @type {string} */ label, /** @type {() => unknown} */ work) =>
      html`<button class="button quiet" type="button" aria-label="${label}: ${words}" @click=${work}>${label}</button>`;
    return html`<li class="then-rule"><p>${words}</p>
      <div class="actions">${device ? button('Try it', () => this.#run(action, eventOf(name, true, Date.now()), true)) : nothing}${
        this.change
          ? html`${
              device ? button('Change', () => this.#form?.edit(rule)) : nothing
            }${button('Remove', () => void this.#remove(rule).catch((error) => say(sentence(error))))}`
          : nothing
      }</div></li>`;
  }

  /** A device in use, with its error. @param {Device} device */
  #link(device) {
    const used = this.#used(device);
    const { link } = device;
    const lack = device.lacks();
    const trouble = (lack && (this.#form?.device === device ? '' : lack)) || this.#trouble.get(device.id) || '';
    if (!used || ((lack || !link) && !trouble)) return nothing;
    const to = link?.to();
    return html`<div class=${link && !lack ? 'then-link' : ''}>${
      link && !lack
        ? html`<p>${to ? connected(device) : `The ${device.link?.name} is not connected.`}</p>
      <button class="button" type="button" @click=${() => this.#connect(device, used)}>${to ? 'Connect another' : 'Connect'}<span class="vh"> ${device.link?.name}</span></button>`
        : nothing
    }
      <p class="error" role="alert" ?hidden=${!trouble}>${trouble}</p></div>`;
  }
}

/** @param {number} perHour */
const allowed = (perHour) => `About ${counted(perHour, 'false alarm')} an hour ${perHour === 1 ? 'is' : 'are'} allowed`;

/** Where the action of a rule is now: another change may have moved it. @param {Action[]} all @param {Rule} rule */
const placeOf = (all, { action }) => all.findIndex((one) => JSON.stringify(one) === JSON.stringify(action));

/** @param {Action[]} all @param {Rule} rule */
const without = (all, rule) => all.filter((_, i) => i !== placeOf(all, rule));

/** @param {Device} device */
const connected = (device) => `The ${device.link?.name} is connected: ${device.link?.to()}.`;

/** @param {Rule} rule */
function wordsOf({ name, when, action }) {
  const device = deviceOf(action.device);
  return `When ${name} is ${when === 'come' ? seen() : 'gone'}: ${device ? device.words(checked(device, action)) : 'something that this version of the page does not know'}`;
}

/** @param {string} who @param {boolean} answers */
const asks = (who, answers) => `${capital(who)} asks to be told what is recognised here${answers ? ', with every answer' : ''}.`;

/** @param {import('./messages.js').Listener} listener */
function listenerRow({ number, who, answers, state }) {
  const button = (/** @type {string} */ label, /** @type {'listens'|'refused'} */ to) =>
    html`<button class="button" type="button" @click=${() => messages.set(number, to)}>${label}<span class="vh"> ${who.replace(/,$/, '')}</span></button>`;
  return html`<li class="then-rule"><p>${state === 'asks' ? asks(who, answers) : `${capital(who)} is told ${answers ? 'every answer' : 'what comes and goes'}.`}</p>
    <div class="actions">${state === 'asks' ? html`${button('Allow', 'listens')}${button('Refuse', 'refused')}` : button('Stop', 'refused')}</div></li>`;
}
