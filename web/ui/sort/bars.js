// @ts-check
/** The bars around the sorted pictures: progress, filters and results. */
import { capital, counted, marked, noun } from '../kit/dom.js';
import { html, icon, nothing, repeat } from '../kit/view.js';
import { NONE, WAITING } from './sorting.js';

/** @import {Filter} from './sorting.js' */
/** @import {Named} from '../teach/correct.js' */
/** @typedef {'idle'|'reading'|'judging'|'copying'} Stage */

/**
 * @typedef {object} Progress
 * @property {Stage} stage
 * @property {number} pictures in all
 * @property {number} done of the present stage
 * @property {number} total
 * @property {string} left the remaining time in words, empty if unknown
 * @property {number} taught number of taught classes
 * @property {string} only name of the class whose examples the pictures are compared with, empty if there are several classes
 * @property {{sure: number}} bounds see Engine
 * @property {number} open number of pictures that are not taught
 * @property {number} doubtful number of these that are doubtful
 * @property {boolean} stale whether something was taught after the answers were made, and they are
 * not being renewed
 * @property {boolean} classified whether the pictures were judged together
 * @property {string} error
 */

/** @param {Progress} progress */
function words({ stage, pictures, done, total, left, taught, only, bounds, open, doubtful, stale, classified }) {
  const are = `${doubtful} ${doubtful === 1 ? 'is' : 'are'} doubtful: the answer is less than ${bounds.sure}\u00a0% sure`;
  if (stage === 'reading') {
    return `Looking at ${noun()} ${Math.min(done + 1, total)} of ${total}${left}.${taught && !only ? ' Each is judged alone until all are read. Then all are judged together, which is more accurate.' : ''}`;
  }
  if (stage === 'judging' && only) return `Comparing ${noun()}s with the examples of “${only}” …`;
  if (stage === 'judging') return taught ? `Judging all ${noun()}s together …` : `Looking for ${noun()}s that are alike …`;
  if (stage === 'copying') return `Copying the ${noun()}s …`;
  if (!pictures) return `There are no ${noun()}s here.`;
  if (!taught) return 'Nothing is taught yet, so nothing is sorted. Say what a few of these are.';
  if (!open) return `All of these ${noun()}s are taught.`;
  if (stale) return 'These answers are older than your last changes.';
  if (only) return classified ? `Compared part by part with the examples of “${only}”.${doubtful ? ` ${are}.` : ''}` : `Not all ${noun()}s have been compared.`;
  if (!classified) return 'Judged one by one.';
  if (!doubtful) return `Judged together: ${noun()}s that are alike help each other.`;
  return `Judged together. ${are}${taught === 1 ? ', or there is no second class to compare with' : ''}. Name the class of one, and the answers for similar ones get surer.`;
}

const DONE = { reading: 'looked at', judging: 'judged', copying: 'copied' };

/** @param {Progress} progress @param {{again: () => void, cancel: () => void, close: () => void}} on */
export function head(progress, { again, cancel, close }) {
  const { stage, pictures, done, total, taught, only, open, classified, stale, error } = progress;
  const idle = stage === 'idle';
  return html`<div class="sort-head"><h2 id="sort-title">${counted(stage === 'reading' ? total : pictures, noun())}</h2>
      <div class="actions">${idle ? nothing : html`<button class="button quiet" type="button" @click=${cancel}>Cancel</button>`}
      <button class="button" type="button" @click=${close}>${icon('close')}Close</button></div></div>
    <p class="sort-state">${words(progress)}${idle && taught && open && (stale || !classified) ? html` <button class="link" type="button" @click=${again}>${only ? 'Compare' : 'Judge together'}</button>` : nothing}</p>
    <progress class=${idle ? 'sort-work idle' : 'sort-work'} max=${Math.max(total, 1)} value=${done} aria-label=${stage === 'idle' ? nothing : `${capital(noun())}s ${DONE[stage]}`}></progress>
    <p class="error" role="alert" ?hidden=${!error}>${error}</p>`;
}

/** @param {Filter} filter */
const keyOf = (filter) => (filter.kind === 'group' ? `group ${filter.id}` : filter.kind);

/**
 * @param {{pictures: number, groups: Map<string, number>, doubtful: number, classes: readonly Named[], filter: Filter, arriving: boolean, idle: boolean, ready: boolean, folders: boolean}} shown
 * @param {{filter: (filter: Filter) => void, order: () => void, save: () => void, copy: () => void}} on
 */
export function tools({ pictures, groups, doubtful, classes, filter, arriving, idle, ready, folders }, on) {
  const filters = /** @type {{text: string, count: number, filter: Filter}[]} */ ([
    { text: 'All', count: pictures, filter: { kind: 'all' } },
    { text: 'Doubtful', count: doubtful, filter: { kind: 'doubtful' } },
    ...[...classes, { id: NONE, name: 'None of these' }]
      .filter(({ id }) => groups.has(id))
      .map(({ id, name }) => ({ text: name, count: groups.get(id) ?? 0, filter: { kind: 'group', id } })),
  ]);
  return html`<div class="chips" role="group" aria-label=${`Which ${noun()}s to show`}>${repeat(
    filters,
    (one) => keyOf(one.filter),
    (one) => html`<button class="chip" type="button"
      aria-pressed=${String(keyOf(one.filter) === keyOf(filter))} @click=${() => on.filter(one.filter)}><span class="ellipsis" dir="auto">${one.text}</span><span class="chip-count"> ${one.count}</span></button>`,
  )}</div>
    <div class="actions"><label class="vh" for="sort-order">Order within a group</label>
      <select class="field sort-order" id="sort-order" ?disabled=${arriving /* they stand as they come */} @change=${on.order}><option value="doubt">Most doubtful first</option><option value="sure">Surest first</option><option value="name">By file name</option></select>
      <button class="button" type="button" ?disabled=${!ready} @click=${on.save}>${icon('table')}Save as a table</button>
      <button class="button" type="button" ?disabled=${!ready || !idle} @click=${on.copy}>${icon('folder')}${folders ? 'Copy into folders' : 'Save folders as a zip'}</button></div>`;
}

/** The sentence about the result names at most this many groups: the status line has two rows on a phone. */
const NAMED = 6;

/** The result in a sentence. @param {number} pictures @param {Map<string, number>} groups @param {number} doubtful @param {readonly Named[]} classes */
export function outcome(pictures, groups, doubtful, classes) {
  const all = [...classes, { id: NONE, name: 'none of these' }, { id: WAITING, name: 'not sorted' }].map(({ id, name }) => ({
    count: groups.get(id) ?? 0,
    name,
  }));
  const some = all.filter(({ count }) => count);
  const left = some.length > NAMED ? some.sort((a, b) => b.count - a.count).splice(NAMED - 1) : []; // the largest are named
  const rest = left.length ? ` and ${left.reduce((sum, { count }) => sum + count, 0)} in ${left.length} other groups` : '';
  const none = groups.has(WAITING) ? '' : ' None doubtful.'; // without an answer there is nothing to doubt
  return `${counted(pictures, noun())}: ${some.map(({ count, name }) => `${count} ${marked(name)}`).join(', ')}${rest}.${doubtful ? ` ${doubtful} doubtful.` : none}`;
}

/** The remaining time in words, empty if unknown. @param {number} spent milliseconds @param {number} done number done in that time @param {number} left number still to do */
export function timeLeft(spent, done, left) {
  if (done < 5) return '';
  const seconds = ((spent / done) * left) / 1000;
  return seconds >= 90 ? `, about ${Math.round(seconds / 60)} minutes left` : seconds >= 5 ? `, about ${Math.round(seconds)} seconds left` : '';
}
