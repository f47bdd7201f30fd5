// @ts-check
/** Press and hold, by finger, mouse, pen or keyboard. */
import { sleep } from '../../base/task.js';

/**
 * Calls `tick` repeatedly while the button is held: at least once per press, one at a time,
 * at most once every `interval` milliseconds. The finger, pointer or key that began ends it, whatever
 * another one does meanwhile. It stops when the button leaves the page. A click without pointer or key
 * (of a screen reader, say) counts as one press.
 *
 * @param {HTMLElement} button
 * @param {() => Promise<unknown>} tick
 * @param {{interval?: number, onHold?: (held: boolean) => void}} [options]
 */
export function holdRepeat(button, tick, { interval = 180, onHold } = {}) {
  /** The pointer or key that holds it. @type {number|string|null} */
  let holder = null;
  let due = 0; // presses without a tick so far
  let running = false;
  let pressed = false; // a pointer or key press came before the click

  const loop = async () => {
    if (running) return;
    running = true;
    onHold?.(true);
    try {
      do {
        const next = performance.now() + interval;
        due = Math.max(0, due - 1);
        await tick();
        await sleep(next - performance.now());
      } while ((holder !== null || due) && button.isConnected);
    } finally {
      running = false;
      holder = null;
      due = 0;
      onHold?.(false);
    }
  };
  const press = () => {
    due++; // also while the tick of the last press is running
    void loop();
  };
  const start = (/** @type {number|string} */ by) => {
    holder = by;
    pressed = true;
    press();
  };
  const stop = (/** @type {number|string|null} */ by) => {
    if (by !== holder) return;
    holder = null;
    // The press's own click, if one follows, is dispatched before this timer.
    setTimeout(() => {
      pressed = holder !== null;
    }, 0);
  };

  button.addEventListener('pointerdown', ({ button: which, pointerId }) => {
    if (which !== 0 || holder !== null) return;
    button.setPointerCapture?.(pointerId);
    start(pointerId);
  });
  for (const type of /** @type {const} */ (['pointerup', 'pointercancel', 'lostpointercapture']))
    button.addEventListener(type, ({ pointerId }) => stop(pointerId));
  button.addEventListener('blur', () => stop(holder));
  button.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    if (!event.repeat && holder === null) start(event.key);
  });
  button.addEventListener('keyup', ({ key }) => stop(key));
  button.addEventListener('click', () => {
    if (!pressed) press();
  });
  button.addEventListener('contextmenu', (event) => event.preventDefault());
}

/** Makes a held Enter press once. Otherwise it would close the dialog that it opened, and open it again. */
export function pressOnce() {
  document.addEventListener('keydown', (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  });
}
