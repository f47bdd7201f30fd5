// @ts-check
/** The recipes of the package's README for React, Vue and Svelte, as they stand there, built by esbuild and run in Chromium. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { LONG } from '../../long.js';
import { project, root } from '../project.js';
import { installed, link, pages, served, shell, told } from './environment.js';

const readme = readFileSync(path.join(root, 'web/library/README.md'), 'utf8');

/** The recipe of a framework. @param {string} name */
const recipe = (name) =>
  new RegExp(`\\*\\*${name}\\*\\*[^\`]*\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? assert.fail(`web/library/README.md has no recipe for ${name}`);

/** What a component does with its classifier. */
const ANSWER =
  "c.addExampleSync([1, 0, 0.1], 'a'); c.addExampleSync([0, 1, 0.1], 'b'); document.body.dataset.result = JSON.stringify(c.predictSync([0.9, 0.1, 0]).label);";

/** @type {Record<string, {tools: string[], files: () => Record<string, string>, prepare?: (folder: string) => Promise<void>}>} */
const frameworks = {
  // Strict mode mounts twice: the first classifier is disposed of, and must not be taught.
  React: {
    tools: ['react', 'react-dom'],
    files: () => ({
      'hook.js': recipe('React'),
      'main.js': `import { createElement, StrictMode, useEffect } from 'react';
        import { createRoot } from 'react-dom/client';
        import { useClassifier } from './hook.js';
        function App() { const c = useClassifier(); useEffect(() => { if (c) { ${ANSWER} } }, [c]); return null; }
        createRoot(document.body.appendChild(document.createElement('div'))).render(createElement(StrictMode, null, createElement(App)));`,
    }),
  },
  Vue: {
    tools: ['vue'],
    files: () => ({
      'use.js': recipe('Vue'),
      'main.js': `import { createApp, h, watch } from 'vue';
        import { useClassifier } from './use.js';
        createApp({ setup() { const shown = useClassifier(); watch(shown, (c) => { ${ANSWER} }); return () => h('p'); } }).mount(document.body.appendChild(document.createElement('div')));`,
    }),
  },
  Svelte: {
    tools: ['svelte'],
    files: () => ({
      'App.svelte': recipe('Svelte').replace('</script>', `$effect(() => { if (c) { ${ANSWER} } });\n</script>`),
      'main.js': "import { mount } from 'svelte'; import App from './App.js'; mount(App, { target: document.body });",
    }),
    prepare: async (folder) => {
      const { compile } = await import(pathToFileURL(path.join(root, 'web/test/package/environments/node_modules/svelte/src/compiler/index.js')).href);
      writeFileSync(path.join(folder, 'App.js'), compile(readFileSync(path.join(folder, 'App.svelte'), 'utf8'), { generate: 'client' }).js.code);
    },
  },
};

for (const [name, { tools, files, prepare }] of Object.entries(frameworks)) {
  test(name, LONG, async (t) => {
    const missing = tools.filter((tool) => !installed(tool));
    if (missing.length > 0) {
      t.skip(`not installed: ${missing.join(', ')}`);
      return;
    }
    const { folder } = project({ ...pages({ main: '' }), ...files() });
    link(folder, tools);
    await prepare?.(folder);
    const out = path.join(folder, 'dist');
    cpSync(path.join(folder, 'node_modules/metaqda'), out, { recursive: true });
    // In development React's strict mode mounts twice.
    shell(
      'esbuild main.js --bundle --format=esm --outdir=dist --allow-overwrite --conditions=browser,development --define:process.env.NODE_ENV=\'"development"\' --define:__VUE_OPTIONS_API__=true --define:__VUE_PROD_DEVTOOLS__=false --define:__VUE_PROD_HYDRATION_MISMATCH_DETAILS__=false\ncp main.html dist',
      folder,
    );
    const site = await served(out);
    try {
      assert.equal(await told(site, 'main.html'), 'a');
    } finally {
      await site.stop();
    }
  });
}
