// @ts-check
/** Sessions go from Python to the page and back, with pictures embedded on both sides. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { temporaryFolder } from '../../temporary.js';
import { addClass, addPictures, card, downloaded, likeliest, recognise, root, sample, sessionsOf, status, visit } from '../harness.js';

const program = path.join(root, 'build/venv/bin/python'); // 'make test-python' makes it

/** @param {string} code @param {string[]} args @returns {any} what it prints, JSON */
const python = (code, ...args) => JSON.parse(execFileSync(program, ['-B', '-c', `import json, sys\nimport metaqda\n${code}`, ...args], { encoding: 'utf8' }));

const ANSWERS = `
def answers(c, paths):
    X = metaqda.embed(paths)
    none = c.predict_none(X)
    p = c.predict_proba(X) * (1 - none)[:, None]
    print(json.dumps([{'None of these': n, **dict(zip(c.classes_, row))} for n, row in zip(none, p.tolist())]))
`;

/** @returns {string | false} why there is nothing to test with */
function missing() {
  try {
    return python('metaqda.embed([])\nprint("false")');
  } catch {
    return 'the Python package, onnxruntime or Pillow is missing: make test-python';
  }
}

const folder = temporaryFolder('python');

/** Fails unless both give the same probabilities, but for the rounding of pictures. @param {Record<string, number>} got @param {Record<string, number>} want */
function assertNear(got, want) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort());
  for (const [name, p] of Object.entries(want)) assert.ok(Math.abs(got[name] - p) < 0.02, `${name} ${got[name]} in the page, ${p} in Python`);
}

test('a session goes from Python to the page and back', { skip: missing() }, () =>
  visit({}, async ({ page }) => {
    const concepts = ['cat', 'banana', 'rocket'];
    const taught = concepts.flatMap((concept) => ['noto', 'twemoji'].map((style) => sample(style, concept)));
    const asked = [...concepts, 'guitar'].map((concept) => sample('openmoji', concept));
    const file = path.join(folder, 'python.safetensors');
    const want = python(
      `${ANSWERS}
taught, asked = sys.argv[2:8], sys.argv[8:]
labels = [path.split('/')[-1][:-4].title() for path in taught]
c = metaqda.FewShotClassifier('pictures', name='From Python').fit(metaqda.embed(taught), labels)
c.save(sys.argv[1])
answers(c, asked)`,
      file,
      ...taught,
      ...asked,
    );

    const dialog = await sessionsOf(page);
    await dialog.getByLabel('Open a saved session').setInputFiles(file);
    await status(page, 'The session was opened.');
    await page.keyboard.press('Escape');
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    for (const [i, picture] of asked.entries()) assertNear(await recognise(page, picture), want[i]);

    await addClass(page, 'Guitar');
    await addPictures(page, 'Guitar', [sample('noto', 'guitar'), sample('twemoji', 'guitar')]);
    const meters = await recognise(page, asked[3]);
    await sessionsOf(page);
    const back = await (await downloaded(page, 'Save this session')).path();
    const [answer] = python(
      `${ANSWERS}
c = metaqda.FewShotClassifier.load(sys.argv[1])
assert c.prior == 'pictures' and c.name == 'From Python'
answers(c, sys.argv[2:])`,
      back,
      asked[3],
    );
    assertNear(meters, answer);
    assert.equal(likeliest(answer), 'Guitar');
  }),
);
