// @ts-check
/** The page of a shared file: opens its blocks and recognises. If allowed, it can be taught and saves itself as a new file. */
import { complain, say, sayInDialogs } from '../../ui/kit/announce.js';
import { byId, capital, counted, dialogHead, el, save, sentence } from '../../ui/kit/dom.js';
import { keepFocus } from '../../ui/kit/focus.js';
import { pressOnce } from '../../ui/kit/hold.js';
import { html, nodesOf, nothing } from '../../ui/kit/view.js';
import { actionsIn } from '../../ui/then/actions.js';
import { init, openClassifier } from '../../library/index.js';
import { assemble, pageFile, megabytes, packed, sizeOf, unpacked } from '../assemble.js';
import { room, startExtractor } from './extractor.js';
import { copiesOf } from './copies.js';
import { judges } from './good.js';
import { buildRecogniser } from './recognise.js';

/** @import {About} from '../assemble.js' */

/** @param {HTMLScriptElement} script this program */
export function startPage(script) {
  const blocks = takeBlocks();
  const write = emptyPage();
  start(blocks, write, script.text).catch((error) => {
    complain(byId('trouble', HTMLElement), sentence(error));
    say('');
  });
}

/** Removes the blocks from the document, since they are large. @returns {Record<string, string>} packed, by name */
function takeBlocks() {
  /** @type {Record<string, string>} */
  const blocks = {};
  const elements = [...document.querySelectorAll('script[id^="block-"]')];
  elements[0]?.before(el('template', { id: 'blocks' }));
  for (const element of elements) {
    blocks[element.id.slice('block-'.length)] = element.textContent ?? '';
    element.remove();
  }
  return blocks;
}

/** Returns a function that writes this page with other blocks. */
function emptyPage() {
  const copy = /** @type {HTMLElement} */ (document.documentElement.cloneNode(true));
  return (/** @type {string} */ title, /** @type {Record<string, string>} */ filled) => {
    const text = `<!doctype html>\n${copy.outerHTML}\n`;
    const named = /<title>[^<]*<\/title>/.exec(text)?.[0] ?? '';
    return assemble(
      text.replace(named, () => '<title>metaqda</title>'),
      title,
      filled,
    );
  };
}

/**
 * @param {Record<string, string>} blocks
 * @param {(title: string, blocks: Record<string, string>) => string} write
 * @param {string} program
 */
async function start(blocks, write, program) {
  sayInDialogs();
  keepFocus();
  pressOnce();
  const notWhole = () => new Error('This file is incomplete: get another copy of it.');
  const read = (/** @type {string} */ name) => {
    if (!(name in blocks)) throw notWhole();
    return unpacked(blocks[name]).catch(() => {
      throw new Error('This file is damaged: get another copy of it.');
    });
  };
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function')
    throw new Error('This browser is too old for this file: open it in a current Chrome, Edge, Firefox or Safari.');
  const about = /** @type {About} */ (JSON.parse(new TextDecoder().decode(await read('about'))));
  say('Unpacking …');
  const extractor = startExtractor(about.extractor, read, program);
  extractor.catch(() => {}); // awaited below
  await init({ wasm: await read('engine') });
  const { id, sha256 } = about.extractor;
  const session = await read('classifier');
  const classifier = await openClassifier(session, {
    prior: blocks.prior ? await read('prior') : undefined,
    extractor: {
      id,
      sha256,
      embed: () => {
        throw new Error('examples come as vectors');
      },
    },
  }).catch((error) => {
    throw error.code === 'prior' ? notWhole() : error;
  }); // a learned prior is a block
  const copies = copiesOf(classifier, session);
  document.body.dataset.place = (await extractor).place;
  const kind = room.kind(() => extractor, 'yamnet' in (about.extractor.networks ?? {}));
  buildNotices(new TextDecoder().decode(await read('notices')));
  const known = () => {
    const { counts, labels } = classifier;
    byId('what', HTMLElement).textContent = taskOf(
      labels.filter((label) => counts[label]),
      kind.one,
      kind.id === 'pictures' && judges(classifier, copies),
      about.learn,
    );
    showKnown(classifier, kind, copies);
  };
  known();
  describe(about, sizeOf(write(about.name, blocks)));
  byId('keep', HTMLElement).hidden = !about.learn;
  const onTaught = buildKeeping({
    classifier,
    known,
    anew: async () => {
      const now = { ...about, made: new Date().toISOString(), classes: classifier.labels };
      return write(about.name, { ...blocks, about: await packedJSON(now), classifier: await packed(classifier.save()) });
    },
    name: about.name,
  });
  buildRecogniser({ classifier, kind, about, copies, actions: actionsIn(session), onTaught });
  for (const part of document.querySelectorAll('[inert]')) part.removeAttribute('inert');
  document.body.dataset.ready = 'true';
  say('Ready.');
}

/** @param {unknown} value */
const packedJSON = (value) => packed(new TextEncoder().encode(JSON.stringify(value)));

/** A sentence that says what the file does. @param {string[]} classes @param {string} one example @param {boolean} judging whether it compares a picture with its only class @param {boolean} learn */
function taskOf(classes, one, judging, learn) {
  const shown = classes.slice(0, 12).join(', ');
  const more = classes.length > 12 ? ` and ${classes.length - 12} more` : '';
  const does = judging
    ? `This file says whether a ${one} is like “${classes[0]}”, or something is wrong with it.`
    : classes.length === 1
      ? `This file says how likely a ${one} is “${classes[0]}”.`
      : `This file tells ${counted(classes.length, 'thing')} apart: ${shown}${more}.`;
  return `${does} Show it a ${one}.${learn ? ' If it is wrong, tell it the right class.' : ''}`;
}

/** @param {About} about @param {number} bytes of the file */
function describe({ name, made, version, extractor }, bytes) {
  byId('name', HTMLElement).textContent = name;
  const time = new Date(made);
  const day = Number.isNaN(time.getTime()) ? '' : ` on ${time.toLocaleDateString(undefined, { dateStyle: 'long' })}`;
  byId('made', HTMLElement).textContent = `Made${day} with metaqda.`;
  byId('facts', HTMLElement).textContent =
    `Made${day} by the page of metaqda, version ${version}. It has ${megabytes(bytes)}: the engine, the feature extractor “${extractor.id}”, ` +
    'background knowledge and what was taught. It makes no network requests: its security policy forbids them.';
}

/** @param {string} notices */
function buildNotices(notices) {
  const dialog = byId('about', HTMLDialogElement);
  dialog.prepend(dialogHead(dialog, 'about-title', 'About this file'));
  byId('licences', HTMLElement).textContent = notices;
  byId('about-button', HTMLElement).addEventListener('click', () => dialog.showModal());
}

/**
 * Shows the classes, with copies of their examples if the file has any. Sounds can be played.
 *
 * @param {import('../../library/index.js').Classifier} classifier
 * @param {import('../../ui/kinds/index.js').Kind} kind
 * @param {import('./copies.js').Copies} copies
 */
function showKnown(classifier, { one, play }, copies) {
  const { counts } = classifier;
  const picture = (/** @type {string} */ label, /** @type {string} */ id, /** @type {number} */ i) => {
    const bytes = copies.get(id);
    if (!bytes) return nothing;
    const url = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (bytes)]));
    const image = html`<img class="thumb-picture" src=${url} alt="${capital(one)} ${i + 1} of ${label}" @load=${() => URL.revokeObjectURL(url)}>`;
    return play ? html`<button class="link" type="button" @click=${() => play(bytes).catch((error) => say(sentence(error)))}>${image}</button>` : image;
  };
  byId('known', HTMLElement).replaceChildren(
    nodesOf(
      classifier.labels.map(
        (label) => html`<li class="known"><span class="ellipsis" dir="auto">${label}</span><span class="muted small">${counted(counts[label], one)}</span>
        <span class="known-pictures">${classifier.examples(label).map((id, i) => picture(label, id, i))}</span></li>`,
      ),
    ),
  );
}

/**
 * @param {{classifier: import('../../library/index.js').Classifier, known: () => void, anew: () => Promise<string>, name: string}} parts
 * @returns {() => void} called after something was taught
 */
function buildKeeping({ classifier, known, anew, name }) {
  const error = byId('keep-error', HTMLElement);
  let [taught, saved] = [0, 0];
  const button = (/** @type {string} */ id, /** @type {() => Promise<[Uint8Array, string]>} */ make) => {
    byId(id, HTMLButtonElement).addEventListener('click', () => {
      const now = taught; // examples added meanwhile may not be in the file
      make()
        .then(async ([bytes, file]) => {
          await save(bytes, file);
          saved = now;
          complain(error, '');
          say(`“${file}” was saved: ${megabytes(bytes.length)}.`);
        })
        .catch((failed) => complain(error, sentence(failed)));
    });
  };
  button('keep-file', async () => [new TextEncoder().encode(await anew()), pageFile(name)]);
  button('keep-session', async () => [classifier.save(), 'classifier.safetensors']);
  window.addEventListener('beforeunload', (event) => {
    if (saved !== taught) event.preventDefault();
  });
  return () => {
    known();
    taught++;
  };
}
