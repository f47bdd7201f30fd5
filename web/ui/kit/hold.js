// @ts-check
/** Press and hold, by finger, mouse, pen or keyboard. */

/**
 * Calls `tick` repeatedly while the button is held: at least once per press, one at a time,
 * at most once every `interval` milliseconds. It stops when the button leaves the page. A click
 * without pointer or key (of a screen reader, say) counts as one press.
 *
 * @param {HTMLElement} button
 * @param {() => Promise<unknown>} tick
 * @param {{interval?: number, onHold?: (held: boolean) => void}} [options]
 */
export function holdRepeat(button, tick, { interval = 180, onHold } = {}) {
  let held = false;
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
        await new Promise((resolve) => {
          setTimeout(resolve, next - performance.now());
        });
      } while ((held || due) && button.isConnected);
    } finally {
      running = false;
      held = false;
      due = 0;
      onHold?.(false);
    }
  };
  const press = () => {
    due++; // also while the tick of the last press is running
    void loop();
  };
  const start = () => {
    held = pressed = true;
    press();
  };
  const stop = () => {
    held = false;
    // The press's own click, if one follows, is dispatched before this timer.
    setTimeout(() => {
      pressed = held;
    }, 0);
  };

  button.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture?.(event.pointerId);
    start();
  });
  for (const type of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur']) button.addEventListener(type, stop);
  button.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    if (!event.repeat) start();
  });
  button.addEventListener('keyup', (event) => {
    if (event.key === ' ' || event.key === 'Enter') stop();
  });
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
