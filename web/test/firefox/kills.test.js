// @ts-check
/** Firefox killed while it is taught. */
import test from 'node:test';
import { LONG } from '../long.js';
import { killMany } from '../browser/engine/kills.js';

const KILLS = Number(process.env.METAQDA_KILLS_FIREFOX ?? 2);

test(
  `after each of ${KILLS} kills of Firefox everything that was acknowledged is there`,
  { timeout: 60_000 + KILLS * 40_000, ...(process.env.METAQDA_KILLS_FIREFOX ? {} : LONG) },
  () => killMany('firefox', process.env.FIREFOX ?? '/usr/bin/firefox-esr', KILLS),
);
