// Learns priors on two folders of data sets. It prints the tables of the MetaQDA paper (Zhang et
// al., ICCV 2021), with the paper's figures beside ours. It says which of the paper's claims hold.
// `make reproduce` runs it. It is not a test: it takes minutes, and people read its output.
//
//   node scripts/reproduce.mjs --data DIR [--pictures DIR] [--out DIR] [--n-tasks 600] [--random-seed 0] [--steps 1]
//
// --data has cifarfs and miniimagenet with -conv4, -resnet18 or -wrn28-10 at the end of the name.
// scripts/backbone makes the last two. --pictures has miniimagenet, cifarfs, omniglot and
// caltech101 by the page's extractor (`make embed`). Each set is a .npz with its .json. Missing
// sets are left out. Everything is written to --out; priors that are there already are used again.
// --steps is a factor on the training steps. Each step prints its command first.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const text = (/** @type {string} */ value) => ({ type: /** @type {const} */ ('string'), default: value });
const { values: o } = parseArgs({
  options: { data: text(''), pictures: text('build/data'), out: text('build/reproduce'), 'n-tasks': text('600'), 'random-seed': text('0'), steps: text('1'), metaqda: text('build/bin/metaqda') },
});
const factor = Number(o.steps);
const complaint = !existsSync(o.data) ? `${o.data || 'nothing'} is no folder of data sets: name one by --data` : !(factor > 0 && factor <= 100) ? `--steps is ${o.steps}: give a number above 0 such as 1` : '';
if (complaint) fail(complaint);
mkdirSync(o.out, { recursive: true });

/** @typedef {{mean: number, ci95: number}} Interval */
/** @typedef {{method: string, data: string, shot: number, session?: number, accuracy: Interval, ece: number, ece_ts: number | null, episode_accuracy: number[]}} Result */
/** @typedef {{results: Result[], tables: string}} Report */
/** @typedef {[number, number?] | []} Figure the paper's mean and interval in percent, where it has them */
/** @typedef {[label: string, method: string, ...paper: Figure[]]} Row by 1 and 5 shots */

const SHOTS = [1, 5];
const claims = /** @type {string[]} */ ([]);
let written = '';

/** @param {string} line @returns {never} */
function fail(line) {
  console.error(`reproduce: ${line}`);
  process.exit(2);
}

/** @param {string} line */
function say(line) {
  console.log(line);
  written += `${line}\n`;
}

/** @param {string[]} args */
function metaqda(...args) {
  say(`    metaqda ${args.join(' ')}`);
  const { status, error } = spawnSync(o.metaqda, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) fail(`${o.metaqda} cannot be run (${error.message}): make build/bin/metaqda`);
  if (status !== 0) process.exit(status ?? 2);
}

const npz = (/** @type {string} */ name) => join(/-(conv4|resnet18|wrn28-10)$/.test(name) ? o.data : o.pictures, `${name}.npz`);
const all = (/** @type {string[]} */ names) => names.map(npz).join(',');

/** Whether the data sets of a section are there. @param {string} title @param {string[]} names */
function begins(title, ...names) {
  say(`\n## ${title}\n`);
  const missing = names.find((name) => !existsSync(npz(name)));
  if (missing) say(`${missing} is not in ${dirname(npz(missing))}: its tables are left out`);
  return !missing;
}

/** Learns a prior unless it is there, and returns its file. @param {string} name @param {string} preset @param {number} steps @param {string[]} data */
function train(name, preset, steps, ...data) {
  const out = join(o.out, `${name}.safetensors`);
  if (existsSync(out)) say(`${out} is there already and is used again`);
  else metaqda('train', '--data', all(data), '--out', out, '--random-seed', o['random-seed'], '--steps', String(Math.max(1, Math.trunc(factor * steps))), '--curve', join(o.out, `${name}.svg`), '--quiet', '--preset', preset);
  return out;
}

/** @param {string} name @param {string} protocol @param {string[]} data @param {string} prior @param {string} methods @param {string[]} more @returns {Report} */
function evaluate(name, protocol, data, prior, methods, ...more) {
  const [json, markdown] = ['json', 'md'].map((kind) => join(o.out, `${name}.${kind}`));
  metaqda('eval', '--protocol', protocol, '--data', all(data), '--prior', prior, '--methods', methods, ...more, '--n-tasks', o['n-tasks'], '--random-seed', o['random-seed'], '--json', json, '--markdown', markdown);
  return { ...JSON.parse(readFileSync(json, 'utf8')), tables: readFileSync(markdown, 'utf8') };
}

const find = (/** @type {Report} */ report, /** @type {string} */ method, /** @type {string} */ data, /** @type {number} */ shot) =>
  report.results.find((r) => r.method === method && r.data === data && r.shot === shot);
/** The result of a method. */
const result = (/** @type {Parameters<typeof find>} */ ...of) => /** @type {Result} */ (find(...of));
const percent = (/** @type {number | null} */ v) => (v === null ? '-' : (100 * v).toFixed(2));
const accuracy = (/** @type {Result} */ r) => `${percent(r.accuracy.mean)} ± ${percent(r.accuracy.ci95)}`;
const ece = (/** @type {Result} */ r) => percent(r.ece);
const tempered = (/** @type {Result} */ r) => percent(r.ece_ts);
const printed = (/** @type {Figure} */ [mean, ci] = []) => (mean ? mean.toFixed(2) + (ci ? ` ± ${ci.toFixed(2)}` : '') : '-');

/** @param {string} title @param {string[]} header @param {string[][]} rows @param {string} note */
function table(title, header, rows, note) {
  say(`\n**${title}**\n`);
  for (const row of [header, ['---', ...header.slice(1).map(() => '---:')], ...rows]) say(`| ${row.join(' | ')} |`);
  say(`\n${note}`);
}

/** Our figures next to the paper's. @param {string} title @param {string} note @param {Report} report @param {string} data @param {Row[]} rows @param {(r: Result) => string} get */
function beside(title, note, report, data, rows, get) {
  const cells = (/** @type {Row} */ [label, method, ...paper]) => [label, method, ...SHOTS.flatMap((shot, i) => [get(result(report, method, data, shot)), printed(paper[i])])];
  table(title, ['model', 'method', '1-shot ours', '1-shot paper', '5-shot ours', '5-shot paper'], rows.map(cells), note);
}

const claim = (/** @type {string} */ what, /** @type {boolean} */ holds) => claims.push(`${holds ? 'holds:         ' : 'does not hold: '}${what}`);

/** Mean and 95 % interval of the differences over the same tasks. @param {Result} a @param {Result} b */
function difference(a, b) {
  const d = a.episode_accuracy.map((v, i) => v - b.episode_accuracy[i]);
  const mean = d.reduce((sum, v) => sum + v, 0) / d.length;
  const ci = d.length < 2 ? 0 : 1.96 * Math.sqrt(d.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (d.length - 1) / d.length);
  return `${mean < 0 ? '' : '+'}${percent(mean)} ± ${percent(ci)}`;
}

/** Is one method more accurate than others? @param {Report} report @param {string} data @param {string} better @param {string[]} rivals */
function above(report, data, better, ...rivals) {
  for (const shot of SHOTS)
    for (const rival of rivals) {
      const [a, b] = [result(report, better, data, shot), result(report, rival, data, shot)];
      claim(`${data}, ${shot}-shot accuracy: ${better} ${percent(a.accuracy.mean)} above ${rival} ${percent(b.accuracy.mean)} (difference over the same tasks ${difference(a, b)})`, a.accuracy.mean > b.accuracy.mean);
    }
}

/** Is its calibration error lower? @param {Report} report @param {string} data @param {string} better @param {string} worse @param {string} how */
function lower(report, data, better, worse, how = 'without temperature') {
  for (const shot of SHOTS) {
    const [a, b] = [result(report, better, data, shot), result(report, worse, data, shot)];
    claim(`${data}, ${shot}-shot ECE ${how}: ${better} ${ece(a)} below ${worse} ${ece(b)}`, a.ece < b.ece);
  }
}

const MINI = 'The paper\'s column is Conv-4 on miniImageNet.';
/** @type {Record<string, Figure[]>} */
const FB_MINI = { fb: [[56.41, 0.8], [72.64, 0.62]] };

/** The single-domain tables on a Conv-4 backbone; full adds the long runs: a prior for classes of hundreds of rows, and MAML. @param {string} name @param {number} steps @param {boolean} full */
function conv4(name, steps, full) {
  if (!begins(name, name)) return;
  const learned = train(name, 'conv4', steps, name);
  const fb = train(`${name}-fb`, 'plain', steps, name);
  const ownMap = ['--prior-map', train(`${name}-map`, 'plain-map', steps, name)];
  const many = full ? train(`${name}-many`, 'many-rows', 2000, name) : learned;

  // Tables 1 and 3.
  const names = { 'ncc-un': 'nearest centroid UN', 'ncc-l2n': 'nearest centroid L2N', 'ncc-cl2n': 'SimpleShot (CL2N)', proto: 'prototypical head', cosine: 'Baseline++', linear: 'linear classifier',
    knn: 'nearest neighbours', lda: 'LDA', qda: 'QDA', 'fb-handcrafted': 'QDA, hand-crafted prior', map: 'MetaQDA-MAP', fb: 'MetaQDA-FB' };
  const mini = name.startsWith('mini');
  /** @type {Record<string, Figure[]>} */
  const paper = mini ? { ...FB_MINI, cosine: [[48.24, 0.75], [66.43, 0.63]], 'ncc-cl2n': [[49.69, 0.19], [66.92, 0.17]] } : { 'ncc-cl2n': [[59.35, 0.89], [74.76, 0.72]], fb: [[60.52, 0.88], [77.33, 0.73]] };
  const standard = evaluate(`${name}-standard`, 'standard', [name], learned, Object.keys(names).join(','));
  const weaker = mini ? 'The paper\'s Conv-4 on miniImageNet is a stronger backbone than this one (SimpleShot 49.69 / 66.92 there).' : '';
  beside(`Standard few-shot learning, ${name}, accuracy in percent`, weaker, standard, name, Object.entries(names).map(([method, label]) => /** @type {Row} */ ([label, method, ...(paper[method] ?? [])])), accuracy);
  above(standard, name, 'fb', 'ncc-cl2n', 'linear', 'lda', 'qda', 'fb-handcrafted');

  // Table 7, on priors without any temperature.
  const calibration = evaluate(`${name}-calibration`, 'calibration', [name], fb, `linear,ncc-cl2n,qda,map,fb${full ? ',maml-qda' : ''}`, ...ownMap, '--pictures', join(o.out, 'pictures'));
  const note = `${MINI} No temperature is part of these priors.`;
  beside(`Calibration, ${name}, ECE in percent`, note, calibration, name, [['linear classifier', 'linear', [8.54], [7.48]], ['SimpleShot', 'ncc-cl2n', [33.45], [45.81]], ['QDA', 'qda', [43.54], [26.78]],
    .../** @type {Row[]} */ (full ? [['MAML QDA', 'maml-qda', [52.75], [38.84]]] : []), ['MetaQDA-MAP', 'map', [8.03], [5.27]], ['MetaQDA-FB', 'fb', [4.32], [2.92]]], ece);
  beside(`Calibration, ${name}, ECE in percent with temperature scaling`, note, calibration, name, [['linear classifier', 'linear', [3.56], [2.88]], ['SimpleShot', 'ncc-cl2n', [3.82], [3.35]],
    ['QDA', 'qda', [8.25], [4.37]], ['MetaQDA-MAP', 'map', [2.75], [0.89]], ['MetaQDA-FB', 'fb', [2.33], [0.45]]], tempered);
  for (const [better, worse] of [['fb', 'map'], ['fb', 'ncc-cl2n'], ['map', 'ncc-cl2n']]) lower(calibration, name, better, worse);

  // A prior learned for an inference compensates its weakness: the one learned with MAP is wider.
  // So the difficulty of the test classes decides which inference is better calibrated.
  const same = evaluate(`${name}-same-prior`, 'calibration', [name], fb, 'map,fb');
  say(`\nInference alone, ${name}: both with the prior that was learned with FB\n\n${same.tables}`);
  lower(same, name, 'fb', 'map', 'with one prior for both');
  if (full) {
    beside(`Bayesian against MAML, ${name}, accuracy in percent`, note, calibration, name, [['MAML', 'maml-qda', [54.33, 0.78], [69.17, 0.77]], ['MetaQDA-MAP', 'map'], ['MetaQDA-FB', 'fb', ...FB_MINI.fb]], accuracy);
    above(calibration, name, 'fb', 'maml-qda');
    lower(calibration, name, 'fb', 'maml-qda');
  }

  // Table 8.
  const ablation = evaluate(`${name}-ablation`, 'ablation', [name], fb, 'lda,qda,fb-lda-handcrafted,fb-handcrafted,fb-lda,map,fb', ...ownMap);
  beside(`Ablation, ${name}, accuracy in percent`, `${MINI} LDA and QDA without prior have the smallest ridge that makes them defined; at 1 shot they are nearest centroid.`, ablation, name,
    [['LDA', 'lda', [], [64.24, 1.42]], ['QDA', 'qda', [], [34.45, 0.67]], ['LDA (prior)', 'fb-lda-handcrafted', [54.84, 0.8], [71.48, 0.64]], ['QDA (prior)', 'fb-handcrafted', [54.84, 0.8], [71.4, 0.64]],
      ['MetaLDA', 'fb-lda', [56.24, 0.8], [72.39, 0.64]], ['MetaQDA-MAP', 'map'], ['MetaQDA-FB', 'fb', ...FB_MINI.fb]], accuracy);
  above(ablation, name, 'fb', 'fb-handcrafted');
  above(ablation, name, 'fb-lda', 'fb-lda-handcrafted');

  // Table 6.
  const incremental = evaluate(`${name}-incremental`, 'incremental', [name], many, 'ncc-cl2n,map,fb');
  say(`\n${incremental.tables}\nThe paper's figures (ResNet-18, miniImageNet) are within 0.04 of 59.57 60/(60+5n) from session 0 to 8: hardly a new class was recognised. The base classes trained the backbone, their held-out pictures included: session 0 is flattered.\n`);
  const mean = (/** @type {string} */ method, /** @type {number | undefined} */ session) => /** @type {Result} */ (incremental.results.find((r) => r.method === method && r.session === session)).accuracy.mean;
  for (const { session } of incremental.results.filter((r) => r.method === 'fb')) {
    const [a, b] = [mean('fb', session), mean('ncc-cl2n', session)];
    claim(`${name}, incremental session ${session}: fb ${percent(a)} above ncc-cl2n ${percent(b)}`, a > b);
  }

  // Not in the paper: half of the queries are of unseen classes.
  say(`\n${evaluate(`${name}-open-set`, 'open-set', [name], learned, 'fb,ncc-cl2n,linear').tables}`);
}

/** Tables 1 to 3 on features of the deep backbones. MAP and FB are the paper's model with priors of their own, the page's head has the preset deep-head; all are of the training classes. @param {string} name @param {Record<string, Figure[]>} paper */
function deep(name, paper) {
  if (!begins(name, name)) return;
  const [fb, ownMap, head] = [['-fb', 'deep', 1500], ['-map', 'deep-map', 1500], ['', 'deep-head', 600]].map(([suffix, preset, steps]) => train(`${name}${suffix}`, String(preset), Number(steps), name));
  const densities = evaluate(name, 'calibration', [name], fb, 'ncc-cl2n,linear,map,fb', '--prior-map', ownMap);
  const sessions = evaluate(`${name}-head`, 'calibration', [name], head, 'ncc-cl2n,linear,metaqda');
  const methods = { 'ncc-cl2n': 'nearest centroid (SimpleShot CL2N)', s2m2: 'S2M2', linear: 'linear classifier', map: 'MetaQDA-MAP', fb: 'MetaQDA-FB', metaqda: 'the page\'s head' };
  const rows = Object.entries(methods).map(([method, label]) => [label, ...SHOTS.flatMap((shot, i) => {
    const r = find(densities, method, name, shot) ?? find(sessions, method, name, shot);
    return [r ? accuracy(r) : '-', printed(paper[method]?.[i]), r ? ece(r) : '-', r ? tempered(r) : '-'];
  })]);
  table(name, ['method', ...SHOTS.flatMap((shot) => [`${shot}-shot accuracy`, 'paper', 'ECE', 'tempered'])], rows, 'Accuracy and ECE in percent; tempered: with the temperature of the validation classes.');
  for (const method of ['map', 'fb']) above(densities, name, method, 'ncc-cl2n', 'linear');
  above(sessions, name, 'metaqda', 'ncc-cl2n', 'linear');
}

/** Table 4: a prior of miniImageNet's training classes on the test classes of other domains. */
function crossDomain() {
  const targets = ['caltech101', 'cifarfs', 'omniglot'];
  if (!begins('Cross-domain, by the page\'s extractor', 'miniimagenet', ...targets)) return;
  const report = evaluate('cross-domain', 'cross-domain', targets, train('miniimagenet', 'deep', 1500, 'miniimagenet'), 'ncc-cl2n,cosine,linear,fb');
  say(`\n${report.tables}`);
  for (const name of targets) above(report, name, 'fb', 'ncc-cl2n');
}

/** Tables 1 and 5 on the page's own extractor. */
function multiDomain() {
  const seen = ['miniimagenet', 'cifarfs', 'omniglot'], names = [...seen, 'caltech101'];
  if (!begins('Multi-domain, by the page\'s extractor', ...names)) return;
  const prior = train('three-domains', 'deep', 1500, ...seen);
  const single = evaluate('pictures-standard', 'standard', names, prior, 'ncc-cl2n,cosine,linear,knn,fb');
  say(`\n${single.tables}`);
  for (const name of names) above(single, name, 'fb', 'ncc-cl2n', 'linear');
  say(`\n${evaluate('multi-domain', 'multi-domain', names, prior, 'ncc-un,ncc-cl2n,knn,map,fb', '--in-domain', seen.join(',')).tables}`);
}

conv4('cifarfs-conv4', 3000, true);
conv4('miniimagenet-conv4', 600, false);
deep('cifarfs-resnet18', { s2m2: [[63.66, 0.17], [76.07, 0.19]] });
deep('cifarfs-wrn28-10', { s2m2: [[74.81, 0.19], [87.47, 0.13]], fb: [[75.83, 0.88], [88.79, 0.75]] });
deep('miniimagenet-resnet18', { 'ncc-cl2n': [[62.85, 0.2], [80.02, 0.14]], s2m2: [[64.06, 0.18], [80.58, 0.12]], fb: [[65.12, 0.66], [80.98, 0.75]] });
deep('miniimagenet-wrn28-10', { 'ncc-cl2n': [[63.5, 0.2], [80.33, 0.14]], s2m2: [[64.93, 0.18], [83.18, 0.22]], fb: [[67.83, 0.64], [84.28, 0.69]] });
crossDomain();
multiDomain();
say(`\n## Claims\n\n${claims.join('\n')}`);
writeFileSync(join(o.out, 'tables.md'), written);
