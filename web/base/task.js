// @ts-check
/** Turns of the event loop that no browser slows down in a tab behind others, as it does timers. */

/** @type {(() => void)[]} */
const waiting = [];
/** @type {MessageChannel|undefined} */
let channel;

/** Lets the page paint and take input. @returns {Promise<void>} */
export function nextTask() {
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => {
      waiting.shift()?.();
      if (waiting.length === 0) keepsAlive('unref');
    };
  }
  const { port2 } = channel;
  keepsAlive('ref');
  return new Promise((resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });
}

/** Whether Node.js goes on for the channel: while somebody waits. @param {'ref' | 'unref'} how */
function keepsAlive(how) {
  /** @type {any} */ (channel?.port1)[how]?.();
}
