// @ts-check
/** Recognises a file, or live what a source captures, and shows the answer. Used by the page and by shared files. */
import { sleep } from '../../base/task.js';
import { complain, say } from '../kit/announce.js';
import { answerTo } from '../kit/answer.js';
import { byId, capital, noun, sentence } from '../kit/dom.js';
import { dropZone } from '../kit/drop.js';
import { onChosen, onFolder } from '../kit/folders.js';
import { leaveSource, sourceFailed, takeSource } from '../kinds/index.js';
import { Good } from './good.js';
import { Pieces } from './pieces.js';
import { Where } from './where.js';
import { CorrectBar, mostLikely, NONE } from '../teach/correct.js';

/** @import {Sample, Source} from '../kinds/index.js' */
/** @import {Cells} from '../../extractor/session.js' */
/** @import {Target} from '../teach/correct.js' */
/** @import {Classifier, Prediction} from '../../library/index.js' */
/** @import {Engine, Live} from '../../library/types.js' */
/** @typedef {Pick<Engine, 'show' | 'frame'> & {taught: Pick<Classifier, 'explain' | 'predict'>}} Answering the part of the engine that answers */
/**
 * @typedef {object} Teaching what a person does with an answer
 * @property {(target: Target, open: () => Promise<Sample>) => Promise<string>} teach opens a sample and adds it to a class; resolves with the id of the example
 * @property {(example: string, target: Target) => Promise<unknown>} move an example to another class; it keeps its id
 * @property {(example: string) => Promise<unknown>} forget removes an example
 * @property {(example: string) => {id: string, name: string}|undefined} classOf an example; undefined if it is not taught
 * @property {(embedding: Float32Array, examples: string[]) => Promise<string|undefined>} same one of these examples that shows the same thing held still, or undefined
 */

/** @typedef {import('../teach/correct.js').Named & {examples?: readonly unknown[], bursts?: {length: number}}} Taught */
/** @typedef {{sample: Sample, picture: Blob, embedding: Float32Array, cells: Cells|null, open: () => Promise<Sample>}} Found */

/**
 * @typedef {object} Seen gets what is recognised
 * @property {number} [perHour] false events allowed in a live view; the engine's own number if left out
 * @property {(live: Live) => void} live the next answer of a live view, and what came and went
 * @property {() => void} end the live view has ended
 * @property {(answer: Prediction|null) => void} answer about a file
 */
/** @type {Seen} */
const unseen = { live: () => {}, end: () => {}, answer: () => {} };

/** Edge of a picture that is drawn to be shown as the query, in pixels. */
const EDGE = 480;

/** The picture to show of a sample: its file if an <img> can show it, else a drawn one. @param {Sample} sample @returns {Promise<Blob>} */
const pictureOf = async (sample) => sample.file ?? new Blob([new Uint8Array(await sample.picture(EDGE))]);

export class Recogniser {
  /** The samples of the open file; a long file has several. @type {Found[]} */
  #found = [];
  /** @type {Source|null} */
  #source = null;
  #url = '';
  #turn = 0; // only the newest of several files counts
  /** Repeats the request that waits until the extractor is there; null if nothing waits. @type {(() => void)|null} */
  #again = null;
  /** The cells of the shown picture, null if the network has none. @type {Cells|null} */
  #cells = null;
  /** Opens what is shown, to teach it. @type {(() => Promise<Sample>)|null} */
  #shown = null;
  /** Examples made of the shown sample, or in this live view. Removed ones stay listed, since undo may bring them back. @type {string[]} */
  #taught = [];
  #none = false;
  /** Ids of the likeliest classes of the shown sample. @type {string[]} */
  #likely = [];
  #classes = /** @type {readonly Taught[]} */ ([]);
  /** Whether the frames of the live view have cells; null before one was asked for them. @type {boolean|null} */
  #located = null;
  /** The moment of the last live answer. @type {import('../kinds/index.js').Look|null} */
  #last = null;
  /** The last two answers of the live view: the one of the frame before, and the one announced last. */
  #announced = { last: '', told: '' };

  /**
   * @param {{kinds: import('../kinds/index.js').Kinds, engine: Answering, teaching: Teaching, teachable?: boolean, ready?: () => Promise<unknown>, sort?: (files: File[]) => void, onAsked?: (embedding: Float32Array|null) => Promise<void>|void, refusal?: (error: unknown) => string, seen?: Seen, odd?: import('./good.js').OddOf}} parts
   *   `ready` settles once the extractor of the open session is there; `sort` takes several files; `onAsked` gets the embedding of the shown answer, or null; `refusal` says why there is no camera;
   *   `seen` gets all that is recognised; `odd` says whether a picture is unlike the examples of the only class, null if it cannot
   */
  constructor({ kinds, engine, teaching, teachable = true, ready = async () => {}, sort, onAsked = () => {}, refusal = sentence, seen = unseen, odd }) {
    this.kinds = kinds;
    this.engine = engine;
    this.teaching = teaching;
    this.ready = ready;
    this.sort = sort;
    this.onAsked = onAsked;
    this.refusal = refusal;
    this.seen = seen;
    this.prediction = byId('prediction', HTMLElement);
    this.verdict = byId('verdict', HTMLElement);
    this.bar = new CorrectBar({
      label: 'It is:',
      none: true,
      about: () => (this.#source ? null : this.#turn),
      onChoose: async (target, about) => (about !== null && about !== this.#turn) || this.#choose(target),
    });
    this.bar.element.hidden = true;
    if (teachable) byId('correct', HTMLElement).append(this.bar.element);
    this.pieces = new Pieces({ taught: engine.taught, onChoose: (piece) => void this.#piece(piece).catch((error) => complain(this.error, sentence(error))) });
    this.prediction.before(this.pieces.element);
    this.picture = byId('query-picture', HTMLImageElement);
    this.where = new Where(engine.taught);
    byId('stage', HTMLElement).append(this.where.overlay);
    byId('stage', HTMLElement).after(this.where.button);
    byId('where', HTMLElement).append(this.where.element);
    this.good = new Good({ odd, teachable, instead: [this.verdict, byId('meters', HTMLElement)] });
    this.verdict.after(this.good.element);
    this.error = byId('query-error', HTMLElement);
    this.live = byId('live', HTMLElement);
    this.liveButton = byId('live-button', HTMLButtonElement);
    this.clearButton = byId('clear-button', HTMLButtonElement);
    this.#wire();
  }

  #wire() {
    const field = byId('query-file', HTMLInputElement);
    onChosen(field, (files) => void this.take(files));
    const folder = document.getElementById('query-folder');
    if (folder instanceof HTMLInputElement)
      onFolder(
        folder,
        () => this.kinds.now,
        (files) => void this.#sortAll(files),
      );
    dropZone(byId('recognise', HTMLElement), (files) => void this.take(files), { wanted: (file) => this.kinds.now.claims(file) });
    this.picture.addEventListener('load', () => this.picture.style.setProperty('--aspect', `${this.picture.naturalWidth / this.picture.naturalHeight}`));
    this.liveButton.addEventListener('click', () => {
      if (this.liveButton.ariaPressed === 'true') this.#stop();
      else void this.#watch();
    });
    this.clearButton.addEventListener('click', () => {
      void this.clear();
      field.focus({ preventScroll: true });
    });
  }

  /** Recognises one file. Several are sorted instead, if the page offers that. @param {File[]} files */
  async take(files) {
    const [file] = files;
    if (!file) return;
    if (files.length > 1 && this.sort) return this.#sortAll(files);
    this.close();
    complain(this.error, '');
    say(`Looking at “${file.name}” …`);
    this.#wait(true);
    if (!(await this.#turnOf(() => this.take(files)))) return;
    const turn = this.#turn;
    try {
      const samples = await this.kinds.now.open(file);
      /** @type {Found[]} */
      const found = [];
      try {
        for (const [piece, sample] of samples.entries()) {
          const picture = await pictureOf(sample);
          const cells = (await sample.cells?.()) ?? null;
          found.push({
            sample,
            picture,
            cells,
            embedding: cells?.embedding ?? (await sample.embed()),
            open: async () => (await this.kinds.now.open(file))[piece],
          });
          if (turn !== this.#turn) return;
          if (samples.length > 9 && piece % 10 === 9) say(`Looking at “${file.name}”: ${piece + 1} of ${samples.length} pieces.`);
        }
      } finally {
        for (const sample of samples) sample.close();
      }
      this.#found = found;
      const likeliest = await this.pieces.show(found.map(({ sample: { at = '' }, picture, embedding }) => ({ at, picture, embedding })));
      if (turn === this.#turn) await this.#piece(likeliest);
      if (turn !== this.#turn) return;
      if (innerWidth < 900) this.prediction.scrollIntoView({ block: 'nearest', behavior: 'instant' }); // there the whole page scrolls
      this.#headline.scrollIntoView({ block: 'nearest' });
      say(`${this.pieces.text || this.#answer()} Recognised “${file.name}”.`, { seen: true });
    } catch (error) {
      if (turn !== this.#turn) return;
      await this.#forget(); // the old answer is about another picture
      complain(this.error, sentence(error));
      say('');
    } finally {
      if (turn === this.#turn) this.#wait(false);
    }
  }

  /** @param {File[]} files */
  async #sortAll(files) {
    this.close();
    this.#wait(false); // what was awaited is not recognised any more
    if (await this.#turnOf(() => this.#sortAll(files))) this.sort?.(files);
  }

  /**
   * Waits until the extractor of the open session is there.
   *
   * @param {() => Promise<void>} again asks again, if it is of another kind
   * @returns {Promise<boolean>} false if something else was asked for meanwhile
   */
  async #turnOf(again) {
    const turn = ++this.#turn;
    this.#again = again;
    await this.ready();
    if (turn !== this.#turn) return false;
    this.#again = null;
    return true;
  }

  /** Removes the shown query, since the kind of the session has changed. A request that waits for this kind keeps waiting. */
  changeKind() {
    const again = this.#again;
    void this.clear();
    again?.();
  }

  /** Shows a piece of the file with its answer. @param {number} piece */
  #piece(piece) {
    const { sample, picture, embedding, cells, open } = this.#found[piece];
    return this.#present(picture, sample.name, embedding, open, cells);
  }

  /**
   * Shows a picture with its answer. After that it can be taught.
   *
   * @param {Blob} picture @param {string} name @param {Float32Array|null} embedding @param {() => Promise<Sample>} open @param {Cells|null} cells
   */
  async #present(picture, name, embedding, open, cells) {
    const turn = this.#turn;
    this.#show(picture, name);
    if (cells) this.good.wait();
    const answer = await this.engine.show(embedding);
    if (turn !== this.#turn) return; // cleared meanwhile
    this.#cells = cells;
    this.#shown = embedding && open;
    this.#likely = mostLikely(
      this.#classes.map(({ id }) => id),
      this.#classes.map((one) => answer?.probabilities[one.name] ?? 0),
    );
    const judged = this.#judge(answer, cells).catch((error) => {
      complain(this.error, sentence(error));
      return null;
    });
    const odd = this.good.on ? await judged : null;
    if (turn !== this.#turn) return;
    this.seen.answer(this.good.told(answer, odd));
    this.#showBar();
    await this.onAsked(embedding); // its content moves the answer
  }

  /** @param {readonly Taught[]} classes that are taught */
  follow(classes) {
    this.#classes = classes;
    void this.pieces.again().catch(() => {}); // the page says elsewhere why there is no answer
    this.good.follow(classes);
    const cells = this.#cells;
    if (cells)
      void answerTo(this.engine.taught, cells.embedding)
        .then((answer) => this.#judge(answer, cells))
        .catch(() => {});
    this.#showBar();
  }

  /** Says whether the shown picture is all right, and where the answer comes from. @param {Prediction|null} answer @param {Cells|null} cells */
  async #judge(answer, cells) {
    const odd = await this.good.judge(cells && this.#shown, () => cells === this.#cells);
    if (cells === this.#cells) await this.where.show(answer && cells && { cells, answer, odd });
    return odd;
  }

  /** The example made of the shown sample, if it is still taught. In live view this is looked up at each press. */
  get #example() {
    return this.#source ? undefined : this.#taught.find((id) => this.teaching.classOf(id));
  }

  #showBar() {
    this.bar.element.hidden = !this.#shown && !this.#source;
    const example = this.#example;
    if (example) this.#none = false;
    this.bar.show(this.#classes, example ? this.teaching.classOf(example)?.id : this.#none ? NONE : '', this.#likely);
  }

  /**
   * Teaches the current frame of the source, or the shown sample. If it is taught already, another class moves the example
   * and the same class changes nothing. In live view, a frame of the same thing held still counts as taught.
   *
   * @param {Target} target
   */
  async #choose(target) {
    const [source, turn] = [this.#source, this.#turn];
    const none = 'id' in target && target.id === NONE;
    const taught = source ? this.#taught.filter((id) => this.teaching.classOf(id)) : [];
    const moment = source && taught.length ? await read(await source.sample()) : null;
    const open = moment ? async () => moment : source ? () => source.sample() : this.#shown;
    const example = moment ? await this.teaching.same(await moment.embed(), taught) : this.#example;
    const now = example && this.teaching.classOf(example);
    if (none) {
      if (example) await this.teaching.forget(example);
      if (turn === this.#turn) this.#none = !source;
      this.#showBar();
      say(
        now
          ? `It is no longer taught as “${now.name}”. “None of these” teaches nothing.`
          : '“None of these” teaches nothing. If such things come often, teach them as a class.',
      );
    } else if (!open) {
      throw new Error(`There is no ${this.kinds.now.one} to teach: choose one first.`);
    } else if (!example || !now) {
      this.#taught.push(await this.teaching.teach(target, open));
    } else if ('id' in target && target.id === now.id) {
      say(`It is taught as “${now.name}” already.`);
    } else {
      await this.teaching.move(example, target);
    }
    this.#showBar();
    this.#headline.scrollIntoView({ block: 'nearest' }); // the answer changes with the classes
  }

  /** Removes the picture and its answer. */
  async clear() {
    this.#turn++;
    this.#again = null;
    this.close();
    this.#wait(false);
    complain(this.error, '');
    await this.#forget();
  }

  async #forget() {
    this.pieces.clear();
    this.#show(null, '');
    void this.onAsked(null);
    await this.engine.show(null);
  }

  /** Marks the shown answer as outdated while the next one is awaited. @param {boolean} waiting */
  #wait(waiting) {
    for (const element of [this.prediction, this.picture]) element.classList.toggle('stale', waiting);
    this.prediction.setAttribute('aria-busy', String(waiting));
  }

  /** Where the page shows the query. */
  #top() {
    return byId('stage', HTMLElement).getBoundingClientRect().top;
  }

  /** The element that shows the answer. */
  get #headline() {
    if (this.pieces.text) return this.pieces.element;
    return this.good.says ?? this.verdict;
  }

  /** The answer as a sentence, for screen readers. */
  #answer() {
    const text = (this.good.says ?? this.verdict).textContent ?? '';
    return /[.!?]$/.test(text) ? text : `${text}.`;
  }

  /** @param {Blob|null} picture @param {string} name */
  #show(picture, name) {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = picture ? URL.createObjectURL(picture) : '';
    if (picture) {
      this.picture.src = this.#url;
      this.picture.alt = `${capital(noun())} being recognised: ${name}`;
    } else {
      this.picture.removeAttribute('src'); // frees the decoded picture
    }
    this.picture.hidden = !picture;
    this.clearButton.hidden = !picture;
    this.#shown = null; // until it is recognised
    this.#cells = null;
    this.where.mirrored = false;
    void this.where.show(null);
    this.good.show(null);
    this.#taught = [];
    this.#none = false;
    this.#likely = [];
    this.bar.reset();
    this.bar.fold();
    this.#showBar();
  }

  /** Closes the source. */
  close() {
    if (this.#source) this.seen.end();
    this.#source?.close();
    this.#source = null;
    this.#last = null;
    leaveSource(this.#stop);
    this.live.hidden = true;
    this.live.replaceChildren();
    this.liveButton.setAttribute('aria-pressed', 'false');
    this.#showBar();
  }

  #stop = () => void this.#freeze().catch((error) => complain(this.error, sentence(error)));

  /** Ends live view. The last frame and its answer stay. */
  async #freeze() {
    const [last, top] = [this.#last, this.#top()];
    this.close();
    const turn = ++this.#turn;
    this.#again = null;
    if (!last) {
      say(''); // it said that the live view runs
      return this.#forget();
    }
    const sample = await last.sample();
    const both = async () => [await pictureOf(sample), last.cells ?? (await sample.cells?.()) ?? null];
    const [picture, cells] = /** @type {[Blob, Cells|null]} */ (await both().finally(() => sample.close()));
    if (turn !== this.#turn) return;
    const { name } = this.kinds.now.live;
    await this.#present(picture, `the last ${noun()} of the ${name.toLowerCase()}`, last.embedding, last.sample, cells);
    if (turn !== this.#turn) return;
    scrollBy({ top: this.#top() - top, behavior: 'instant' }); // the picture is smaller than the live view
    this.#headline.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    say(`${this.#answer()} The ${name.toLowerCase()} is off.`);
  }

  /**
   * Recognises one frame after the other while the source is open. It takes the next frame
   * only after the answer for the last one, so nothing queues up.
   */
  async #watch() {
    this.liveButton.setAttribute('aria-pressed', 'true'); // also while it waits, so that another press calls it off
    this.#wait(false); // a picture that was awaited is not recognised any more
    if (!(await this.#turnOf(() => this.#watch()))) return;
    takeSource(this.#stop);
    complain(this.error, '');
    void this.onAsked(null);
    const fail = (/** @type {unknown} */ error) => {
      if (this.#source !== source) return;
      this.#stop();
      const said = this.refusal(error);
      complain(this.error, said);
      sourceFailed(() => {
        if (this.error.textContent === said) complain(this.error, '');
      });
    };
    const { source: open, interval, live } = this.kinds.now;
    const source = (this.#source = open({ onLost: fail }));
    this.live.replaceChildren(source.element);
    this.live.hidden = false;
    try {
      await source.start();
      if (this.#source !== source) return; // another source or file is open by now
      await this.#forget();
      say(live.lookAt);
      this.#headline.scrollIntoView({ block: 'nearest' });
      this.#announced = { last: '', told: '' };
      this.#located = null;
      while (this.#source === source) {
        const next = performance.now() + interval;
        if (source.open && !document.hidden) await this.#look(source);
        await sleep(next - performance.now());
      }
    } catch (error) {
      fail(error);
    }
  }

  /** @param {Source} source */
  async #look(source) {
    const places = (this.where.on || this.#located === null) && !this.good.on;
    const look = await source.look(places);
    if (this.#source !== source) return;
    if (places && look.embedding) this.#located = !!look.cells;
    if (!this.#last && look.embedding) this.good.wait(); // the first comparison takes long: it reads the examples
    const live = await this.engine.frame(look.embedding, this.seen.perHour);
    if (this.#source !== source) return;
    this.#last = look;
    const { answer } = live;
    this.where.mirrored = source.mirrored ?? false;
    const odd = await this.good.judge(answer && look.sample, () => this.#source === source);
    if (this.#source !== source) return;
    this.seen.live({ ...live, answer: this.good.told(answer, odd) });
    const cells = odd?.cells ?? look.cells;
    if (cells) this.#located = true;
    await this.where.show(answer && cells ? { cells, answer, odd } : null, !!answer && this.#located === true);
    if (!answer) return;
    // Announces a new answer once two frames in a row have it.
    const now = this.#answer().replace(/[\d.,<>\s]+%.*/, '');
    if (now === this.#announced.last && now !== this.#announced.told) {
      this.#announced.told = now;
      say(this.#answer(), { seen: true, beside: true });
    }
    this.#announced.last = now;
  }
}

/** Reads a sample now, so that it can be taught later. @param {Sample} sample @returns {Promise<Sample>} */
async function read(sample) {
  try {
    const [thumbnail, embedding] = [await sample.thumbnail(), await sample.embed()];
    return { ...sample, thumbnail: async () => thumbnail, embed: async () => embedding, close: () => {} };
  } finally {
    sample.close();
  }
}
