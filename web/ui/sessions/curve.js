// @ts-check
/** The learning curve as SVG: training loss and validation loss over steps; in words, right answers. */

/**
 * @typedef {object} TrainingPoint losses are cross-entropies in nats
 * @property {number} step
 * @property {number} loss of learning, smoothed
 * @property {number} [validation] loss on classes kept aside, where it was measured
 * @property {number} [right] share of right answers there
 */
/** @typedef {{x: number, y: number}} Place */

const WIDTH = 320;
const HEIGHT = 120;
const MARGIN = 6;

/**
 * Where the points lie in a box of WIDTH x HEIGHT: steps to the right, losses
 * upwards, the range filling the box.
 *
 * @param {TrainingPoint[]} history
 * @param {number} steps the right-hand end
 * @returns {{training: Place[], validation: Place[], low: number, high: number}}
 */
export function layOut(history, steps) {
  const finite = history.filter(({ loss }) => Number.isFinite(loss));
  const measured = history.flatMap(({ step, validation }) =>
    (validation !== undefined && Number.isFinite(validation) ? [{ step, loss: validation }] : []));
  const losses = [...finite, ...measured].map(({ loss }) => loss);
  const low = losses.length ? Math.min(...losses) : 0;
  const high = losses.length ? Math.max(...losses) : 1;
  const range = high - low || 1;
  const place = (/** @type {{step: number, loss: number}} */ { step, loss }) => ({
    x: MARGIN + (WIDTH - 2 * MARGIN) * Math.min(1, step / Math.max(1, steps)),
    y: HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (high === low ? 0.5 : (loss - low) / range),
  });
  return { training: finite.map(place), validation: measured.map(place), low, high };
}

/**
 * What the curve says, for those who do not see it.
 *
 * @param {TrainingPoint[]} history
 */
export function tell(history) {
  const measured = history.filter(({ validation }) => validation !== undefined && Number.isFinite(validation));
  if (measured.length < 2) return history.length ? 'Nothing has been asked about classes kept aside yet.' : 'Nothing has been learned yet.';
  const loss = (/** @type {TrainingPoint} */ { validation }) => validation ?? Infinity;
  const [first] = measured;
  const best = measured.reduce((a, b) => (loss(b) < loss(a) ? b : a));
  const [from, to] = [first, best].map(({ right = 0 }) => Math.round(100 * right));
  const where = 'on classes kept aside';
  if (best === first) return `Nothing was gained: ${from} % of the answers ${where} were right before, and none of what was learned does better.`;
  if (to > from) return `Right answers ${where} rose from ${from} % to ${to} %.`;
  return to === from
    ? `As many answers ${where} are right, ${to} %, and their percentages are more honest.`
    : `Right answers ${where} went from ${from} % to ${to} %, and their percentages are more honest.`;
}

/** The picture; `draw` brings it up to date. */
export class Curve {
  constructor() {
    this.element = make('svg', { class: 'curve', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', preserveAspectRatio: 'none' });
    this.training = make('polyline', { class: 'curve-training' });
    this.validation = make('polyline', { class: 'curve-validation' });
    this.element.append(this.training, this.validation);
  }

  /** @param {TrainingPoint[]} history @param {number} steps */
  draw(history, steps) {
    const { training, validation } = layOut(history, steps);
    this.training.setAttribute('points', points(training));
    this.validation.setAttribute('points', points(validation));
    this.element.setAttribute('aria-label', tell(history));
  }
}

/** @param {Place[]} places */
function points(places) {
  return places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
}

/** @param {string} tag @param {Record<string, string>} attributes */
function make(tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
