// @ts-check
/** When it sees …: what happens as classes come and go before the camera, with stand-ins for the devices. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { seeing } from '../extractor/film.js';
import { eventually, faults, newSession, open, openSession, sample, status, teach, visit } from '../harness.js';
import { kept, opened } from '../share/shared.js';
import { temporaryFolder } from '../../temporary.js';
import { add, fill, holdUp, listed, openThen, refuse, standIns, unplug, written } from './stand-ins.js';
import { LONG } from '../../long.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('then');
const styles = ['noto', 'twemoji', 'openmoji'];
const bytes = (/** @type {string} */ text) => [...new TextEncoder().encode(text)];

/** Visits the page with stand-ins and two classes taught; the camera sees a rocket. @param {(page: Page, site: import('../site.js').Site) => Promise<void>} check */
async function withDevices(check) {
  const flags = await seeing(path.join(folder, 'rocket.y4m'), [sample('noto', 'rocket')]);
  await visit({ flags, open: false }, async ({ page, site }) => {
    await page.addInitScript(standIns);
    await open(page, site);
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    await check(page, site);
  });
}

/** @param {Page} page */
const live = (page) => page.getByRole('button', { name: 'Live camera' }).click();
/** @param {Page} page @param {string} name */
const seen = (page, name) => page.locator('.then-here', { hasText: `Seen now: ${name}.` }).waitFor();
/** @param {Page} page @param {string} name */
const connect = (page, name) =>
  page
    .locator('#then')
    .getByRole('button', { name: new RegExp(`^Connect ${name}$`) })
    .click();

test('as things come and go, devices get what was chosen, byte for byte', () =>
  withDevices(async (page) => {
    await add(
      page,
      { when: 'Rocket', does: 'say a sentence', fields: { Sentence: 'A rocket, “über” all' } },
      'When Rocket is seen: say “A rocket, “über” all”',
    );
    await add(
      page,
      { when: 'Rocket', does: 'write to a serial port', fields: { Line: 'R→1', 'Speed in baud': '9,600' } },
      'When Rocket is seen: write “R→1” to the serial port at 9,600 baud',
    );
    await add(
      page,
      { when: 'Rocket', is: 'gone', does: 'write to a serial port', fields: { Line: 'R0', 'Speed in baud': '9,600' } },
      'When Rocket is gone: write “R0” to the serial port at 9,600 baud',
    );
    await add(
      page,
      { when: 'Cat', does: 'write to a serial port', fields: { Line: 'C1', 'Speed in baud': '115,200' } },
      'When Cat is seen: write “C1” to the serial port at 115,200 baud',
    );
    await add(
      page,
      { when: 'Rocket', does: 'send to a micro:bit', fields: { Line: 'a line longer than twenty bytes' } },
      'When Rocket is seen: send “a line longer than twenty bytes” to the micro:bit',
    );
    await add(
      page,
      { when: 'Rocket', does: 'send a MIDI note', fields: { Note: '69', Channel: '10' } },
      'When Rocket is seen: send the MIDI note 69 (A) on channel 10',
    );
    await add(page, { when: 'None of these', does: 'vibrate', fields: { Milliseconds: '200' } }, 'When None of these is seen: vibrate for 200 ms');
    await add(page, { when: 'None of these', is: 'gone', does: 'vibrate', fields: { Milliseconds: '100' } }, 'When None of these is gone: vibrate for 100 ms');
    assert.deepEqual(await faults(page), []);
    for (const [name, to] of [
      ['serial port', /^The serial port is connected: a port at 115,200 baud\.$/],
      ['micro:bit', /^The micro:bit is connected: BBC micro:bit \[vatuv\]\.$/],
      ['MIDI device', /^The MIDI device is connected: Synth\.$/],
    ]) {
      await connect(page, String(name));
      await status(page, to);
    }
    const uart = '6e400001-b5a3-f393-e0a9-e50e24dcca9e';
    assert.deepEqual(await written(page, 'request'), [
      [JSON.stringify({ filters: [{ namePrefix: 'BBC micro:bit' }, { services: [uart] }], optionalServices: [uart] })],
    ]);
    assert.deepEqual(await written(page, 'service'), [[uart]]);
    assert.deepEqual(await written(page, 'open'), [[115_200]], 'at the speed of the first action');

    await live(page);
    await seen(page, 'Rocket');
    const line = bytes('a line longer than twenty bytes\n');
    /** @type {Record<string, unknown[][]>} */
    const wanted = {
      open: [[9600]],
      say: [['A rocket, “über” all', 'of the device']],
      serial: [bytes('R→1\n')],
      uart: [line.slice(0, 20), line.slice(20)],
      midi: [
        [0x99, 69, 100, 'now'],
        [0x89, 69, 0, 'later'],
      ],
      vibrate: [[100]],
    };
    for (const [which, all] of Object.entries(wanted)) {
      /** @type {unknown[][]} */
      const got = [];
      await eventually(async () => {
        got.push(...(await written(page, which)));
        assert.deepEqual(got, all, which);
      });
    }

    await holdUp(page, 'noto/cat');
    await seen(page, 'Cat');
    /** @type {unknown[][]} */
    const got = [];
    await eventually(async () => {
      got.push(...(await written(page, 'serial')));
      assert.deepEqual(got, [bytes('R0\n'), bytes('C1\n')], 'the one that goes first');
    });
    assert.deepEqual(await written(page, 'open'), [[115_200]], 'the port is opened anew for another speed');

    await written(page, 'vibrate'); // on a slow machine the rocket may have been gone for long before the cat came
    await holdUp(page, 'fxemoji/umbrella');
    await seen(page, 'none of these');
    await page.waitForFunction(() =>
      /** @type {any} */ (globalThis).devices.log.some((/** @type {unknown[]} */ [which, length]) => which === 'vibrate' && length === 200),
    );
    await holdUp(page, 'noto/cat');
    await seen(page, 'Cat');
    await written(page, 'vibrate');

    await page.getByRole('button', { name: 'Live camera' }).click(); // what is not looked at is gone
    await page.locator('.then-here').waitFor({ state: 'detached' });
    assert.deepEqual(await written(page, 'say'), []);
    assert.deepEqual(await written(page, 'vibrate'), [], 'nothing is said of what nobody looks at');
  }));

test('a device that is refused, in use or unplugged is told in plain words, and recognition goes on', LONG, () =>
  withDevices(async (page) => {
    await add(
      page,
      { when: 'Rocket', does: 'write to a serial port', fields: { Line: 'R' } },
      'When Rocket is seen: write “R” to the serial port at 115,200 baud',
    );
    await add(page, { when: 'Cat', does: 'write to a serial port', fields: { Line: 'C' } }, 'When Cat is seen: write “C” to the serial port at 115,200 baud');
    await add(page, { when: 'Cat', does: 'send to a micro:bit', fields: { Line: 'C' } }, 'When Cat is seen: send “C” to the micro:bit');
    await add(page, { when: 'Cat', does: 'send a MIDI note' }, 'When Cat is seen: send the MIDI note 60 (C) on channel 1');
    const told = (/** @type {string} */ text) => page.locator('#then').getByRole('alert').filter({ hasText: text }).waitFor();
    for (const [what, error, name, words] of [
      ['serial', 'NotFoundError', 'serial port', 'No serial port was chosen: connect again and choose one.'],
      ['serial', 'SecurityError', 'serial port', 'The browser may not use serial ports: allow it for this page beside the address bar, then connect again.'],
      [
        'open',
        'NetworkError',
        'serial port',
        'The serial port could not be opened: another program may use it, such as the Arduino IDE. Close that and connect again.',
      ],
      ['bluetooth', 'NotFoundError', 'micro:bit', 'No micro:bit was chosen: switch on Bluetooth and the micro:bit, then connect again and choose it.'],
      ['gatt', 'NetworkError', 'micro:bit', 'The micro:bit does not answer: bring it near, press its reset button, then connect again.'],
      ['service', 'NotFoundError', 'micro:bit', 'This board has no UART service: put a program with “bluetooth uart service” on it, then connect again.'],
      ['midi', 'SecurityError', 'MIDI device', 'The browser may not use MIDI devices: allow it for this page beside the address bar, then connect again.'],
    ]) {
      await refuse(page, what, error);
      await connect(page, name);
      await told(words);
      await refuse(page, what, '');
    }
    await live(page);
    await seen(page, 'Rocket');
    await told('The serial port is not connected: connect it.');
    for (const name of ['serial port', 'micro:bit', 'MIDI device']) {
      await connect(page, name);
      await status(page, `The ${name} is connected`);
    }
    await eventually(async () => assert.equal(await page.locator('#then [role=alert]:not([hidden])').count(), 0, 'what is connected is not complained of'));

    await page.locator('#then summary').click(); // whoever has closed this part gets a notice
    const lost = {
      serial: 'The serial port was unplugged: plug it in and connect it again.',
      bluetooth: 'The connection to the micro:bit ended: check that it has power and is near, then connect it again.',
      midi: 'The MIDI device was unplugged: plug it in and connect it again.',
    };
    for (const [which, words] of Object.entries(lost)) {
      await unplug(page, /** @type {'serial'} */ (which));
      await page.locator('#toasts').getByText(words).waitFor();
    }
    await written(page, 'serial');
    await holdUp(page, 'noto/cat');
    await page.locator('.meter-best[aria-label="Cat"]').waitFor();
    await page.locator('#toasts').getByText('The micro:bit is not connected: connect it.').waitFor();
    for (const which of ['serial', 'uart', 'midi']) assert.deepEqual(await written(page, which), [], `written to ${which} after it was gone`);
    await page.locator('#toasts .toast').filter({ hasText: 'serial port' }).getByRole('button', { name: 'Connect' }).click();
    await status(page, 'The serial port is connected: a port at 115,200 baud.');
    await holdUp(page, 'noto/rocket');
    /** @type {unknown[][]} */
    const got = [];
    await eventually(async () => {
      got.push(...(await written(page, 'serial')));
      assert.deepEqual(got, [bytes('R\n')]);
    });
  }),
);

test('actions are undone, kept over a reload, renamed and removed with their class, and belong to their session', () =>
  withDevices(async (page, site) => {
    const [rocket, none] = ['When Rocket is seen: say “There it is”', 'When None of these is gone: play a buzz'];
    await add(page, { when: 'Rocket', does: 'say a sentence', fields: { Sentence: 'There it is' } }, rocket);
    await add(page, { when: 'None of these', is: 'gone', does: 'play a sound', fields: { Sound: 'a buzz' } }, none);
    const undo = page.getByRole('button', { name: 'Undo', exact: true });
    await undo.click();
    await status(page, 'Undone: change of what happens when it sees None of these.');
    await eventually(async () => assert.deepEqual(await listed(page), [rocket]));
    await page.getByRole('button', { name: 'Redo', exact: true }).click();
    await eventually(async () => assert.deepEqual(await listed(page), [rocket, none]));

    await open(page, site);
    await openThen(page);
    await eventually(async () => assert.deepEqual(await listed(page), [rocket, none]));
    await undo.click();
    await eventually(async () => assert.deepEqual(await listed(page), [rocket]));
    await page.getByRole('textbox', { name: 'Name of the class Rocket' }).fill('Spaceship');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.deepEqual(await listed(page), ['When Spaceship is seen: say “There it is”']));

    await page.getByRole('button', { name: 'Change: When Spaceship is seen: say “There it is”' }).click();
    const form = page.getByRole('form', { name: 'Add an action' });
    await form.getByLabel('Sentence', { exact: true }).fill('Here');
    await form.getByLabel('When', { exact: true }).selectOption('Cat');
    await form.getByRole('button', { name: 'Save the change' }).click();
    await eventually(async () => assert.deepEqual(await listed(page), ['When Cat is seen: say “Here”']));
    await undo.click();
    await status(page, 'Undone: change of what happens when it sees 2 classes.');
    await eventually(async () => assert.deepEqual(await listed(page), ['When Spaceship is seen: say “There it is”']));

    await page.getByRole('button', { name: 'Delete Spaceship' }).click();
    await eventually(async () => assert.deepEqual(await listed(page), []));
    await undo.click();
    await eventually(async () => assert.deepEqual(await listed(page), ['When Spaceship is seen: say “There it is”']));
    await newSession(page, 'Another');
    await eventually(async () => assert.deepEqual(await listed(page), []));
    await openSession(page, 'My classes');
    await eventually(async () => assert.deepEqual(await listed(page), ['When Spaceship is seen: say “There it is”']));
    await page.getByRole('button', { name: 'Change: When Spaceship is seen: say “There it is”' }).click();
    await form.getByText('Change this action').waitFor();
    await page.getByRole('button', { name: 'Remove: When Spaceship is seen: say “There it is”' }).click();
    await status(page, 'Removed: When Spaceship is seen: say “There it is”.');
    await form.getByText('Add an action').waitFor(); // there is nothing to change
    await eventually(async () => assert.deepEqual(await listed(page), []));
  }));

test('the false alarms that a session allows are undone, kept over a reload, and in its shared file', () =>
  withDevices(async (page, site) => {
    const said = 'When Rocket is seen: say “There it is”';
    await add(page, { when: 'Rocket', does: 'say a sentence', fields: { Sentence: 'There it is' } }, said);
    const rate = page.getByRole('spinbutton', { name: 'About how many false alarms an hour' });
    const is = (/** @type {string} */ value) => eventually(async () => assert.equal(await rate.inputValue(), value));
    await is('1');
    await rate.fill('12.5');
    await rate.press('Enter');
    await status(page, 'About 12.5 false alarms an hour are allowed.');
    for (const impossible of ['0', '-3', '5000', '']) {
      await rate.fill(impossible);
      await rate.press('Tab');
      await is('12.5');
    }
    assert.deepEqual(await faults(page), []);
    assert.deepEqual(await listed(page), [said]);
    await open(page, site);
    await openThen(page);
    await is('12.5');
    const form = await fill(page, { when: 'Rocket', does: 'vibrate' });
    await form.getByLabel('Milliseconds').fill('70');
    await page.locator('#undo-button').dispatchEvent('click');
    await is('1');
    assert.equal(await form.getByLabel('Milliseconds').inputValue(), '70', 'what is being typed stays');
    await page.getByRole('button', { name: 'Redo', exact: true }).click();
    await is('12.5');
    await live(page); // the engine takes it
    await seen(page, 'Rocket');
    await rate.fill('7');
    await holdUp(page, 'noto/cat');
    await seen(page, 'Cat');
    assert.equal(await rate.inputValue(), '7', 'what is being typed stays');
    await rate.fill('12.5');
    await newSession(page, 'Another');
    await openThen(page);
    await is('1');
    await openSession(page, 'My classes');
    await is('12.5');
    await page.getByRole('button', { name: 'Use it…' }).click();
    await page.getByRole('dialog', { name: 'Use it' }).getByRole('button', { name: 'A page' }).click();
    await page
      .getByRole('dialog', { name: 'Share' })
      .getByText(/^The file has/)
      .waitFor();
    await opened(await kept(page, 'Save the file'), async (shared) => {
      await openThen(shared);
      await shared.getByText('About 12.5 false alarms an hour are allowed.').waitFor();
      assert.deepEqual(await listed(shared), [said]);
    });
  }));

test('sounds are played and recorded, and the screen flashes once at a time', () =>
  withDevices(async (page) => {
    await page.evaluate(() => {
      const played = /** @type {string[]} */ ([]);
      Object.assign(globalThis, { played });
      for (const of of /** @type {any[]} */ ([AudioScheduledSourceNode.prototype, AudioBufferSourceNode.prototype])) {
        const { start } = of;
        of.start = function (/** @type {number[]} */ ...when) {
          played.push(this instanceof OscillatorNode ? `${this.type} ${Math.round(this.frequency.value)}` : `${this.buffer.duration.toFixed(2)} s`);
          start.apply(this, when);
        };
      }
    });
    const played = () => page.evaluate('played.splice(0)');
    let form = await fill(page, { when: 'Rocket', does: 'play a sound', fields: { Sound: 'a falling chime' } });
    await form.getByRole('button', { name: 'Try it' }).click();
    await eventually(async () => assert.deepEqual(await page.evaluate('played'), ['sine 784', 'sine 659', 'sine 523']));
    await played();

    form = await fill(page, { when: 'Rocket', does: 'play a recording of your own' });
    await form.getByRole('button', { name: 'Try it', exact: true }).click();
    await status(page, 'There is no recording yet: record one, or choose a file.');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText('There is no recording yet: record one, or choose a file.').waitFor();
    const wave = (/** @type {number} */ seconds) => {
      const file = Buffer.alloc(44 + 2 * 8000 * seconds);
      file.write('RIFF', 0).toString();
      file.writeUInt32LE(file.length - 8, 4);
      file.write('WAVEfmt ', 8);
      [
        [16, 16, 4],
        [20, 1, 2],
        [22, 1, 2],
        [24, 8000, 4],
        [28, 16_000, 4],
        [32, 2, 2],
        [34, 16, 2],
      ].forEach(([at, value, size]) => file.writeUIntLE(value, at, size));
      file.write('data', 36);
      file.writeUInt32LE(file.length - 44, 40);
      for (let i = 44; i < file.length; i += 2) file.writeInt16LE(Math.round(9000 * Math.sin(i / 5)), i);
      return { name: 'hello.wav', mimeType: 'audio/wav', buffer: file };
    };
    await form.getByLabel('Choose a sound file').setInputFiles(wave(5));
    await form.getByText('“hello.wav” is 5.0 seconds long, and a recording has at most 4: shorten the file and choose it again.').waitFor();
    await form.getByLabel('Choose a sound file').setInputFiles(wave(2));
    await form.getByText('There is a recording of 2.0 seconds.').waitFor();
    // What is read while another device is chosen is still the recording.
    await page.evaluate(() => {
      const { decodeAudioData } = BaseAudioContext.prototype;
      const held = new Promise((resolve) => {
        Object.assign(globalThis, { decode: resolve });
      });
      BaseAudioContext.prototype.decodeAudioData = async function (...given) {
        await held;
        return decodeAudioData.apply(this, given);
      };
    });
    await form.getByLabel('Choose a sound file').setInputFiles(wave(1));
    await form.getByLabel('then', { exact: true }).selectOption({ label: 'play a sound' });
    await page.evaluate('decode()');
    await form.getByLabel('then', { exact: true }).selectOption({ label: 'play a recording of your own' });
    await form.getByText('There is a recording of 1.0 seconds.').waitFor();
    await form.getByLabel('Choose a sound file').setInputFiles(wave(2));
    await form.getByText('There is a recording of 2.0 seconds.').waitFor();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Try it: When Rocket is seen: play your recording' }).click();
    await eventually(async () => assert.deepEqual(await page.evaluate('played'), ['2.00 s']));
    await played();
    await page.evaluate(() => {
      const { mediaDevices } = navigator;
      const { getUserMedia } = mediaDevices;
      Object.assign(globalThis, { opened: 0 });
      mediaDevices.getUserMedia = (options) => {
        /** @type {any} */ (globalThis).opened++;
        return getUserMedia.call(mediaDevices, options);
      };
    });
    await form.getByRole('button', { name: 'Record', exact: true }).evaluate((/** @type {HTMLElement} */ button) => {
      button.click();
      button.click();
    });
    await form.getByRole('button', { name: 'Stop recording' }).waitFor();
    assert.equal(await page.evaluate('opened'), 1, 'pressed twice, it opens one microphone');
    await page.waitForTimeout(700); // a recording has a length
    await form.getByRole('button', { name: 'Stop recording' }).click();
    await form.getByText(/^There is a recording of \d\.\d seconds\.$/).waitFor();

    form = await fill(page, { when: 'Rocket', does: 'flash the screen', fields: { Colour: 'red' } });
    await page.evaluate(() => {
      let most = 0;
      new MutationObserver(() => {
        most = Math.max(most, document.querySelectorAll('.flash').length);
        Object.assign(globalThis, { most });
      }).observe(document.body, { childList: true });
    });
    for (let i = 0; i < 3; i++) await form.getByRole('button', { name: 'Try it' }).click();
    await page.locator('.flash').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('most'), 1);
  }));

test('where the browser lacks something, the page says which one has it', LONG, async () => {
  await visit({ open: false }, async ({ page, site }) => {
    await page.addInitScript(() => {
      for (const [prototype, name] of /** @type {[any, string][]} */ ([
        [Navigator.prototype, 'serial'],
        [Navigator.prototype, 'bluetooth'],
        [Navigator.prototype, 'requestMIDIAccess'],
        [Navigator.prototype, 'vibrate'],
        [globalThis, 'speechSynthesis'],
      ]))
        delete prototype[name];
    });
    await open(page, site);
    await teach(page, 'Cat', ['noto']);
    for (const [does, words] of [
      ['write to a serial port', 'This browser cannot use serial ports: open this page in Chrome or Edge on a computer.'],
      ['send to a micro:bit', 'This browser cannot use Bluetooth: open this page in Chrome or Edge on a computer or an Android phone.'],
      ['send a MIDI note', 'This browser cannot use MIDI devices: open this page in Chrome, Edge or Firefox.'],
      ['vibrate', 'This browser cannot vibrate: open this page in Chrome on an Android phone.'],
      ['say a sentence', 'This browser cannot speak: open this page in Chrome, Edge, Firefox or Safari.'],
    ]) {
      const form = await fill(page, { when: 'Cat', does });
      await form.getByText(words, { exact: true }).waitFor();
      assert.ok(await form.getByRole('button', { name: 'Try it' }).isDisabled());
    }
  });
});
