// @ts-check
/** Devices that are not there, at the interface of the browser: what was written to them is noted byte for byte. */

/** @import {Page} from 'playwright-core' */
/**
 * @typedef {object} Devices in the page
 * @property {unknown[][]} log what was asked of the devices and written to them, in order
 * @property {Record<string, string>} refuse names of errors, by what then fails with them: serial, open, bluetooth, midi
 * @property {(which: 'serial'|'bluetooth'|'midi') => void} unplug
 */

/** Puts the stand-ins in the place of what the browser has; runs in the page, before its program. */
export function standIns() {
  /** @type {unknown[][]} */
  const log = [];
  const refuse = /** @type {Record<string, string>} */ ({});
  const fail = (/** @type {string} */ what) => {
    if (refuse[what]) throw new DOMException(`refused: ${what}`, refuse[what]);
  };
  const put = (/** @type {object} */ on, /** @type {string} */ name, /** @type {unknown} */ value) =>
    Object.defineProperty(on, name, { value, configurable: true, writable: true });

  class Port extends EventTarget {
    /** @type {WritableStream<Uint8Array>|null} */
    writable = null;
    gone = false;
    async open(/** @type {{baudRate: number}} */ { baudRate }) {
      fail('open');
      if (this.writable) throw new DOMException('The port is already open.', 'InvalidStateError');
      log.push(['open', baudRate]);
      this.writable = new WritableStream({
        write: (chunk) => {
          if (this.gone) throw new DOMException('The device has been lost.', 'NetworkError');
          log.push(['serial', ...chunk]);
        },
      });
    }
    async close() {
      if (this.writable?.locked) throw new TypeError('The stream is locked.');
      this.writable = null;
      log.push(['close']);
    }
  }
  let port = new Port();
  put(navigator, 'serial', {
    requestPort: async () => {
      fail('serial');
      return port;
    },
  });

  /** Of a micro:bit: the first one is read, the second one written. */
  const characteristics = [
    { properties: { write: false, writeWithoutResponse: false, indicate: true } },
    {
      properties: { write: true, writeWithoutResponse: true },
      writeValueWithResponse: async (/** @type {Uint8Array} */ bytes) => {
        if (!gatt.connected) throw new DOMException('GATT Server is disconnected.', 'NetworkError');
        log.push(['uart', ...bytes]);
      },
    },
  ];
  const gatt = {
    connected: false,
    connect: async () => {
      fail('gatt');
      gatt.connected = true;
      return {
        getPrimaryService: async (/** @type {string} */ uuid) => {
          fail('service');
          log.push(['service', uuid]);
          return { getCharacteristics: async () => characteristics };
        },
      };
    },
    disconnect: () => {
      gatt.connected = false;
    },
  };
  const board = Object.assign(new EventTarget(), { name: 'BBC micro:bit [vatuv]', gatt });
  put(navigator, 'bluetooth', {
    requestDevice: async (/** @type {unknown} */ options) => {
      fail('bluetooth');
      log.push(['request', JSON.stringify(options)]);
      return board;
    },
  });

  const output = {
    name: 'Synth',
    type: 'output',
    state: 'connected',
    send: (/** @type {number[]} */ bytes, /** @type {number} */ at) => log.push(['midi', ...bytes, at ? 'later' : 'now']),
  };
  const access = { outputs: new Map([['1', output]]), onstatechange: () => {} };
  put(navigator, 'requestMIDIAccess', async () => {
    fail('midi');
    return access;
  });

  put(
    globalThis,
    'SpeechSynthesisUtterance',
    class {
      constructor(/** @type {string} */ text) {
        Object.assign(this, { text, onstart: null });
      }
    },
  );
  put(
    globalThis,
    'speechSynthesis',
    Object.assign(new EventTarget(), {
      getVoices: () => [
        { name: 'by network', lang: navigator.language, localService: false, default: true },
        { name: 'of the device', lang: 'en-GB', localService: true, default: false },
      ],
      cancel: () => {},
      speak: (/** @type {any} */ { text, voice, onstart }) => {
        log.push(['say', text, voice.name]);
        queueMicrotask(onstart);
      },
    }),
  );
  put(navigator, 'vibrate', (/** @type {number} */ length) => log.push(['vibrate', length]) > 0);

  /** @type {Devices} */
  const devices = {
    log,
    refuse,
    unplug: (which) => {
      if (which === 'serial') {
        port.gone = true;
        const former = port;
        port = new Port();
        former.dispatchEvent(new Event('disconnect'));
      } else if (which === 'bluetooth') {
        gatt.connected = false;
        board.dispatchEvent(new Event('gattserverdisconnected'));
      } else {
        output.state = 'disconnected';
        access.onstatechange();
      }
    },
  };
  Object.assign(globalThis, { devices });
}

/** What was written to a device since the last time this was called, without the rest. @param {Page} page @param {string} which @returns {Promise<unknown[][]>} */
export const written = (page, which) =>
  page.evaluate((name) => {
    const { log } = /** @type {{devices: Devices}} */ (/** @type {unknown} */ (globalThis)).devices;
    return log
      .filter(([one]) => one === name)
      .map((entry) => {
        log.splice(log.indexOf(entry), 1);
        return entry.slice(1);
      });
  }, which);

/** @param {Page} page @param {string} what @param {string} error its name, empty for none */
export const refuse = (page, what, error) =>
  page.evaluate(
    ([one, name]) => {
      /** @type {any} */ (globalThis).devices.refuse[one] = name;
    },
    [what, error],
  );

/** @param {Page} page @param {'serial'|'bluetooth'|'midi'} which */
export const unplug = (page, which) =>
  page.evaluate((one) => {
    /** @type {any} */ (globalThis).devices.unplug(one);
  }, which);

/** Puts a picture of the site before the camera. @param {Page} page @param {string} name in the samples */
export const holdUp = (page, name) =>
  page.evaluate(async (file) => {
    const scope = /** @type {any} */ (globalThis);
    const make = (scope.camera ??= createImageBitmap); // the browser's own
    const blob = await (await fetch(`samples/${file}.png`)).blob();
    scope.createImageBitmap = async (/** @type {any[]} */ ...given) =>
      make.apply(globalThis, /** @type {any} */ ([given[0] instanceof HTMLVideoElement ? await make.call(globalThis, blob) : given[0], ...given.slice(1)]));
  }, name);

/**
 * @typedef {object} Chosen an action
 * @property {string} when the class
 * @property {string} [is] seen or gone
 * @property {string} does the device, in words
 * @property {Record<string, string>} [fields] values by their labels
 */

/** Opens the part of the page, if it is not. @param {Page} page */
export async function openThen(page) {
  if (!(await page.locator('#then').evaluate((one) => /** @type {HTMLDetailsElement} */ (one).open))) await page.locator('#then summary').click();
  return page.locator('#then');
}

/** Fills the form. @param {Page} page @param {Chosen} chosen */
export async function fill(page, { when, is = 'seen', does, fields = {} }) {
  const form = (await openThen(page)).getByRole('form', { name: 'Add an action' });
  await form.getByLabel('When', { exact: true }).selectOption(when);
  await form.getByLabel('is', { exact: true }).selectOption(is);
  await form.getByLabel('then', { exact: true }).selectOption(does);
  for (const [label, value] of Object.entries(fields)) {
    const field = form.getByLabel(label, { exact: true });
    if (await field.evaluate((one) => one instanceof HTMLSelectElement)) await field.selectOption(value);
    else await field.fill(value);
  }
  return form;
}

/** Adds an action and waits until it is in the list. @param {Page} page @param {Chosen} chosen @param {string} words of the action */
export async function add(page, chosen, words) {
  const form = await fill(page, chosen);
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('list', { name: 'When it sees' }).getByText(words, { exact: true }).waitFor();
}

/** The list of actions. @param {Page} page */
export const listed = (page) => page.getByRole('list', { name: 'When it sees' }).locator('li > p').allTextContents();
