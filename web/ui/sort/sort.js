// @ts-check
/**
 * Many pictures at once: taken in, answered one by one, then judged together, shown by
 * group, corrected, saved as a table. Nothing of them is stored, and closing the view
 * forgets them; only what is taught stays, as a picture of its class.
 */
import { complain, say } from '../kit/announce.js';
import { Lookalikes, Question } from './ask.js';
import { summary } from '../kit/batch.js';
import { CorrectBar } from '../teach/correct.js';
import { byId, counted, el, icon, save, sentence } from '../kit/dom.js';
import { enrol } from '../kinds/index.js';
import { canWriteFolders, chooseFolder, copyInto, pathOf } from '../kit/folders.js';
import { Gallery } from './gallery.js';
import { Judge, nextTask } from '../../library/storage.js';
import { countsOf, groupsOf, NONE, tableOf, verdict, WAITING } from './sorting.js';
import { Viewer } from './viewer.js';

/** @typedef {import('../../library/types.js').LoadedEngine} LoadedEngine */
/** @typedef {import('../kit/announce.js').UndoStack} UndoStack */
/** @typedef {import('../teach/correct.js').Target} Target */
/** @typedef {import('./sorting.js').Filter} Filter */
/** @typedef {import('./sorting.js').Order} Order */
/**
 * One of the pictures. `example` is its id where it was taught, `url` shows it small and
 * is made when it is asked for: the browser takes a millisecond for each.
 *
 * @typedef {import('./sorting.js').Sortable & {file: File, piece: number, embedding: Float32Array, readonly url: string, release: () => void, example: string}} Item
 */
/** @typedef {{id: string, name: string, examples: readonly string[]}} Taught a class as it is taught */

/** The most pictures at a time: of so many the embeddings take 25 megabytes. */
export const MOST = 5000;

/** Edge of a picture among the others, in pixels. */
const EDGE = 200;
/** Pictures in the works at a time: one is decoded while another is looked at. */
const LANES = 2;
/** Least time between two drawings while pictures come in, and quiet before they are judged anew, in milliseconds. */
const DRAW = 250;
const QUIET = 400;
/** So many times as long as a drawing took the page has for the pictures and for whoever uses it. */
const REST = 19;
/** So many pictures are asked about before it is found out anew which tell most. */
const QUESTIONS = 6;

/** @typedef {'idle'|'reading'|'judging'|'copying'} Stage */

/** The view, and what it shows. */
export class Sorting {
  /** @type {Item[]} */
  #items = [];
  /** @type {File[]} */
  #queue = [];
  /** @type {string[]} */
  #errors = [];
  #total = 0;
  #done = 0;
  /** @type {Stage} */
  #stage = 'idle';
  /** @type {AbortController|null} */
  #run = null;
  /** @type {readonly Taught[]} */
  #classes = [];
  #key = '';
  /** Whether the answers are those of all pictures together. */
  #together = false;
  #again = false;
  /** When these began to be looked at, and how many had been by then. */
  #begun = { time: 0, done: 0 };
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #drawing;
  #pause = DRAW;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #waiting;
  /** @type {Filter} */
  #filter = { kind: 'all' };
  #filtersShown = '';
  /** @type {Item[]} */
  #questions = [];
  /** @type {Item[][]} */
  #alike = [];

  /** @param {{engine: LoadedEngine, kinds: import('../kinds/index.js').Kinds, changes: import('../teach/changes.js').Changes}} parts */
  constructor({ engine, kinds, changes }) {
    this.engine = engine;
    this.kinds = kinds;
    this.changes = changes;
    this.judge = new Judge(engine, { onProgress: ({ done, total }) => this.#progress(done, total) });
    this.element = byId('sort', HTMLElement);
    this.gallery = new Gallery({ onOpen: (items, item) => this.viewer.open(items, item), onSelect: () => this.#showSelection() });
    this.viewer = new Viewer({ onTeach: this.#teach, onClosed: (last) => this.gallery.focus(last) });
    this.question = new Question({ onTeach: this.#teach, onOpen: (item) => this.viewer.open([item], item) });
    this.lookalikes = new Lookalikes({ onTeach: this.#teach });
    this.title = el('h2', { id: 'sort-title' });
    this.state = el('p', { class: 'sort-state' });
    this.bar = el('progress', { max: 1, value: 0, 'aria-label': 'Pictures looked at' });
    this.cancel = el('button', { class: 'button quiet', type: 'button', onclick: () => this.#cancel() }, 'Cancel');
    this.work = el('div', { class: 'sort-work' }, this.bar, this.cancel);
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.saveButton = el('button', { class: 'button', type: 'button', onclick: () => this.#save() }, icon('table'), 'Save as a table');
    this.copyButton = el('button', { class: 'button', type: 'button', hidden: !canWriteFolders(), onclick: () => void this.#copy() }, icon('folder'), 'Copy into folders');
    this.filters = el('div', { class: 'chips', role: 'group', 'aria-label': 'Which pictures to show' });
    this.order = el('select', { class: 'field sort-order', id: 'sort-order', onchange: () => this.#draw() },
      el('option', { value: 'doubt' }, 'Most doubtful first'), el('option', { value: 'sure' }, 'Surest first'), el('option', { value: 'name' }, 'By file name'));
    this.selectionBar = new CorrectBar({ label: 'They are:', onChoose: async (target) => {
      await this.#teach([...this.gallery.selected], target);
      this.gallery.select([]);
    } });
    this.selection = el('div', { class: 'selection', role: 'region', 'aria-label': 'Selected pictures', hidden: true },
      this.selectionBar.element,
      el('button', { class: 'button quiet', type: 'button', onclick: () => { this.gallery.select([]); this.gallery.focus(); } }, 'Select none'));
    this.#build();
  }

  /** Whether the view is open. */
  get open() {
    return !this.element.hidden;
  }

  /** Takes in more pictures and opens the view. @param {File[]} files */
  async add(files) {
    const room = Math.max(0, MOST - this.#items.length - this.#queue.length);
    const some = files.slice(0, room);
    this.#show(true);
    this.#errors = files.length > room ? [`Only ${MOST.toLocaleString('en')} pictures fit at a time: the last ${files.length - room} were left out.`] : [];
    this.#queue.push(...some);
    this.#total += some.length;
    if (this.#run) return; // those under way take these too
    this.#run = new AbortController();
    const { signal } = this.#run;
    this.#stage = 'reading';
    this.#together = false;
    this.#begun = { time: performance.now(), done: this.#done };
    this.#draw();
    await Promise.all(Array.from({ length: LANES }, () => this.#read(signal)));
    if (this.#run?.signal !== signal) return; // closed meanwhile
    this.#queue = [];
    this.#total = this.#items.length;
    this.#run = null;
    this.#stage = 'idle';
    // Each in a task of its own: the last answer, the drawing, what the judge is given.
    await nextTask();
    this.#draw();
    await nextTask();
    await this.#judgeAll(signal.aborted);
  }

  /**
   * What is taught, and a word that is another one whenever answers may be others.
   *
   * @param {readonly Taught[]} classes
   * @param {string} key
   */
  follow(classes, key) {
    this.#classes = classes;
    const at = new Map(classes.flatMap(({ id, examples }) => examples.map((example) => /** @type {[string, string]} */ ([example, id]))));
    for (const item of this.#items) if (item.example) item.taught = at.get(item.example) ?? '';
    const changed = key !== this.#key;
    this.#key = key;
    if (!this.open) return;
    this.#draw();
    if (!changed || this.#run || !this.#items.length) return;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => void this.#judgeAll(), QUIET);
  }

  /** Closes the view and forgets the pictures. */
  close() {
    this.#stop();
    this.judge.close();
    clearTimeout(this.#waiting);
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    this.viewer.close();
    for (const item of this.#items) item.release();
    this.#items = [];
    this.#queue = [];
    this.#questions = [];
    this.#alike = [];
    this.#errors = [];
    this.#total = this.#done = 0;
    this.#run = null;
    this.#stage = 'idle';
    this.#filter = { kind: 'all' };
    this.gallery.clear();
    this.question.show([], this.#classes);
    this.lookalikes.show([], this.#classes);
    this.#showSelection();
    this.#show(false);
  }

  #build() {
    const close = el('button', { class: 'button', type: 'button', onclick: () => {
      const pictures = this.#items.length;
      this.close();
      byId('query-file', HTMLElement).focus({ preventScroll: true });
      say(`Closed. ${counted(pictures, 'picture')} forgotten; what was taught is kept.`);
    } }, icon('close'), 'Close');
    this.element.append(
      el('div', { class: 'sort-head' }, this.title, close), this.state, this.work, this.error,
      el('div', { class: 'asks' }, this.question.element, this.lookalikes.element),
      el('div', { class: 'sort-tools' }, this.filters,
        el('div', { class: 'actions' }, el('label', { class: 'vh', for: 'sort-order' }, 'Order within a group'), this.order, this.saveButton, this.copyButton)),
      this.gallery.element, this.selection);
  }

  /** @param {boolean} open */
  #show(open) {
    const was = this.open;
    this.element.hidden = !open;
    byId('teach', HTMLElement).hidden = open;
    byId('recognise', HTMLElement).hidden = open;
    if (open && !was) {
      scrollTo(0, 0);
      this.element.focus({ preventScroll: true });
    }
  }

  /** Looks at one picture after the other until there are no more. @param {AbortSignal} signal */
  async #read(signal) {
    while (!signal.aborted) {
      const file = this.#queue.shift();
      if (!file) return;
      try {
        for (const [piece, sample] of (await this.kinds.now.open(file)).entries()) {
          try {
            const picture = await sample.picture(EDGE);
            const embedding = await sample.embed();
            const answer = answerOf(await this.engine.probabilities(embedding));
            if (signal.aborted) return;
            this.#items.push(itemOf(file, piece, sample.name, embedding, answer, picture));
          } finally {
            sample.close();
          }
        }
        this.#done++;
      } catch (error) {
        if (signal.aborted) return;
        this.#errors.push(sentence(error));
        this.#total--;
      }
      this.#later();
    }
  }

  /**
   * Judges what is not taught together, and once more where something changed meanwhile.
   *
   * @param {boolean} [stopped] whether not all pictures were looked at
   */
  async #judgeAll(stopped = false) {
    this.#again = true;
    if (this.#stage !== 'idle') return;
    while (this.#again && this.open && !this.#run) {
      this.#again = false;
      const items = this.#items.filter((item) => !item.taught);
      if (!items.length) break;
      this.#stage = 'judging';
      this.#progress(0, 1);
      this.#tell();
      try {
        await this.#judge(items);
      } catch (error) {
        this.#together = false;
        if (/** @type {{code?: string}} */ (error).code !== 'cancelled') complain(this.error, sentence(error));
      }
      this.#stage = 'idle';
    }
    if (!this.open) return;
    this.#draw();
    if (!this.#run) say(`${stopped ? 'Stopped. ' : ''}${this.#outcome()}`);
  }

  /** @param {Item[]} items */
  async #judge(items) {
    const { classes, probabilities, taken, doubtful } = await this.judge.together(items.map(({ embedding }) => embedding));
    const width = classes.length + 1;
    items.forEach((item, i) => {
      item.answer = probabilities && { classes, none: probabilities[i * width], probabilities: probabilities.subarray(i * width + 1, (i + 1) * width), taken: taken[i], doubtful: doubtful[i] === 1 };
    });
    this.#together = probabilities !== null;
    this.#later();
    this.#questions = (await this.judge.suggest(QUESTIONS)).map((i) => items[i]);
    const strangers = items.flatMap((item, i) => ([NONE, WAITING].includes(verdict(item).id) ? [i] : []));
    this.#alike = strangers.length ? (await this.judge.alike(strangers)).map((group) => group.map((i) => items[i])) : [];
  }

  #cancel() {
    if (this.#stage === 'judging') {
      this.#again = false;
      this.judge.close();
    } else {
      this.#stop();
    }
  }

  #stop() {
    this.#run?.abort();
  }

  /** Draws in a moment, which is the longer the longer the last drawing took. */
  #later() {
    this.#drawing ??= setTimeout(() => {
      const begun = performance.now();
      this.#draw();
      this.#pause = Math.max(DRAW, REST * (performance.now() - begun));
    }, this.#pause);
  }

  #draw() {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (!this.open) return;
    const { groups, doubtful } = countsOf(this.#items);
    if (this.#filter.kind === 'group' && !groups.has(this.#filter.id)) this.#filter = { kind: 'all' };
    const order = this.#stage === 'reading' ? 'arrival' : /** @type {Order} */ (this.order.value);
    this.gallery.show(groupsOf(this.#items, this.#classes, { order, filter: this.#filter }));
    this.#showFilters(groups, doubtful);
    this.#tell();
    this.selectionBar.show(this.#classes);
    this.viewer.refresh(this.#classes);
    const asking = this.#stage !== 'reading';
    // Where every picture is told with hardly a doubt there is nothing to ask.
    const open = doubtful > 0 || groups.has(NONE) || groups.has(WAITING);
    this.question.show(asking && open ? this.#questions : [], this.#classes);
    this.lookalikes.show(asking ? this.#alike : [], this.#classes);
    complain(this.error, summary(this.#errors));
  }

  /** Says how far it is. */
  #tell() {
    const reading = this.#stage === 'reading';
    this.title.textContent = counted(reading ? this.#total : this.#items.length, 'picture');
    this.work.hidden = this.#stage === 'idle';
    if (reading) this.#progress(this.#done, this.#total);
    const taught = this.#classes.some(({ examples }) => examples.length);
    this.state.textContent = {
      reading: taught
        ? `Looking at picture ${Math.min(this.#done + 1, this.#total)} of ${this.#total}${this.#left()}. These answers are one by one; when all are in they are judged together, which is better.`
        : `Looking at picture ${Math.min(this.#done + 1, this.#total)} of ${this.#total}${this.#left()}.`,
      judging: taught ? 'Judging all pictures together …' : 'Looking for pictures that are alike …',
      copying: 'Copying the pictures …',
      idle: this.#settled(taught),
    }[this.#stage];
    this.saveButton.disabled = this.copyButton.disabled = reading || this.#stage === 'copying' || !this.#items.length;
  }

  /** @param {boolean} taught */
  #settled(taught) {
    if (!this.#items.length) return 'There are no pictures here.';
    if (!taught) return 'Nothing is taught yet, so nothing is sorted. Say what a few of these are.';
    return this.#together ? 'Judged together: pictures that look alike helped each other.' : 'Judged one by one.';
  }

  /** How long it will take, where that can be told. */
  #left() {
    const done = this.#done - this.#begun.done;
    if (done < 5) return '';
    const seconds = (performance.now() - this.#begun.time) / done * (this.#total - this.#done) / 1000;
    return seconds >= 90 ? `, about ${Math.round(seconds / 60)} minutes left` : seconds >= 5 ? `, about ${Math.round(seconds)} seconds left` : '';
  }

  /** What came out, in a sentence. */
  #outcome() {
    const { groups, doubtful } = countsOf(this.#items);
    const parts = [...this.#classes, { id: NONE, name: 'none of these' }, { id: WAITING, name: 'not sorted' }]
      .filter(({ id }) => groups.has(id)).map(({ id, name }) => `${groups.get(id)} ${name}`);
    return `${counted(this.#items.length, 'picture')}: ${parts.join(', ')}. ${doubtful ? `${doubtful} doubtful.` : 'None doubtful.'}`;
  }

  /** @param {number} done @param {number} total */
  #progress(done, total) {
    this.bar.max = Math.max(total, 1);
    this.bar.value = done;
    this.bar.setAttribute('aria-label', this.#stage === 'judging' ? 'Judging together' : this.#stage === 'copying' ? 'Pictures copied' : 'Pictures looked at');
  }

  /** @param {Map<string, number>} groups @param {number} doubtful */
  #showFilters(groups, doubtful) {
    const filters = /** @type {{text: string, count: number, filter: Filter}[]} */ ([
      { text: 'All', count: this.#items.length, filter: { kind: 'all' } },
      { text: 'Doubtful', count: doubtful, filter: { kind: 'doubtful' } },
      ...[...this.#classes, { id: NONE, name: 'None of these' }].filter(({ id }) => groups.has(id))
        .map(({ id, name }) => ({ text: name, count: groups.get(id) ?? 0, filter: { kind: 'group', id } })),
    ]);
    const now = JSON.stringify([filters, this.#filter]);
    if (now === this.#filtersShown) return;
    this.#filtersShown = now;
    const key = (/** @type {Filter} */ filter) => (filter.kind === 'group' ? `group ${filter.id}` : filter.kind);
    const focused = document.activeElement?.getAttribute('data-filter');
    this.filters.replaceChildren(...filters.map(({ text, count, filter }) => el('button', {
      class: 'chip', type: 'button', 'data-filter': key(filter), 'aria-pressed': String(key(filter) === key(this.#filter)),
      onclick: () => { this.#filter = filter; this.#draw(); },
    }, el('span', { class: 'ellipsis' }, text), el('span', { class: 'chip-count' }, ` ${count}`))));
    if (focused) /** @type {HTMLElement|null} */ (this.filters.querySelector(`[data-filter="${CSS.escape(focused)}"]`))?.focus({ preventScroll: true });
  }

  #showSelection() {
    const { size } = this.gallery.selected;
    this.selection.hidden = size === 0;
    this.selectionBar.text = size === 1 ? '1 selected. It is:' : `${size} selected. They are:`;
    if (!size) this.selectionBar.reset();
  }

  /** Teaches pictures; one that was taught as something else moves. */
  #teach = async (/** @type {Item[]} */ items, /** @type {Target} */ target) => {
    const chosen = items.filter(({ taught }) => !('id' in target) || taught !== target.id);
    if (!items.length) throw new Error('Choose at least one picture first.');
    if (!chosen.length) return;
    await this.changes.teach(target, chosen.map((item) => async (classId) => {
      if (item.taught) await this.engine.removeExample(item.taught, item.example);
      const samples = await this.kinds.now.open(item.file);
      item.example = await enrol(this.engine, classId, samples[item.piece], item.embedding).finally(() => { for (const one of samples) one.close(); });
      item.taught = classId;
      return item.example;
    }));
    this.#draw();
  };

  #save() {
    const table = `\uFEFF${tableOf(this.#items, this.#classes)}`; // the mark has spreadsheets read it as UTF-8
    void save(new TextEncoder().encode(table), 'pictures.csv');
    say(`Saved a table of ${counted(this.#items.length, 'picture')}.`);
  }

  async #copy() {
    complain(this.error, '');
    try {
      const root = await chooseFolder();
      if (!root) return;
      this.#run = new AbortController();
      this.#stage = 'copying';
      const { signal } = this.#run;
      const names = new Map([...this.#classes, { id: NONE, name: 'none of these' }, { id: WAITING, name: 'not sorted' }].map(({ id, name }) => [id, name]));
      let done = 0;
      this.#tell();
      for (const item of [...this.#items]) {
        if (signal.aborted) break;
        this.#progress(done, this.#items.length);
        await copyInto(root, names.get(verdict(item).id) ?? 'not sorted', item.file);
        done++;
      }
      say(`${signal.aborted ? 'Stopped. ' : ''}${counted(done, 'picture')} copied into “${root.name}”.`);
    } catch (error) {
      complain(this.error, sentence(error));
    }
    this.#run = null;
    this.#stage = 'idle';
    if (this.open) this.#tell();
  }
}

/**
 * @param {File} file
 * @param {number} piece of it
 * @param {string} name of that
 * @param {Float32Array} embedding
 * @param {import('./sorting.js').Answer|null} answer
 * @param {Uint8Array} picture of it, small
 * @returns {Item}
 */
function itemOf(file, piece, name, embedding, answer, picture) {
  let url = '';
  return {
    name, path: pathOf(file).replace(/[^/]*$/, () => name), file, piece, embedding, answer, taught: '', example: '',
    get url() { return url ||= URL.createObjectURL(new Blob([new Uint8Array(picture)], { type: 'image/jpeg' })); },
    release() { URL.revokeObjectURL(url); },
  };
}

/**
 * @param {import('../../library/types.js').Prediction|null} prediction
 * @returns {import('./sorting.js').Answer|null}
 */
function answerOf(prediction) {
  return prediction && { classes: prediction.classes.map(({ id }) => id), probabilities: prediction.classes.map(({ probability }) => probability), none: prediction.none,
    taken: prediction.classes.findIndex(({ id }) => id === prediction.decision.class), doubtful: prediction.decision.doubtful };
}
