#!/usr/bin/env node
// @ts-check
/**
 * Firefox for playwright-core, which speaks WebDriver BiDi as the next versions of
 * browsers do: commands that this Firefox does not know yet, and that no test needs, are
 * answered here. Run in the place of Firefox, with its arguments.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const { WebSocket, WebSocketServer } = createRequire(import.meta.url)('ws');

/** What is answered as if it had been done. */
const NEEDLESS = /^emulation\.set(MediaFeatures|ScreenSettings|TouchOverride)/;

const firefox = spawn(process.env.FIREFOX || '/usr/bin/firefox-esr', process.argv.slice(2), { stdio: ['inherit', 'inherit', 'pipe'] });
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) process.on(signal, () => firefox.kill(signal));
firefox.on('exit', (code) => process.exit(code ?? 1));

let text = '';
firefox.stderr.on('data', (chunk) => {
  const before = text.length;
  text += chunk;
  const found = /WebDriver BiDi listening on (ws:\S+)/.exec(text);
  if (found && !/ on ws:\S+/.test(text.slice(0, before))) void relay(found[1]);
  else process.stderr.write(chunk);
});

/** Passes on what both sides say. @param {string} address of Firefox */
async function relay(address) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (/** @type {any} */ client, /** @type {{url: string}} */ { url }) => {
    const browser = new WebSocket(`${address}${url}`);
    const open = once(browser, 'open');
    client.on('message', async (/** @type {Buffer} */ data) => {
      await open;
      const message = data.toString();
      const { id, method } = JSON.parse(message);
      if (NEEDLESS.test(method)) client.send(JSON.stringify({ type: 'success', id, result: {} }));
      else browser.send(message);
    });
    browser.on('message', (/** @type {Buffer} */ data) => client.send(data.toString()));
    browser.on('close', () => client.close());
    client.on('close', () => browser.close());
    browser.on('error', () => client.close());
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${port}\n`);
}
