// @ts-check
/**
 * The view that sorts many pictures. They are predicted one by one, then judged together, shown by group, corrected,
 * and saved as a table or as folders. Only taught pictures are stored. A notice offers to open a closed view again.
 * Without the notice the view is forgotten.
 */
import { say } from '../kit/announce.js';
import { Lookalikes, Question, Selection } from './ask.js';
import { summary } from '../kit/batch.js';
import { byId, counted, el, noun, sentence } from '../kit/dom.js';
import { canWriteFolders, chosenFolder, zippedFolders } from '../kit/folders.js';
import { render } from '../kit/view.js';
import { lookalikes } from './alike.js';
import { head, outcome, timeLeft, tools } from './bars.js';
import { Gallery } from './gallery.js';
import { Home } from './home.js';
import { compare, copiedBytes, copyAll, itemsOf, leaveOut, noteTaught, saveTable, teachItem } from './items.js';
import { Batch, nextTask } from '../../library/storage.js';
import { countsOf, groupsOf, NONE, WAITING } from './sorting.js';
import { note } from '../kit/note.js';
import { releaseSource } from '../kinds/index.js';
import { onlyClass } from '../recognise/good.js';
import { Viewer } from './viewer.js';

/** @import {LoadedEngine} from '../../library/types.js' */
/** @import {Target} from '../teach/correct.js' */
/** @import {Filter, Order} from './sorting.js' */
/** @import {Item} from './items.js' */
/** @import {Stage} from './bars.js' */
/** @import {Taught} from '../teach/model.js' */

/** The largest number of pictures at a time. Their embeddings take 25 megabytes. */
export const MOST = 5000;

/** Most bytes of cells that are kept, so that pictures are compared anew at once: those of some 170 pictures. */
const KEPT = 64e6;

/** Number of pictures worked on at a time: one is decoded while another is embedded. */
const LANES = 2;
/** Milliseconds between two drawings while pictures come in, and without a change before they are judged again. */
const DRAW = 250;
const QUIET = 400;
/** After a drawing the page rests this many times as long as the drawing took. */
const REST = 19;
/** Number of questions before the most informative pictures are chosen again. */
const QUESTIONS = 6;

export class Sorting {
  #items = /** @type {Item[]} */ ([]);
  #queue = /** @type {File[]} */ ([]);
  #errors = /** @type {string[]} */ ([]);
  #total = 0;
  #done = 0;
  #stage = /** @type {Stage} */ ('idle');
  /** @type {AbortController|null} */
  #run = null;
  #classes = /** @type {readonly Taught[]} */ ([]);
  #key = '';
  /** Whether the pictures were judged together, or all were compared. */
  #classified = false;
  /** The class whose examples the pictures are compared with, null if there are several classes. @type {Taught|null} */
  #only = null;
  /** Stops the present comparison. */
  #comparing = new AbortController();
  /** Bytes of cells that are kept. */
  #kept = 0;
  #again = false;
  /** Whether something was taught after the answers were made. */
  #stale = false;
  /** When reading began, and how many pictures were done by then. */
  #begun = { time: 0, done: 0 };
  /** Progress of judging or copying: done, and total. */
  #at = [0, 1];
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #drawing;
  #pause = DRAW;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #waiting;
  #filter = /** @type {Filter} */ ({ kind: 'all' });
  #questions = /** @type {Item[]} */ ([]);
  #alike = /** @type {import('./ask.js').Group[]} */ ([]);

  /**
   * @param {{engine: LoadedEngine, kinds: import('../kinds/index.js').Kinds, changes: import('../teach/changes.js').Changes, odd: import('../recognise/good.js').OddOf}} parts
   */
  constructor({ engine, kinds, changes, odd }) {
    this.engine = engine;
    this.odd = odd;
    this.kinds = kinds;
    this.changes = changes;
    this.batch = new Batch(engine, { onProgress: ({ done, total }) => this.#progress(done, total) });
    this.element = byId('sort', HTMLElement);
    this.home = new Home({
      any: () => this.open || this.#items.length > 0,
      putAway: () => this.#putAway(),
      open: () => this.#openAgain(),
      close: () => this.close(),
    });
    this.gallery = new Gallery({
      onOpen: (items, item) => this.viewer.open(items, item),
      onSelect: () => this.selection.count(this.gallery.selected.size),
    });
    this.viewer = new Viewer({
      kinds,
      bounds: engine.bounds,
      onTeach: this.#teach,
      onClosed: (last) => {
        if (!this.asks.contains(document.activeElement)) this.gallery.focus(last);
      },
    });
    this.question = new Question({ onTeach: this.#teach, onOpen: (item) => this.viewer.open([item], item) });
    this.lookalikes = new Lookalikes({ onTeach: this.#teach });
    this.head = el('div', { class: 'sort-top' });
    this.tools = el('div', { class: 'sort-tools' });
    this.selection = new Selection({ gallery: this.gallery, onTeach: this.#teach });
    addEventListener('popstate', () => {
      if (!this.open) return;
      const dialog = [...document.querySelectorAll('dialog')].findLast(({ open }) => open);
      if (!dialog) return this.#leave();
      dialog.close(); // Back closes only the dialog
      history.pushState('sort', '');
    });
    this.element.append(
      this.head,
      (this.asks = el('div', { class: 'asks' }, this.question.element, this.lookalikes.element)),
      this.tools,
      this.gallery.element,
      this.selection.element,
    );
  }

  /** Whether the view is open. */
  get open() {
    return !this.element.hidden;
  }

  /** Adds more pictures and opens the view. @param {File[]} files */
  async add(files) {
    if (!this.open) this.home.forget(); // the view that a notice offers
    const room = Math.max(0, MOST - this.#items.length - this.#queue.length);
    const some = files.slice(0, room);
    this.#show(true);
    if (!this.#run && files.length) this.#errors = [];
    if (files.length > room) this.#errors.push(`Only ${MOST.toLocaleString('en')} ${noun()}s fit at a time: the last ${files.length - room} were left out.`);
    this.#queue.push(...some);
    this.#total += some.length;
    if (this.#run) return; // the present run takes these too
    if (this.#stage === 'judging') {
      this.#comparing.abort();
      this.batch.close(); // all are judged together later
    }
    const { signal } = (this.#run = new AbortController());
    this.#stage = 'reading';
    this.#classified = false;
    this.#begun = { time: performance.now(), done: this.#done };
    this.#draw();
    await Promise.all(Array.from({ length: LANES }, () => this.#read(signal)));
    if (this.#run?.signal !== signal) return; // closed meanwhile
    const stopped = signal.aborted ? `Stopped: ${this.#done} of ${this.#total} were looked at; choose the others again. ` : '';
    [this.#queue, this.#total, this.#run, this.#stage] = [[], this.#items.length, null, 'idle'];
    // The last answer, the drawing and the message to the worker each get a task of their own.
    await nextTask();
    this.#draw();
    await nextTask();
    await this.#classifyAll(stopped);
  }

  /**
   * Takes the taught classes, and a key that changes whenever answers may change.
   *
   * @param {readonly Taught[]} classes @param {string} key @param {import('./home.js').State} state
   */
  follow(classes, key, state) {
    this.#classes = classes;
    if (this.#only) this.#only = onlyClass(classes);
    const [here, changed] = [this.home.follow(state), key !== this.#key]; // a view that is shown again has the key of its answers
    this.#key = key;
    if (!here) return;
    noteTaught(this.#items, classes);
    this.#stale ||= changed && this.#items.some(({ taught }) => !taught);
    if (!this.open) return;
    if (this.#stale && this.asks.offsetHeight) this.asks.style.minHeight = `${this.asks.offsetHeight}px`; // keeps the page below in its place until the next question is known
    this.#draw();
    if (!changed || this.#run || !this.#items.length) return;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      void this.#classifyAll();
    }, QUIET);
    this.#tell();
  }

  /** Closes the view and forgets the pictures. */
  close() {
    this.home.clear();
    this.#rest();
    for (const item of this.#items) item.release();
    [this.#items, this.#questions, this.#alike] = [[], [], []];
    this.#kept = 0;
    this.#total = this.#done = 0;
    this.#filter = { kind: 'all' };
    this.#only = null;
    this.gallery.clear();
    for (const one of [this.question, this.lookalikes]) one.show([], this.#classes);
    this.selection.count(0);
    this.#show(false);
  }

  /** Stops the present work. */
  #rest() {
    this.#run?.abort();
    this.#comparing.abort();
    this.batch.close();
    for (const one of [this.#waiting, this.#drawing]) clearTimeout(one);
    this.#drawing = this.#waiting = undefined;
    this.viewer.dialog.close();
    [this.#queue, this.#errors, this.#run] = [[], [], null];
    this.#total = this.#done = this.#items.length;
    if (this.#stage !== 'judging') this.#stage = 'idle'; // the loop ends by itself
  }

  /** Closes the view. The pictures stay as long as a notice offers to open it again. */
  #leave() {
    this.#rest();
    this.#show(false);
    const field = byId('query-file', HTMLElement);
    field.focus({ preventScroll: true });
    if (this.#items.length) this.#offer();
    else this.close();
    if (innerWidth < 900) field.parentElement?.scrollIntoView({ block: 'center', behavior: 'instant' }); // there the whole page scrolls, and this view has moved it
  }

  #offer() {
    this.home.offer(counted(this.#items.length, noun()));
  }

  /** Hides what belongs to another session. @returns {() => void} shows it again */
  #putAway() {
    const [open, key, unread] = [this.open, this.#key, this.#total - this.#done];
    this.#rest();
    if (open) this.#show(false);
    if (unread) this.#errors = [`Another session was opened before ${counted(unread, noun())} could be looked at: choose them again.`];
    return () => {
      this.#key = key;
      if (open) this.#openAgain();
      else this.#offer();
    };
  }

  /** Opens the closed view, and judges again if something was taught meanwhile. */
  #openAgain() {
    this.#show(true);
    this.#draw();
    if (this.#stale || !this.#classified) void this.#classifyAll();
  }

  /** @param {boolean} open */
  #show(open) {
    const was = this.open;
    this.element.hidden = !open;
    byId('teach', HTMLElement).hidden = open;
    byId('recognise', HTMLElement).hidden = open;
    note('sorting', open);
    if (open && !was) {
      releaseSource(); // it would continue behind this view
      history.scrollRestoration = 'manual'; // after Back, the browser must not scroll away from the notice about the closed view
      if (history.state !== 'sort') history.pushState('sort', '');
      scrollTo({ top: 0, behavior: 'instant' });
      this.element.focus({ preventScroll: true });
    }
  }

  /** Reads one picture after the other until there are no more. @param {AbortSignal} signal */
  async #read(signal) {
    while (!signal.aborted) {
      const file = this.#queue.shift();
      if (!file) return;
      try {
        const items = await itemsOf(this.engine, this.kinds.now, file, this.#classes);
        for (const item of items) await this.#compare(item).catch(() => false); // said once all are read
        if (signal.aborted) return;
        noteTaught(items, this.#classes);
        this.#items.push(...items);
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
   * Judges all pictures together that are not taught, and again if something changed meanwhile.
   *
   * @param {string} [stopped] says that some pictures were not read
   */
  async #classifyAll(stopped = '') {
    this.#again = true;
    if (this.#stage !== 'idle') return;
    while (this.#again && this.open && !this.#run) {
      this.#again = false;
      const items = this.#items.filter((item) => !item.taught);
      this.#stale &&= items.length > 0;
      if (!items.length) break;
      this.#stage = 'judging';
      this.#progress(0, 1);
      try {
        await this.#classify(items);
      } catch (error) {
        this.#classified = false;
        if (/** @type {{code?: string}} */ (error).code !== 'cancelled') this.#errors.push(sentence(error));
      }
      if (this.#stage === 'judging') this.#stage = 'idle'; // others came meanwhile
    }
    if (!this.open) return;
    this.asks.removeAttribute('style');
    this.#draw();
    const { groups, doubtful } = countsOf(this.#items);
    if (!this.#run) say(this.#items.length ? `${stopped}${outcome(this.#items.length, groups, doubtful, this.#classes)}` : stopped.trim());
  }

  /** Compares a picture with the examples of the only class. @param {Item} item @returns {Promise<boolean>} false if it cannot be compared */
  async #compare(item) {
    const only = onlyClass(this.#classes);
    if (!only || !(await compare(this.odd, this.kinds.now, item, only.id, { key: this.#key, sure: this.engine.bounds.sure, keeps: this.#keeps }))) return false;
    this.#only = onlyClass(this.#classes);
    return true;
  }

  /** Whether there is room for so many more bytes of cells; then they count. @param {number} bytes */
  #keeps = (bytes) => {
    const room = this.#kept + bytes <= KEPT;
    if (room) this.#kept += bytes;
    return room;
  };

  /** Compares each picture with the examples of the only class. @param {Item[]} items @returns {Promise<boolean>} false if they cannot be compared */
  async #compareAll(items) {
    const { signal } = (this.#comparing = new AbortController());
    const key = this.#key;
    for (const [i, item] of items.entries()) {
      const compared = await this.#compare(item);
      if (signal.aborted) {
        item.compared = ''; // another session may be open by now
        throw Object.assign(new Error('The comparison was cancelled.'), { code: 'cancelled' });
      }
      if (!compared) return false;
      if (this.#again) return true; // something changed: they are compared anew
      this.#progress(i + 1, items.length);
    }
    this.#classified = true;
    this.#stale &&= this.#waiting !== undefined || key !== this.#key;
    [this.#questions, this.#alike] = [[], []];
    this.#later();
    try {
      // Groups of pictures that are not like the examples may be further classes.
      await this.batch.classify(items.map(({ embedding }) => embedding));
      this.#alike = (await this.#lookalikes(items)).filter(({ of }) => !of);
    } catch (error) {
      if (!this.open || this.#run) throw error; // closed, or others came
      if (/** @type {{code?: string}} */ (error).code !== 'cancelled') this.#errors.push(sentence(error));
    }
    return true;
  }

  /** @param {Item[]} items of the last batch @returns {Promise<import('./ask.js').Group[]>} */
  #lookalikes(items) {
    return lookalikes(
      this.batch,
      items,
      this.#items.filter(({ taught }) => taught),
    );
  }

  /** @param {Item[]} items */
  async #classify(items) {
    if (await this.#compareAll(items)) return;
    this.#only = null;
    for (const item of this.#items) item.cells = null;
    this.#kept = 0;
    const [key, out] = [this.#key, items.map((item) => new Set(item.out))];
    const { classes, probabilities, taken, doubtful } = await this.batch.classify(
      items.map(({ embedding }) => embedding),
      out,
    );
    const width = classes.length + 1;
    items.forEach((item, i) => {
      item.compared = '';
      if (item.out.size !== out[i].size)
        this.#again = true; // left out meanwhile
      else
        item.answer = probabilities && {
          classes,
          none: probabilities[i * width],
          probabilities: probabilities.subarray(i * width + 1, (i + 1) * width),
          taken: taken[i],
          doubtful: doubtful[i] === 1,
        };
    });
    this.#classified = probabilities !== null;
    this.#stale &&= this.#again || this.#waiting !== undefined || key !== this.#key; // changes made while these were judged are not in them
    this.#later();
    this.#questions = await this.batch.suggest(QUESTIONS).then(({ places, like }) => places.map((place, i) => Object.assign(items[place], { like: like[i] })));
    this.#alike = await this.#lookalikes(items);
  }

  #cancel() {
    if (this.#stage !== 'judging') return this.#run?.abort();
    this.#again = false;
    this.#comparing.abort();
    this.batch.close();
  }

  /** Draws soon. The wait grows with the time that the last drawing took. */
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
    const chosen = /** @type {HTMLSelectElement|null} */ (this.tools.querySelector('select'))?.value ?? 'doubt';
    const order = this.#stage === 'reading' ? 'arrival' : /** @type {Order} */ (chosen);
    this.gallery.show(
      groupsOf(this.#items, this.#classes, { order, filter: this.#filter }),
      this.#only ? `Not like the examples of “${this.#only.name}”.` : `At least ${this.engine.bounds.none}\u00a0% likely to be something unknown.`,
    );
    this.#tell();
    this.selection.show(this.#classes);
    this.viewer.refresh(this.#classes);
    const asking = this.#stage !== 'reading';
    // If no picture is doubtful, there is nothing to ask.
    const open = doubtful > 0 || groups.has(NONE) || groups.has(WAITING);
    this.question.show(asking && open ? this.#questions : [], this.#classes);
    this.lookalikes.show(asking ? this.#alike : [], this.#classes);
  }

  /** Shows the progress and what can be done. */
  #tell() {
    const [stage, pictures] = [this.#stage, this.#items.length];
    const { groups, doubtful } = countsOf(this.#items);
    const [done, total] = stage === 'reading' ? [this.#done, this.#total] : this.#at;
    render(
      head(
        {
          stage,
          pictures,
          done,
          total,
          left: stage === 'reading' ? timeLeft(performance.now() - this.#begun.time, this.#done - this.#begun.done, this.#total - this.#done) : '',
          classified: this.#classified,
          error: summary(this.#errors),
          only: this.#only?.name ?? '',
          taught: this.#classes.filter(({ examples }) => examples.length).length,
          doubtful,
          bounds: this.engine.bounds,
          open: this.#items.filter(({ taught }) => !taught).length,
          stale: this.#stale && this.#waiting === undefined,
        },
        { again: () => void this.#classifyAll(), cancel: () => this.#cancel(), close: () => this.#leave() },
      ),
      this.head,
    );
    render(
      tools(
        {
          pictures,
          groups,
          doubtful,
          classes: this.#classes,
          filter: this.#filter,
          folders: canWriteFolders(),
          arriving: stage === 'reading',
          idle: stage === 'idle',
          ready: (stage === 'idle' || stage === 'judging') && !this.#stale && pictures > 0, // a table must not mix answers from before and after the last change
        },
        {
          filter: (filter) => {
            this.#filter = filter;
            this.#draw();
          },
          order: () => this.#draw(),
          save: () => saveTable(this.#items, this.#classes),
          copy: () => void this.#copy(),
        },
      ),
      this.tools,
    );
  }

  /** @param {number} done @param {number} total */
  #progress(done, total) {
    this.#at = [done, total];
    this.#tell();
  }

  /**
   * Teaches pictures. A picture that was taught as another class moves. Pictures that were left out stay out of this
   * class. A picture that is none of these stays out of every class.
   *
   * @param {Item[]} items @param {Target} target @param {{leftOut?: Item[], onProgress?: (done: number, total: number) => void}} [options]
   */
  #teach = async (items, target, { leftOut = [], onProgress = () => {} } = {}) => {
    if ('id' in target && target.id === NONE) {
      await this.changes.step(async (learner) => {
        for (const item of items) {
          if (item.taught) await learner.stored((taught) => taught.removeExample(item.example));
          item.taught = '';
          leaveOut(
            item,
            this.#classes.map(({ id }) => id),
          );
        }
        say(`${counted(items.length, noun())} marked as none of these.`);
      });
    } else {
      if (!items.length) throw new Error(`Choose at least one ${noun()} first.`);
      const chosen = items.filter(({ taught }) => !('id' in target) || taught !== target.id);
      if (chosen.length)
        await this.changes.teach(
          target,
          chosen.map((item, i) => async (classId, learner) => {
            onProgress(i, chosen.length);
            const label = () => this.changes.model().label(classId);
            if (item.taught) await learner.stored((taught) => taught.moveExample(item.example, label()));
            else item.examples.push((item.example = await teachItem(learner, this.kinds.now, label, item)));
            item.taught = classId;
            for (const { out } of leftOut) out.add(classId);
            return item.example;
          }),
        );
    }
    this.#draw();
  };

  async #copy() {
    this.#errors = [];
    const run = new AbortController();
    try {
      const zip = !canWriteFolders();
      const folders = zip ? await zippedFolders(`${noun()}s in folders.zip`, copiedBytes(this.#items)) : await chosenFolder();
      if (!folders || !this.open || this.#stage === 'copying') return;
      if (this.#stage !== 'idle' || this.#stale)
        throw new Error(`Nothing was copied, since ${noun()}s were taught or added meanwhile: wait until all are judged, then copy again.`);
      this.#run = run;
      this.#stage = 'copying';
      this.#tell();
      const { copied, there } = await copyAll(folders, this.#items, this.#classes, {
        signal: run.signal,
        onProgress: (n) => this.#progress(n, this.#items.length),
      });
      if (zip && run.signal.aborted) say('Stopped: no zip file was saved.');
      else {
        await folders.end();
        say(
          `${run.signal.aborted ? 'Stopped. ' : ''}${counted(copied, noun())} copied into “${folders.name}”${there ? `; ${there} ${there === 1 ? 'was' : 'were'} there already` : ''}.`,
        );
      }
    } catch (error) {
      this.#errors.push(sentence(error));
    }
    if (this.#run === run) [this.#run, this.#stage] = [null, 'idle'];
    if (!this.open || this.#run) return; // closed meanwhile
    if (this.#queue.length)
      await this.add([]); // examples that came meanwhile
    else if (this.#stale) await this.#classifyAll();
    else this.#tell();
  }
}
