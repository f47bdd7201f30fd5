// @ts-check
/** The cards of the classes: names, thumbnails, adding, removing, the camera in a card. */
import { complain, say } from './announce.js';
import { runBatch, summary } from './batch.js';
import { Camera, cameraError, leaveCamera, takeCamera } from './camera.js';
import { byId, counted, el, icon, sentence } from './dom.js';
import { dropZone } from './drop.js';
import { holdRepeat } from './hold.js';
import { Thumbnails } from './thumbnails.js';

/** @typedef {import('../engine/contract.js').ClassState} ClassState */
/** @typedef {import('../engine/contract.js').Example} Example */
/** @typedef {import('../engine/contract.js').Engine} Engine */
/** @typedef {import('./enrol.js').Enrolment} Enrolment */
/** @typedef {import('./announce.js').UndoStack} UndoStack */

/** The list of all cards, kept in step with the engine's state. */
export class ClassList {
  /** @type {Map<string, ClassCard>} */
  #cards = new Map();
  #thumbnails = new Thumbnails();

  /**
   * @param {{engine: Engine, enrolment: Enrolment, undo: UndoStack}} parts
   */
  constructor({ engine, enrolment, undo }) {
    this.engine = engine;
    this.enrolment = enrolment;
    this.undo = undo;
    this.element = byId('classes', HTMLUListElement);
    this.#wireForm();
  }

  /**
   * Shows these classes; cards of the same id are kept, and with them the focus.
   *
   * @param {ClassState[]} classes
   */
  show(classes) {
    const ids = new Set(classes.map((c) => c.id));
    for (const [id, card] of this.#cards) {
      if (!ids.has(id)) {
        card.dispose();
        this.#cards.delete(id);
      }
    }
    classes.forEach((state, at) => this.#place(state, at));
    this.#thumbnails.keep(classes.flatMap((c) => c.examples.map((e) => e.id)));
    byId('welcome', HTMLElement).hidden = classes.length > 0;
    const pictures = classes.reduce((sum, c) => sum + c.examples.length, 0);
    byId('teach-summary', HTMLElement).textContent = classes.length
      ? `${counted(classes.length, 'class', 'classes')}, ${counted(pictures, 'picture')}` : '';
  }

  /** @param {Element|null} element @returns {ClassCard|undefined} the card that holds an element */
  cardAround(element) {
    const id = element?.closest('[data-class]')?.getAttribute('data-class');
    return id ? this.#cards.get(id) : undefined;
  }

  /** @param {ClassState} state @param {number} at */
  #place(state, at) {
    let card = this.#cards.get(state.id);
    if (!card) {
      card = new ClassCard(this, this.#thumbnails, state);
      this.#cards.set(state.id, card);
    }
    card.show(state);
    // Moving an element takes the focus from it, so only misplaced ones are moved.
    if (this.element.children[at] !== card.element) {
      this.element.insertBefore(card.element, this.element.children[at] ?? null);
    }
  }

  #wireForm() {
    const field = byId('class-name', HTMLInputElement);
    const error = byId('add-class-error', HTMLElement);
    byId('add-class', HTMLFormElement).addEventListener('submit', async (event) => {
      event.preventDefault();
      const name = field.value.trim();
      try {
        if (!name) throw new Error('Give the new class a name first.');
        await this.engine.addClass(name);
        field.value = '';
        complain(error, '');
        say(`Added the class “${name}”. Add two to five pictures to it.`);
      } catch (reason) {
        complain(error, sentence(reason));
        field.focus();
      }
    });
    field.addEventListener('input', () => complain(error, ''));
  }

  /**
   * Deletes a class and offers to take that back.
   *
   * @param {ClassState} state
   */
  async remove(state) {
    const at = [...this.element.children].findIndex((card) => card.getAttribute('data-class') === state.id);
    const { undo } = await this.engine.removeClass(state.id);
    // Where the card was is now its successor; a field would open a phone's keyboard.
    const left = [...this.element.children].filter((card) => card.getAttribute('data-class') !== state.id);
    const target = left[Math.min(at, left.length - 1)] ?? byId('samples-button', HTMLElement);
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    this.undo.offer(`Deleted “${state.name}” with ${counted(state.examples.length, 'picture')}.`, async () => {
      await this.engine.undo(undo);
      say(`“${state.name}” is back.`);
    });
  }

  /**
   * Removes one picture and offers to take that back.
   *
   * @param {ClassState} state
   * @param {string} exampleId
   */
  async removeExample(state, exampleId) {
    const { undo } = await this.engine.removeExample(state.id, exampleId);
    this.undo.offer(removed(state.name, state.examples.length - 1), async () => {
      await this.engine.undo(undo);
      say(`The picture of “${state.name}” is back.`);
    });
  }
}

/**
 * What a removal did: with fewer pictures a class is known less well, and its
 * probabilities may move more than one expects.
 *
 * @param {string} name of the class
 * @param {number} left pictures of it
 */
export function removed(name, left) {
  if (left === 0) return `Removed the last picture of “${name}”.`;
  return `Removed a picture of “${name}”: its probability now rests on ${counted(left, 'picture')}.`;
}

/** The fewest near-copies that are worth a word. */
const WORTH_SAYING = 3;

/**
 * What to say of a class most of whose pictures repeat others: they count as
 * little more than one. Empty where a class shows its thing from enough sides.
 *
 * @param {number[]} bursts how many pictures are nearly the same, for each that is like none before
 */
export function repeated(bursts) {
  const pictures = bursts.reduce((sum, n) => sum + n, 0);
  const alike = bursts.filter((n) => n > 1);
  const copies = alike.reduce((sum, n) => sum + n, 0);
  if (copies < WORTH_SAYING || 2 * bursts.length >= pictures) return '';
  const some = copies < pictures ? `${copies} of these ${pictures}` : `All ${pictures}`;
  return `${some} ${alike.length > 1 ? 'nearly repeat one another' : 'are nearly the same picture'}: turn it, or change the background.`;
}

/** One class. */
class ClassCard {
  /** @type {AbortController|null} the running batch */
  #batch = null;
  /** @type {Camera|null} */
  #camera = null;

  /**
   * @param {ClassList} list
   * @param {Thumbnails} thumbnails
   * @param {ClassState} state
   */
  constructor(list, thumbnails, state) {
    this.list = list;
    this.thumbnails = thumbnails;
    this.state = state;
    this.name = el('input', {
      class: 'card-name', type: 'text', maxlength: 80, spellcheck: false, autocomplete: 'off', enterkeyhint: 'done',
      onchange: () => { void this.#rename(); },
      onkeydown: (event) => this.#nameKey(/** @type {KeyboardEvent} */ (event)),
    });
    this.count = el('span', { class: 'card-count' });
    this.deleteButton = el('button', {
      class: 'button quiet square', type: 'button', onclick: () => { void this.#guard(() => this.list.remove(this.state)); },
    }, icon('trash'));
    this.thumbs = el('ul', { class: 'thumbs' });
    this.forName = el('span', { class: 'vh' });
    this.file = el('input', { type: 'file', accept: 'image/*', multiple: true, onchange: () => this.#pick() });
    this.cameraButton = el('button', {
      class: 'tile', type: 'button', 'aria-pressed': 'false', onclick: () => this.toggleCamera(),
    }, icon('camera'), 'Camera');
    this.cameraBox = el('div', { class: 'card-camera', hidden: true });
    this.progress = el('progress', { max: 1, value: 0 });
    this.progressText = el('span', { class: 'small' });
    this.batchBox = el('div', { class: 'card-batch', hidden: true }, this.progress, this.progressText,
      el('button', { class: 'button quiet', type: 'button', onclick: () => this.#batch?.abort() }, 'Cancel'));
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.hint = el('div', { class: 'card-hint', 'aria-live': 'polite', 'aria-atomic': 'true' });
    this.element = el('li', { class: 'card', 'data-class': state.id, tabindex: -1 },
      el('div', { class: 'card-head' }, this.name, this.count, this.deleteButton),
      el('div', { class: 'pictures' }, this.thumbs,
        el('div', { class: 'tiles' },
          el('label', { class: 'tile file-button' }, icon('plus'), el('span', {}, 'Add', this.forName), this.file),
          this.cameraButton)),
      this.cameraBox, this.hint, this.batchBox, this.error);
    dropZone(this.element, (files) => void this.addFiles(files));
  }

  /** @param {ClassState} state */
  show(state) {
    this.state = state;
    if (document.activeElement !== this.name) this.name.value = state.name;
    this.name.setAttribute('aria-label', `Name of the class ${state.name}`);
    this.count.textContent = state.examples.length ? counted(state.examples.length, 'picture') : 'No pictures yet';
    this.deleteButton.setAttribute('aria-label', `Delete ${state.name}`);
    this.deleteButton.title = `Delete ${state.name}`;
    this.thumbs.setAttribute('aria-label', `Pictures of ${state.name}`);
    this.forName.textContent = ` pictures to ${state.name}`;
    this.progress.setAttribute('aria-label', `Adding pictures to ${state.name}`);
    this.cameraButton.setAttribute('aria-label', `Camera for ${state.name}`);
    this.#showThumbs(state.examples);
    this.#showHint(repeated(state.bursts));
  }

  /**
   * Shows what is to be said of the pictures. It is announced when it appears, not
   * with every picture that changes its numbers.
   *
   * @param {string} text
   */
  #showHint(text) {
    if (this.hint.textContent === text) return;
    this.hint.setAttribute('aria-live', this.hint.textContent && text ? 'off' : 'polite');
    this.hint.replaceChildren(...text ? [el('p', { class: 'small muted' }, text)] : []);
  }

  /**
   * Adds files one after the other and says which of them were no pictures.
   *
   * @param {File[]} files
   */
  async addFiles(files) {
    if (!files.length) return;
    if (this.#batch) {
      complain(this.error, 'Pictures are still being added to this class: wait for them, or cancel, then add more.');
      return;
    }
    complain(this.error, '');
    this.#batch = new AbortController();
    try {
      const result = await runBatch(files, (file) => this.list.enrolment.enrolFile(this.state.id, file), {
        signal: this.#batch.signal, onProgress: (done, total) => this.#showProgress(done, total),
      });
      complain(this.error, summary(result.errors.map(sentence)));
      const added = `${counted(result.done, 'picture')} added to “${this.state.name}”.`;
      say(result.cancelled ? `Cancelled: ${added}` : added);
    } finally {
      this.#batch = null;
      this.batchBox.hidden = true;
    }
  }

  /** Opens the camera in this card, or closes it. */
  toggleCamera() {
    if (this.#camera) this.#closeCamera();
    else void this.#openCamera();
  }

  /** Lets go of whatever the card holds. */
  dispose() {
    this.#batch?.abort();
    this.#closeCamera();
    this.element.remove();
  }

  /** @param {Example[]} examples */
  #showThumbs(examples) {
    const kept = new Map([...this.thumbs.children].map((item) => [item.getAttribute('data-example') ?? '', item]));
    const ids = new Set(examples.map((example) => example.id));
    for (const [id, item] of kept) if (!ids.has(id)) item.remove();
    examples.forEach((example, at) => {
      const item = kept.get(example.id) ?? this.#thumb(example);
      const label = `picture ${at + 1} of ${this.state.name}`;
      item.querySelector('img')?.setAttribute('alt', `P${label.slice(1)}`);
      item.querySelector('button')?.setAttribute('aria-label', `Remove ${label}`);
      if (this.thumbs.children[at] !== item) this.thumbs.insertBefore(item, this.thumbs.children[at] ?? null);
    });
    this.thumbs.hidden = examples.length === 0;
  }

  /** @param {Example} example */
  #thumb(example) {
    const image = el('img', { class: 'thumb-picture', width: 64, height: 64, alt: '', draggable: 'false' });
    const url = this.thumbnails.url(example);
    if (url) image.src = url;
    const remove = el('button', { class: 'thumb-remove', type: 'button' }, icon('close'));
    const item = el('li', { class: 'thumb', 'data-example': example.id }, image, remove);
    remove.addEventListener('click', () => void this.#guard(async () => {
      const near = item.nextElementSibling ?? item.previousElementSibling;
      await this.list.removeExample(this.state, example.id);
      const target = near?.querySelector('button') ?? this.file;
      target.focus({ preventScroll: true });
    }));
    return item;
  }

  /** @param {number} done @param {number} total */
  #showProgress(done, total) {
    this.batchBox.hidden = total < 2 || done === total;
    this.progress.max = total;
    this.progress.value = done;
    this.progressText.textContent = `${Math.min(done + 1, total)} of ${total}`;
  }

  #pick() {
    const files = [...this.file.files ?? []];
    this.file.value = ''; // so that the same file can be chosen again
    void this.addFiles(files);
  }

  async #rename() {
    const name = this.name.value.trim();
    if (name === this.state.name) return;
    try {
      if (!name) throw new Error('A class needs a name.');
      await this.list.engine.renameClass(this.state.id, name);
      complain(this.error, '');
      say(`Renamed to “${name}”.`);
    } catch (error) {
      this.name.value = this.state.name;
      complain(this.error, sentence(error));
    }
  }

  /** @param {KeyboardEvent} event */
  #nameKey(event) {
    if (event.key === 'Escape') this.name.value = this.state.name;
    if (event.key === 'Enter' || event.key === 'Escape') this.name.blur();
  }

  #closeCamera = () => {
    this.#camera?.close();
    this.#camera = null;
    leaveCamera(this.#closeCamera);
    this.cameraBox.hidden = true;
    this.cameraBox.replaceChildren();
    this.cameraButton.setAttribute('aria-pressed', 'false');
  };

  async #openCamera() {
    takeCamera(this.#closeCamera);
    complain(this.error, '');
    const fail = (/** @type {unknown} */ error) => {
      if (this.#camera !== camera) return;
      this.#closeCamera();
      complain(this.error, cameraError(error).message);
    };
    const camera = new Camera({ onLost: fail });
    this.#camera = camera;
    const shutter = el('button', { class: 'button primary shutter', type: 'button', disabled: true },
      'Hold to capture', el('span', { class: 'vh' }, ` ${this.state.name}`));
    const counter = el('span', { class: 'capture-count', 'aria-live': 'polite' });
    this.cameraBox.replaceChildren(
      el('div', { class: 'video-frame' }, camera.video, camera.switchButton),
      el('div', { class: 'actions' }, shutter, counter));
    this.cameraBox.hidden = false;
    this.cameraButton.setAttribute('aria-pressed', 'true');
    this.#wireShutter(shutter, counter, camera);
    try {
      await camera.start();
      shutter.disabled = false;
    } catch (error) {
      fail(error);
    }
  }

  /** @param {HTMLButtonElement} shutter @param {HTMLElement} counter @param {Camera} camera */
  #wireShutter(shutter, counter, camera) {
    let taken = 0;
    holdRepeat(shutter, async () => {
      if (!camera.open) return;
      try {
        await this.list.enrolment.enrolFrame(this.state.id, await camera.frame());
        counter.textContent = `${counted(++taken, 'picture')} taken`;
        complain(this.error, '');
      } catch (error) {
        complain(this.error, sentence(error));
      }
    }, { onHold: (held) => camera.video.parentElement?.classList.toggle('capturing', held) });
  }

  /** @param {() => Promise<unknown>} work */
  async #guard(work) {
    try {
      await work();
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}
