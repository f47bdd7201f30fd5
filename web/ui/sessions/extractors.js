// @ts-check
/** The dialog "Use another extractor": add a network, keep it, and read a session's pictures again with it. */
import { complain, say } from '../kit/announce.js';
import { counted, dialogHead, el, noun, save, sentence } from '../kit/dom.js';
import { canDrop, dropZone } from '../kit/drop.js';
import { onChosen } from '../kit/folders.js';
import { html, icon, live, nothing, render } from '../kit/view.js';
import { described, forget, identityOf, inspect, judged, keep, kept, loadKept, networkAmong, proposalOf, spread } from '../../library/kept.js';
import { megabytes } from '../../share/assemble.js';
import { decode } from '../kinds/pictures/decode.js';
import { withThumbnails } from '../kit/thumbnails.js';

/** @import {ClassState, Engine, Extractor, Kept, Proposal} from '../../library/types.js' */
/** @typedef {Kept & {contents: Map<string, ArrayBuffer>}} Brought */

/** The largest number of characters in the name of a session. */
const LONGEST = 80;
/** Number of taught pictures from which those for a trial are chosen. */
const MOST_TRIALS = 400;

/** Thrown when the person pressed Cancel. */
class Cancelled extends Error {}

export class ExtractorsDialog {
  /** While something runs. @type {AbortController|null} */
  #running = null;
  #busy = false;

  /** @param {{engine: Engine, reader: import('./reader.js').Reader, onReplaced: () => void|Promise<void>, deleteSession: (id: string) => Promise<void>}} parts */
  constructor({ engine, reader, onReplaced, deleteSession }) {
    this.engine = engine;
    this.reader = reader;
    this.onReplaced = onReplaced;
    this.deleteSession = deleteSession;
    this.dialog = el('dialog', { id: 'extractors', class: 'dialog', 'aria-labelledby': 'extractors-title' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.list = el('ul', { class: 'session-list', 'aria-label': 'Extractors on this device' });
    this.bring = el('div', { class: 'extractor-part' });
    render(
      html`<p>${canDrop() ? 'Drop a network here, or choose it' : 'Choose a network'}: an .onnx file, or the model.json of a TensorFlow.js graph with its weight files.</p>
      <div class="actions">${this.#files('Files', { multiple: true })}${this.#files('Folder', { webkitdirectory: true, multiple: true })}</div>
      <p class="small muted">The page finds out how to use it from the file and by trying it on your taught pictures. A manifest beside it can say this instead: a small JSON file, see web/extractor/README.md of metaqda. Nothing leaves this device.</p>
      <p class="small muted">This page runs no code from files. To use a function as an extractor, use the npm package in your own page.</p>`,
      this.bring,
    );
    this.found = el('div', { class: 'extractor-part', tabindex: -1, hidden: true });
    this.bar = el('progress', { 'aria-label': 'Done so far' });
    this.doing = el('p', { class: 'small' });
    this.cancel = el('button', { class: 'button', type: 'button', onclick: () => this.#running?.abort() }, 'Cancel');
    this.progress = el('div', { class: 'extractor-part', hidden: true }, this.doing, this.bar, el('div', { class: 'actions' }, this.cancel));
    this.dialog.append(
      dialogHead(this.dialog, 'extractors-title', 'Use another extractor'),
      el(
        'p',
        { class: 'muted' },
        'An extractor is a network that turns pictures into numbers, to compare them. A session uses one network only. Another network reads the pictures of this session again, into a copy. The session itself stays as it is.',
      ),
      this.error,
      this.list,
      this.bring,
      this.found,
      this.progress,
    );
    this.dialog.addEventListener('cancel', (event) => {
      if (!this.#running) return;
      event.preventDefault();
      this.#running.abort();
    });
    this.dialog.addEventListener('close', () => this.#running?.abort());
    dropZone(this.bring, (files) => void this.#bring(files), { wanted: () => true });
    document.body.append(this.dialog);
  }

  async open() {
    complain(this.error, '');
    this.found.hidden = true;
    this.bring.hidden = !this.#brings;
    this.dialog.showModal();
    await this.#fill();
  }

  /**
   * Reads the examples of the open session again, with progress and a way to cancel.
   *
   * @param {{load: () => Promise<Extractor>}} by the page's own extractor for this kind
   * @param {(session: string) => string} [rename] what the copy is called
   */
  async readAnew(by, rename) {
    await this.open();
    await this.#try(() => this.#readAnew(() => by.load(), rename));
  }

  /** Whether another extractor than the page's own may read the examples. */
  get #brings() {
    return this.reader.kinds.now.others;
  }

  /** @param {string} label @param {Record<string, boolean>} options */
  #files(label, options) {
    const field = el('input', { type: 'file', ...options });
    onChosen(field, (files) => {
      if (files.length) void this.#bring(files);
    });
    return el('label', { class: 'button file-button' }, label, el('span', { class: 'vh' }, ' of the extractor'), field);
  }

  async #fill() {
    const [own, now, { extractor }] = await Promise.all([this.reader.home(), this.reader.now, this.engine.state()]);
    // The extractor in use can read a session again whose own extractor is gone.
    const serves = (/** @type {string} */ sha256) => now.sha256 === sha256 && !extractor.message;
    /** @type {(Kept|null)[]} */
    const all = [null, ...(this.#brings && globalThis.caches ? await kept() : [])];
    render(
      all.map((one) => {
        const name = one ? one.manifest.id : 'Built in';
        const sha256 = one ? one.sha256 : own.sha256;
        const about = one
          ? `${size(one)}, ${numbers(one.manifest)}, ${one.manifest.runtime === 'onnx' ? 'ONNX' : 'TensorFlow.js'}`
          : `${own.id}, ${numbers(own)}`;
        return html`<li class=${serves(sha256) ? 'session open' : 'session'}>
          <div class="session-text"><span>${name}</span><span class="small muted block">${about}</span></div>
          ${serves(sha256) ? html`<span class="badge">In use</span>` : html`<button class="button" type="button" aria-label="Use ${name}" @click=${() => this.#try(() => this.#show(one))}>Use</button>`}
          ${one && now.sha256 !== sha256 ? html`<button class="button quiet square" type="button" aria-label="Remove ${name} from this device" @click=${() => this.#try(() => this.#forget(one))}>${icon('trash')}</button>` : nothing}</li>`;
      }),
      this.list,
    );
  }

  /** @param {Kept} one */
  async #forget(one) {
    await forget(one.sha256);
    this.found.hidden = true;
    await this.#fill();
    say(`The extractor “${one.manifest.id}” was removed from this device. Sessions that it read are kept; to add to them, choose it again.`);
  }

  /** @param {File[]} files */
  #bring(files) {
    return this.#try(async () => {
      say('Checking the files.');
      const brought = await inspect(files);
      if (!brought) return this.#propose(files);
      const { id } = brought.manifest;
      // A network is kept only if it runs now.
      const extractor = await this.#work(`Trying the extractor “${id}”`, (onProgress) => loadKept(brought, { onProgress }));
      extractor.close();
      await this.#keep(brought);
      await this.#show(brought);
    });
  }

  /** @param {Brought} brought */
  async #keep(brought) {
    await keep(brought);
    // The service worker keeps these files, so that sharing works offline.
    for (const ending of ['html', 'txt']) fetch(`networks/share-${brought.manifest.runtime}.${ending}`).catch(() => {});
    await this.#fill();
  }

  /** For a network without a manifest. @param {File[]} files */
  async #propose(files) {
    const network = await networkAmong(files);
    const own = await this.reader.own;
    const proposal = await this.#work(`Trying “${network.name}”`, async (onProgress, signal) => {
      const pictures = await this.#taught();
      try {
        return await proposalOf(network, { pictures, own, onProgress, signal, load: (manifest, contents) => loadKept({ sha256: '', manifest, contents }) });
      } finally {
        for (const { picture } of pictures) picture.close();
      }
    });
    await this.#offer(proposal, network.contents, proposal.best);
  }

  /** Taught pictures to try a network on, one of each burst. */
  async #taught() {
    const { classes: all } = await this.engine.state();
    const single = all.flatMap(({ name: label, examples, firsts = [] }) => firsts.map((at) => ({ label, example: examples[at] })));
    const taught = [];
    for (const { label, example } of spread(single.slice(0, MOST_TRIALS))) {
      const [thumbnail] = await this.engine.thumbnails([example.id]);
      if (thumbnail?.length) taught.push({ label, picture: await decode(new File([new Uint8Array(thumbnail)], 'a taught picture')) });
    }
    return taught;
  }

  /**
   * Shows a proposal and the choices that were tried.
   *
   * @param {Proposal} proposal @param {Map<string, ArrayBuffer>} contents @param {[number, number]} choice
   */
  async #offer(proposal, contents, [i, j]) {
    const { scales, answers, right, asked } = proposal;
    const manifest = proposal.manifest(i, j);
    const choose = (
      /** @type {string} */ label,
      /** @type {{words: string}[]} */ all,
      /** @type {number} */ now,
      /** @type {(k: number) => [number, number]} */ to,
    ) =>
      html`<label class="small">${label}<select class="field" data-name=${label} @change=${async (/** @type {any} */ { target }) => {
        await this.#offer(proposal, contents, to(target.selectedIndex));
        this.found.querySelector('details')?.setAttribute('open', '');
        /** @type {HTMLElement|null} */ (this.found.querySelector(`[data-name="${label}"]`))?.focus();
      }}>${all.map(({ words }, k) => html`<option .selected=${live(k === now)}>${asked ? `${right[to(k)[0]][to(k)[1]]} of ${asked}: ` : ''}${words}</option>`)}</select></label>`;
    const lists = [
      ...(scales.length > 1 ? [choose('Values', scales, i, (k) => [k, j])] : []),
      ...(answers.length > 1 ? [choose('Output', answers, j, (k) => [i, k])] : []),
    ];
    const sha256 = await identityOf(manifest, [...contents.values()]);
    await this.#show(
      { sha256, manifest: { ...manifest, sha256 }, contents },
      html`<div class="proposal">
        <p><strong>${asked ? judged(proposal, [i, j]) : 'To test it, teach two classes of two pictures each, then choose it again.'}</strong></p>
        <p class="small">${asked ? 'Each picture was left out in turn and compared with the others. ' : ''}${described(manifest, scales[i], answers[j])}</p>
        ${lists.length ? html`<details class="small"><summary>Other ways to use it</summary>${lists}</details>` : nothing}</div>`,
      asked > 0 && right[i][j] < proposal.own,
    );
  }

  /**
   * Says what the choice of an extractor means, and offers the next steps.
   *
   * @param {Kept|Brought|null} one null for the page's own
   * @param {unknown} [proposal] about a network that is not kept yet
   * @param {boolean} [worse] whether the trial was worse than the page's own: then keeping it is not offered first
   */
  async #show(one, proposal, worse = false) {
    const { classes } = await this.engine.state();
    const pictures = classes.reduce((sum, { examples }) => sum + examples.length, 0);
    const name = one ? `“${one.manifest.id}”` : 'the built-in one';
    const press = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {() => Promise<void>} */ then) =>
      html`<button class="button ${kind}" type="button" @click=${() =>
        this.#try(async () => {
          if (proposal) await this.#keep(/** @type {Brought} */ (one));
          await then();
        })}>${proposal ? `Keep it: ${text.replace(/^./, (letter) => letter.toLowerCase())}` : text}</button>`;
    const leave = () => {
      this.found.hidden = true;
      this.bring.hidden = !this.#brings;
      this.dialog.querySelector('button')?.focus();
    };
    const [first, last] = worse ? ['', 'primary'] : ['primary', ''];
    const actions = html`<div class="actions">
      ${
        pictures
          ? press(first, `Read the ${counted(pictures, 'picture')} of this session again`, () =>
              this.#readAnew(() => this.#load(one), readBy(one?.manifest.id)),
            )
          : press(first, 'Use it in this session', () => this.#use(one))
      }
      ${pictures ? press('', 'New session with it', () => this.#fresh(one)) : nothing}
      <button class="button ${last}" type="button" @click=${leave}>Not now</button>
      ${
        one && proposal
          ? html`<button class="button quiet" type="button" @click=${() => save(new TextEncoder().encode(JSON.stringify(one.manifest, null, 1)), 'manifest.json')}>Save its manifest</button>`
          : nothing
      }</div>`;
    render(nothing, this.found); // nothing of the extractor before stays open
    render(
      html`<h3>${one ? one.manifest.id : 'Built in'}</h3>${proposal ?? nothing}
      ${
        one
          ? html`<p class="small">${size(one)}, checked. ${numbers(one.manifest)} for each picture. Licence: ${one.manifest.licence.replace(/\.?$/, '.')}</p>
        <p>No background knowledge was learned for this extractor. A generic one is used instead: with few pictures, answers are less sure.</p>
        ${actions}
        <p class="small">Two ways to better answers:</p>
        <ul class="plain small"><li>“Learn from my other sessions” on this page learns background knowledge from what you taught, in this tab.</li>
          <li>On a computer with the source of metaqda, learn it from many pictures. Then open it in the settings with “Open background knowledge”:<pre>${commands(one)}</pre></li></ul>`
          : html`<p>The extractor that comes with the page, and with background knowledge.</p>${actions}`
      }`,
      this.found,
    );
    this.found.hidden = false;
    this.bring.hidden = proposal !== undefined;
    this.found.scrollIntoView({ block: proposal ? 'start' : 'nearest' });
    /** @type {HTMLElement|null} */ (this.found.querySelector('.primary'))?.focus({ preventScroll: true });
    say(`The extractor ${name} can be used.`, { seen: true });
  }

  /** @param {Kept|null} one */
  async #use(one) {
    await this.reader.use(await this.#load(one));
    this.#leave(`${one ? `The extractor “${one.manifest.id}”` : 'The built-in extractor'} is in use.`);
  }

  /** @param {Kept|null} one */
  async #fresh(one) {
    const extractor = await this.#load(one);
    await this.onReplaced();
    await this.engine.newSession(one ? `With ${one.manifest.id}`.slice(0, LONGEST) : 'With the built-in extractor');
    await this.reader.use(extractor);
    this.#leave(`A new session is open, with ${one ? `the extractor “${one.manifest.id}”` : 'the built-in extractor'}.`);
  }

  /**
   * Reads the open session's pictures into a copy of it. On failure or Cancel the copy is
   * deleted.
   *
   * @param {() => Promise<Extractor>} load @param {(session: string) => string} [rename] what the copy is called
   */
  async #readAnew(load, rename = readBy()) {
    const { state, classes: bare } = await this.engine.changes(0);
    if (!bare) throw new Error('The session cannot be read now: try again.');
    const classes = await withThumbnails(this.engine, bare); // before another session is open
    const {
      kinds: { now: kind },
      now,
    } = this.reader;
    const former = await now;
    const extractor = await load();
    this.#stay();
    const { id } = await this.engine.newSession(rename(state.sessionName).slice(0, LONGEST));
    try {
      await this.reader.use(extractor, kind.id);
      await this.engine.stored((taught) => {
        taught.configure({ nonePrior: state.nonePrior });
        if (state.actions) taught.setActions(null, state.actions);
      });
      await this.engine.order(state.sort);
      const { read, without, unseen } = await this.#work(`Reading the ${noun()}s again`, (onProgress, signal) => this.#copy(classes, kind, onProgress, signal));
      const left = (/** @type {number} */ count, /** @type {string} */ why) =>
        count ? ` ${counted(count, noun())} ${why} and ${count === 1 ? 'was' : 'were'} left out.` : '';
      this.#leave(
        `${counted(read, noun())} read again, into a new session.${left(without, 'had no copy here')}${left(unseen, 'could not be read from the small copy here')}`,
      );
    } catch (error) {
      await this.engine.openSession(state.sessionId);
      await this.deleteSession(id);
      await this.reader.seek(former.sha256);
      this.onReplaced();
      await this.#fill();
      throw error;
    }
  }

  /**
   * @param {ClassState[]} classes
   * @param {import('../kinds/index.js').Kind} kind
   * @param {(progress: {loaded: number, total: number}) => void} onProgress
   * @param {AbortSignal} signal
   */
  async #copy(classes, kind, onProgress, signal) {
    const total = classes.reduce((sum, { examples }) => sum + examples.length, 0);
    let [read, without, unseen] = [0, 0, 0];
    /** @type {unknown} */
    let why;
    // Once it is cancelled, another session may be open, which must get nothing.
    const goOn = () => {
      if (signal.aborted) throw new Cancelled();
    };
    for (const { name, examples, actions } of classes) {
      goOn();
      await this.engine.stored((taught) => {
        taught.addClass(name);
        if (actions) taught.setActions(name, actions);
      });
      for (const { thumbnail } of examples) {
        goOn();
        if (thumbnail?.length) {
          const [sample] = await kind.open(kind.fileOf(thumbnail, `a ${kind.one} of ${name}`));
          const embedding = await sample
            .embed()
            .catch((error) => void (why = error))
            .finally(() => sample.close());
          goOn();
          if (embedding) {
            await this.engine.stored((taught) => taught.addExampleSync(embedding, name, { thumbnail }));
            read++;
          } else unseen++;
        } else without++;
        onProgress({ loaded: read + without + unseen, total });
      }
    }
    if (unseen && !read) throw why;
    return { read, without, unseen };
  }

  /** @param {Kept|null} one */
  async #load(one) {
    if (one) return this.#work(`Loading the extractor “${one.manifest.id}”`, (onProgress) => loadKept(one, { onProgress }));
    const extractor = await this.reader.home();
    this.#stay();
    return extractor;
  }

  /** Cancels the present work if the dialog was closed: another session may be open. */
  #stay() {
    if (!this.dialog.open) throw new Cancelled();
  }

  /**
   * Does something with a progress bar and a way to cancel it.
   *
   * @template T
   * @param {string} what
   * @param {(onProgress: (progress: {loaded: number, total: number}) => void, signal: AbortSignal) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #work(what, work) {
    const running = (this.#running = new AbortController());
    const cancelled = new Promise((_, reject) => {
      running.signal.addEventListener('abort', () => reject(new Cancelled()));
    });
    cancelled.catch(() => {}); // also if the work is done before
    this.bar.removeAttribute('value');
    this.doing.textContent = `${what} …`;
    this.progress.hidden = false;
    this.found.hidden = true;
    this.bring.hidden = true;
    this.list.inert = true; // one thing at a time
    this.dialog.setAttribute('aria-busy', 'true');
    say(`${what}.`);
    this.cancel.focus();
    try {
      const task = work(({ loaded, total }) => {
        this.bar.max = total;
        this.bar.value = loaded;
        this.doing.textContent = `${what}: ${Math.round((100 * loaded) / total)}\u00a0%`;
      }, running.signal);
      // A result that arrives after Cancel is not needed.
      task.then(
        (late) => {
          if (running.signal.aborted) /** @type {any} */ (late)?.close?.();
        },
        () => {},
      );
      return /** @type {T} */ (await Promise.race([task, cancelled]));
    } finally {
      this.#running = null;
      this.progress.hidden = true;
      this.bring.hidden = !this.#brings;
      this.list.inert = false;
      this.dialog.removeAttribute('aria-busy');
    }
  }

  /** @param {string} text */
  #leave(text) {
    for (const open of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll('dialog[open]'))) open.close(); // the settings too
    this.onReplaced();
    say(text);
  }

  /** @param {() => Promise<void>} work */
  async #try(work) {
    if (this.#busy) return; // pressed twice
    this.#busy = true;
    complain(this.error, '');
    try {
      await work();
    } catch (error) {
      if (error instanceof Cancelled) return say('Cancelled: nothing has changed.');
      say('');
      complain(this.error, sentence(error));
      this.error.scrollIntoView({ block: 'nearest' });
    } finally {
      this.#busy = false;
    }
  }
}

/** The name of a copy read by another extractor. A long session name is cut. @param {string} [id] of the extractor */
const readBy =
  (id = 'the built-in extractor') =>
  (/** @type {string} */ session) => {
    const by = ` read by ${id}`;
    return session.slice(0, Math.max(0, LONGEST - by.length)) + by;
  };

/** @param {{dimension: number}} one */
const numbers = ({ dimension }) => `${dimension.toLocaleString('en')} numbers`;

/** @param {Kept} one */
function size({ manifest: { files } }) {
  return megabytes(files.reduce((sum, { bytes }) => sum + bytes, 0));
}

/** The command that learns background knowledge natively. @param {Kept} one */
function commands({ manifest: { id } }) {
  const name = id.replace(/[^\w.-]+/g, '-');
  return `node scripts/embed/embed.mjs PICTURES --splits splits.json --extractor manifest.json --out ${name}.npz
go run ./scripts/metaqda train --data ${name}.npz --out ${name}.safetensors`;
}
