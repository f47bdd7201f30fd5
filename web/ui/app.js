// @ts-check
/** Starts the page: loads engine and extractor, and connects them with the views. */
import { queue } from '../base/task.js';
import { closePassing, complain, say, sayInDialogs, toast } from './kit/announce.js';
import { CheckPanel } from './teach/check.js';
import { ClassList } from './teach/classes.js';
import { byId, capital, dialogHead, save, sentence } from './kit/dom.js';
import { catchMisses, catchPaste } from './kit/drop.js';
import { keepFocus } from './kit/focus.js';
import { pressOnce } from './kit/hold.js';
import { loadEngine } from '../library/page.js';
import { loadExtractor } from '../library/extractors.js';
import { kindRecord, loadKind } from '../library/kinds.js';
import { LearningPanel } from './sessions/learning.js';
import { KindChoice } from './kinds/choice.js';
import { kindsOf, near, teach } from './kinds/index.js';
import { hands } from './kinds/hands/index.js';
import { pictures } from './kinds/pictures/index.js';
import { sounds } from './kinds/sounds/index.js';
import { Thumbnails } from './kit/thumbnails.js';
import { Changes } from './teach/changes.js';
import { knowClassesBy } from './teach/correct.js';
import { LargerView } from './teach/larger.js';
import { workOffline } from '../offline/index.js';
import { Reader } from './sessions/reader.js';
import { oddBy } from './recognise/good.js';
import { Recogniser } from './recognise/recognise.js';
import { Samples } from './teach/samples.js';
import { sessionFile, SessionsDialog } from './sessions/sessions.js';
import { SettingsDialog } from './sessions/settings.js';
import { tellCutShort } from './kit/note.js';
import { Then } from './then/then.js';
import { ThenForm } from './then/form.js';
import { Sorting } from './sort/sort.js';
import { judgedBy } from './sort/sorting.js';
import { use } from './use/use.js';
import { Why } from './recognise/why.js';

/** @import {Extractor, LoadedEngine as Engine} from '../library/types.js' */
/** @typedef {{version: string, files: {path: string, bytes: number, sha256: string}[]}} Manifest */

/** @returns {Promise<Manifest>} */
async function fetchManifest() {
  const response = await fetch('manifest.json', { cache: 'no-cache' }).catch(() => null);
  const manifest = response?.ok && (await response.json().catch(() => null)); // null also where a network's login page answers
  if (manifest) return manifest;
  const why = response ? `status ${response.status}` : 'no answer';
  throw Object.assign(new Error(`The list of the site's files could not be fetched (${why}): reload the page.`), { code: 'fetch' });
}

/** Removes the notice about a missing prior: another kind has another prior. */
let unsay = () => {};
const nextPrior = queue();

/**
 * Makes the engine use the site's prior. If it cannot be fetched, the page goes on
 * with the current one, and says so. Several calls run one after the other, so the last one counts.
 *
 * @param {Engine} engine
 * @param {Promise<Manifest>} manifest
 * @param {string} [path] of the prior, which is of one kind
 */
function usePagePrior(engine, manifest, path = 'prior.safetensors') {
  manifest.catch(() => {}); // awaited when its turn comes
  return nextPrior(() => usePrior(engine, manifest, path));
}

/** @param {Engine} engine @param {Promise<Manifest>} manifest @param {string} path */
async function usePrior(engine, manifest, path) {
  unsay();
  try {
    const prior = (await manifest).files.find((file) => file.path === path);
    if (prior) await engine.usePrior({ url: prior.path, sha256: prior.sha256 });
  } catch (error) {
    const missing = /** @type {{code?: string}} */ (error).code === 'fetch';
    const why = missing ? 'The page’s background knowledge could not be fetched.' : sentence(error);
    unsay = toast({
      text: `${why} ${meanwhile((await engine.state()).prior)}`,
      action: 'Try again',
      onAction: () => void usePagePrior(engine, fetchManifest(), path),
    });
  }
}

/**
 * The page's own extractor for a kind other than pictures, with its prior.
 *
 * @param {string} kind @param {Engine} engine @param {Promise<Manifest>} manifest @param {string} [variant]
 * @returns {import('./sessions/reader.js').PageExtractor}
 */
function pageExtractor(kind, engine, manifest, variant) {
  const folder = new URL(`kinds/${kind}/`, document.baseURI);
  /** @type {Promise<Extractor>|null} */
  let loaded = null;
  return {
    kind,
    identity: () =>
      kindRecord(folder, variant).then(
        ({ sha256 }) => sha256,
        () => '',
      ),
    load: () =>
      (loaded ??= /** @type {Promise<any>} */ (
        fetchKind(kind, folder, manifest, variant).catch((error) => {
          loaded = null;
          throw error;
        })
      )),
    prior: () => usePagePrior(engine, manifest, `kinds/${kind}/prior.safetensors`),
  };
}

/** @type {Promise<unknown>[]} downloads from before the service worker started, repeated once it controls the page so that it stores them; they come from the browser's cache */
const again = [];

/** Resolves once a service worker controls the page. @param {ServiceWorkerContainer} container */
const controlled = (container) =>
  new Promise((resolve) => {
    container.addEventListener('controllerchange', resolve, { once: true });
  });

/** How far a bar is, in tens of percent: a screen reader reads each aloud. @param {HTMLProgressElement} bar */
const tens = ({ position }) => 10 * Math.floor(10 * position);

/** Loads the extractor of a kind, and shows the progress in the bar under the header. @param {string} kind @param {URL} folder @param {Promise<Manifest>} manifest @param {string} [variant] */
async function fetchKind(kind, folder, manifest, variant) {
  const bar = byId('loading', HTMLProgressElement);
  bar.hidden = false;
  const container = navigator.serviceWorker;
  const worker = container && !container.controller ? controlled(container) : null;
  try {
    const extractor = await loadKind(folder, {
      variant,
      onProgress: ({ loaded, total }) => {
        Object.assign(bar, { max: total, value: loaded });
        say(`Loading the feature extractor for ${kind}, ${tens(bar)}\u00a0%`);
      },
    });
    if (worker !== null) {
      again.push(
        Promise.all([manifest, worker])
          .then(([{ files }]) =>
            Promise.all(files.filter(({ path }) => path.startsWith(`kinds/${kind}/`)).map(async ({ path }) => (await fetch(path)).arrayBuffer())),
          )
          .catch(() => {}),
      );
    }
    return extractor;
  } catch (error) {
    say('');
    if (navigator.onLine) throw error;
    throw new Error(`You are offline, and the feature extractor for ${kind} is not on this device yet: connect to the internet, then choose ${kind} again.`);
  } finally {
    bar.hidden = true;
  }
}

/** Names the prior that is used if the page's prior could not be loaded. @param {import('../library/types.js').PriorState} prior in use */
function meanwhile({ site, sha256 }) {
  if (!site) return 'This session has its own and does not need it.';
  if (sha256) return 'The one from your last visit is used instead.';
  return 'A generic one is used instead: answers are less sure.';
}

/** Milliseconds after which a dismissed notice may return. Sooner it would return with each picture of a batch. */
const RETURNS = 300_000;

/**
 * A notice at the top of the page. It stays while it has a text, or until it is
 * dismissed. `anew` shows one that was dismissed a while ago.
 *
 * @param {string} key
 * @param {{action?: string, onAction?: () => void}} [offer]
 * @returns {(text: string, anew?: boolean) => void}
 */
function standing(key, { action, onAction } = {}) {
  let told = '';
  let dismissed = Infinity;
  let close = () => {};
  const dismiss =
    (then = () => {}) =>
    () => {
      dismissed = Date.now();
      then();
    };
  return (text, anew = false) => {
    if (text === told && !(anew && Date.now() - dismissed > RETURNS)) return;
    told = text;
    dismissed = Infinity;
    close();
    if (text) close = toast({ text, key, action, onAction: dismiss(onAction), onDismiss: dismiss() });
  };
}

/** The progress of several downloads: the bar under the header, and its text. */
function progressBar() {
  const bar = byId('loading', HTMLProgressElement);
  /** Bytes of each download; estimates for those not started. @type {Record<string, {loaded: number, total: number}>} */
  const parts = { engine: { loaded: 0, total: 8e6 }, extractor: { loaded: 0, total: 4e6 } };
  return (/** @type {string} */ name) =>
    (/** @type {{loaded: number, total: number}} */ { loaded, total }) => {
      parts[name] = { loaded, total: Math.max(total || parts[name].total, loaded) };
      [bar.max, bar.value] = /** @type {const} */ (['total', 'loaded']).map((which) => Object.values(parts).reduce((sum, part) => sum + part[which], 0));
      say(`Loading, ${tens(bar)}\u00a0%`); // uncompressed bytes; some 40 % of them are sent
    };
}

/**
 * Calls `show` after each change, one call at a time, and again if something
 * changed meanwhile.
 *
 * @param {() => Promise<void>} show
 */
function coalesced(show) {
  let running = false;
  let dirty = false;
  return async () => {
    dirty = true;
    if (running) return;
    running = true;
    while (dirty) {
      dirty = false;
      await show().catch((error) => say(sentence(error)));
    }
    running = false;
  };
}

/** Connects the views with the engine. @param {Engine} engine @param {Reader} reader */
async function build(engine, reader) {
  const { kinds } = reader;
  /** Settles once the extractor of the open session is there or not found. @type {Promise<unknown>} */
  let sought = Promise.resolve();
  const ready = () => sought;
  knowClassesBy(async (name) => classes.model.idOf(engine.taught.label(name)));
  const choice = new KindChoice({
    kinds,
    choose: (id) => classes.line.wait(() => reader.useKind(id)), // files chosen while it loads are of the new kind, so they wait
    addClass: (name) => changes.addClass(name),
    newSession: async (id, still) => {
      await reader.pages[id].load(); // if this fails, no session is made
      if (!still()) return;
      await onReplaced();
      await engine.newSession(`${capital(kinds.all[id].one)}s`);
      await reader.useKind(id);
    },
  });
  reader.onKind = () => {
    choice.show();
    classes.redraw();
    recogniser.changeKind();
  };
  const thumbnails = new Thumbnails(engine);
  const changes = new Changes({ engine, model: () => classes.model });
  const larger = new LargerView({ kinds, model: () => classes.model, thumbnails, changes, focus: (classId, exampleId) => classes.focus(classId, exampleId) });
  const classes = new ClassList({ engine, kinds, thumbnails, changes, ready, enlarge: (classId, exampleId) => larger.open(classId, exampleId) });
  const why = new Why({ engine, classes });
  const check = new CheckPanel({ engine, classes });
  const odd = oddBy({ taught: engine.taught, thumbnails: (ids) => engine.thumbnails(ids), kinds });
  const sorting = new Sorting({ engine, kinds, changes, odd });
  const then = new Then({
    change: (sets) =>
      changes.step(async (learner) => {
        for (const [id, actions] of sets) {
          const name = classes.model.name(id);
          if (name || !id) await learner.stored((taught) => taught.setActions(id ? name : null, actions)); // otherwise the class no longer exists
        }
      }),
    form: (parts) => new ThenForm(parts),
  });
  const recogniser = new Recogniser({
    kinds,
    engine,
    odd,
    seen: then,
    ready,
    sort: (files) => void sorting.add(files),
    onAsked: (question) => why.ask(question),
    teaching: {
      teach: async (target, open) =>
        (
          await changes.teach(target, [
            async (id, learner) => {
              const { id: example, twin } = await teach(learner, kinds.now, () => classes.model.name(id), await open());
              if (twin) classes.card(id)?.tellTwin(example, twin);
              return example;
            },
          ])
        )[0],
      move: (example, target) => changes.move([example], target),
      forget: (example) => changes.remove([example]),
      classOf: (example) => classes.model.holding(example),
      same: async (embedding, examples) => (await near(engine, kinds.now, embedding)).find((one) => (one.near || one.copy) && examples.includes(one.id))?.id,
    },
  });
  byId('use-button', HTMLElement).addEventListener('click', () => use({ engine, reader }));
  const learning = new LearningPanel({ engine });
  const onReplaced = () => {
    learning.reset();
    check.reset();
    classes.leave();
    closePassing();
    recogniser.where.reset();
    void recogniser.clear();
    return changes.settled();
  };
  const settings = new SettingsDialog({ engine, reader, offered: reader.choice({ onReplaced, deleteSession: (id) => sessions.delete(id) }) });
  const sessions = new SessionsDialog({ engine, reader, onSwitched: onReplaced });
  const samples = new Samples({ engine, changes, kinds, onSwitched: onReplaced, take: (files) => recogniser.take(files) });
  const tellStorage = standing('storage', {
    action: 'Save to a file',
    onAction: () =>
      void Promise.all([engine.saveSession(), engine.state()])
        .then(([bytes, { sessionName }]) => save(bytes, sessionFile(sessionName)))
        .catch((error) => say(sentence(error))),
  });
  const tellVanished = standing('vanished');
  const tellPrior = standing('prior');
  const tellExtractor = standing('extractor', { action: 'Read them again', onAction: () => void reader.readAnew() });
  reader.onForeign = tellExtractor;
  reader.onSeek = (over) => {
    sought = over.catch(() => {}); // files chosen meanwhile are for that extractor
  };
  /** @type {Parameters<typeof sessions.show>[0]} */
  let listed;
  /** Fills the list of sessions. This needs the storage and the network, so nothing else waits for it. */
  const list = coalesced(() => sessions.show(listed));
  let shown = 0;
  let followed = 0;
  let judged = '';
  const refresh = coalesced(async () => {
    const { revision, state, classes: all, steps } = await engine.changes(shown);
    shown = 0; // if the next lines fail, everything is shown again
    if (state.followed !== followed) say(''); // the last sentence may no longer be true
    followed = state.followed;
    tellStorage(state.storage.message, Boolean(all || steps.length)); // that change is not kept either
    tellVanished(state.storage.vanished);
    tellPrior(state.prior.message);
    if (!reader.follow(state)) tellExtractor(state.extractor.message);
    if (all) await classes.show(all);
    else classes.follow(steps);
    shown = revision;
    const { all: taught } = classes.model;
    const key = judgedBy(state, taught);
    const news = all || steps.length || key !== judged; // otherwise no answer can have changed
    judged = key;
    if (news) {
      recogniser.follow(taught);
      check.changed();
      why.changed();
    }
    byId('use', HTMLElement).hidden = !taught.some(({ examples }) => examples.length);
    then.follow(taught, state.actions);
    sorting.follow(taught, key, state);
    samples.showIn(state.sessionId, taught);
    choice.follow(classes.model);
    larger.changed();
    changes.show(state);
    settings.show(state);
    learning.showPrior(state.prior);
    listed = state;
    void list();
  });
  engine.on('change', () => void refresh());
  await refresh();
  const wanted = (/** @type {File} */ file) => kinds.now.claims(file);
  const take = (/** @type {File[]} */ files) => void (sorting.open ? sorting.add(files) : recogniser.take(files));
  catchPaste((files, where) => {
    const card = classes.cardAround(where);
    if (card) void card.addFiles(files);
    else take(files);
  }, wanted);
  catchMisses(take, wanted);
}

/** @param {string} version of the site that this page was loaded from, '' where it is not known */
async function offlineUse(version) {
  const kept = await workOffline({
    version,
    offer: (text, reload) => toast({ text, key: 'update', action: 'Reload', onAction: reload }),
  });
  if (kept) await Promise.all(again);
  byId('offline', HTMLElement).hidden = !kept;
}

/**
 * Waits for the extractor of pictures. While it cannot be fetched, a notice says so. The page tries again
 * when the notice is pressed or dismissed, and when the network returns.
 *
 * @param {Promise<Extractor>} loading @param {() => Promise<Extractor>} load
 */
async function fetched(loading, load) {
  for (;;) {
    try {
      return await loading;
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code !== 'extractor-unreachable') throw error;
      const bar = byId('loading', HTMLElement);
      bar.hidden = true;
      say('');
      await new Promise((/** @type {(nothing?: unknown) => void} */ retry) => {
        const close = toast({ text: sentence(error), action: 'Try again', onAction: retry, onDismiss: retry });
        addEventListener('online', () => retry(close()), { once: true });
      });
      bar.hidden = false;
      loading = load();
    }
  }
}

/** @returns {Promise<string>} the version of the site, '' where it is not known */
async function start() {
  sayInDialogs();
  keepFocus();
  pressOnce();
  const progress = progressBar();
  const load = () => loadExtractor({ onProgress: progress('extractor') });
  const loading = load();
  loading.catch(() => {}); // awaited below, after the engine
  const manifest = fetchManifest();
  const about = byId('about', HTMLDialogElement);
  about.prepend(dialogHead(about, 'about-title', 'About metaqda'));
  byId('about-button', HTMLElement).addEventListener('click', () => about.showModal());
  manifest.then(
    ({ version }) => {
      byId('version', HTMLElement).textContent = `Version ${version}`;
    },
    () => {},
  );
  const engine = /** @type {Engine} */ (
    await loadEngine({
      onProgress: progress('engine'),
      total: manifest.then(
        ({ files }) => files.find(({ path }) => path === 'metaqda.wasm')?.bytes ?? 0,
        () => 0,
      ),
    })
  );
  await usePagePrior(engine, manifest);
  const own = fetched(loading, load).then(async (loaded) => {
    await engine.useExtractor({ id: loaded.id, sha256: loaded.sha256 });
    return loaded;
  });
  own.catch(() => {}); // awaited below, after the views
  const now = /** @type {() => Promise<any>} */ (() => reader.now);
  const every = await manifest.then(
    ({ files }) => files.some(({ path }) => path.startsWith('kinds/sounds/yamnet/')),
    () => false,
  );
  const others = [sounds(now, every), hands(now)];
  const kinds = kindsOf([pictures(now), ...others]);
  const reader = new Reader({
    engine,
    own,
    kinds,
    pages: {
      pictures: { kind: 'pictures', identity: async () => (await own).sha256, load: () => own, prior: () => usePagePrior(engine, manifest) },
      ...Object.fromEntries(
        others.flatMap(({ id, variant }) => [
          [id, pageExtractor(id, engine, manifest)],
          ...(variant ? [[`${id}/${variant.id}`, pageExtractor(id, engine, manifest, variant.id)]] : []),
        ]),
      ),
    },
  });
  await build(engine, reader);
  const begun = own.then(() => reader.begin());
  reader.onSeek?.(begun);
  for (const part of document.querySelectorAll('[inert]')) part.removeAttribute('inert');
  await begun;
  byId('loading', HTMLElement).hidden = true;
  document.body.dataset.ready = 'true';
  say('Ready.');
  await tellCutShort();
  return manifest.then(
    ({ version }) => version,
    () => '',
  );
}

try {
  const version = await start();
  // Without a service worker (as in a private window) only offline use is missing.
  offlineUse(version).catch((error) => console.warn(sentence(error)));
} catch (error) {
  byId('loading', HTMLElement).hidden = true;
  complain(byId('trouble', HTMLElement), sentence(error));
  say('');
}
