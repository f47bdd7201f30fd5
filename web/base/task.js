// @ts-check
/** Turns of the event loop that no browser slows down in a tab behind others, as it does timers. */

/** @type {(() => void)[]} */
const waiting = [];
/** @type {MessageChannel|undefined} */
let channel;

/** Lets the page paint and take input. @returns {Promise<void>} */
export function nextTask() {
  // In Node.js messages would come before timers, and not keep the process alive.
  if ('setImmediate' in globalThis) return new Promise((resolve) => { setImmediate(resolve); });
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()?.();
  }
  const { port2 } = channel;
  return new Promise((resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });
}
