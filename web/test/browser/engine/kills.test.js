// @ts-check
/** Chromium killed while it is taught: METAQDA_KILLS times, or ten. */
import test from 'node:test';
import { LONG } from '../../long.js';
import { chromiumPath } from '../harness.js';
import { killMany } from './kills.js';

const KILLS = Number(process.env.METAQDA_KILLS ?? 10);

test(`after each of ${KILLS} kills everything that was acknowledged is there`, { timeout: 60_000 + KILLS * 20_000, ...process.env.METAQDA_KILLS ? {} : LONG }, () =>
  killMany('chrome', chromiumPath(), KILLS, Number(process.env.METAQDA_SEED ?? 1)));
