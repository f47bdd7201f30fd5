// @ts-check
/** The package in Next.js, with either bundler: used by what is rendered on a server, in a production build with its static pages, which then run in Chromium without a network. */
import { environment } from './environment.js';
import { PROGRAMS } from './programs.js';

const files = {
  'next.config.mjs': `export default { output: 'export', serverExternalPackages: ['metaqda'], outputFileTracingRoot: '/', turbopack: { root: '/' } };`,
  'app/layout.jsx': `export const metadata = { title: 'metaqda', icons: 'data:,' };
    export default ({ children }) => <html lang="en"><body>{children}</body></html>;`,
  // Rendered on the server, and there the engine runs too.
  'app/[entry]/page.jsx': `
    import { createClassifier } from 'metaqda';
    import Live from './live.jsx';
    export const generateStaticParams = () => ${JSON.stringify(Object.keys(PROGRAMS).map((entry) => ({ entry })))};
    export default async function Page({ params }) {
      const { entry } = await params;
      const c = await createClassifier();
      c.addExampleSync([1, 0, 0.1], 'a');
      c.addExampleSync([0, 1, 0.1], 'b');
      const { label } = c.predictSync([0.9, 0.1, 0]);
      c.dispose();
      return <main><p id="server">{label}</p><Live entry={entry} /></main>;
    }`,
  'app/[entry]/live.jsx': `'use client';
    import { useEffect } from 'react';
    const programs = { ${Object.keys(PROGRAMS)
      .map((entry) => `${entry}: () => import('../../${entry}.js')`)
      .join(', ')} };
    export default function Live({ entry }) {
      useEffect(() => { programs[entry]().catch((error) => { document.body.dataset.result = JSON.stringify(String(error)); }); }, [entry]);
      return <p>{entry}</p>;
    }`,
};
// What the server rendered must be right as well: without it the export has no page.
for (const [name, flag] of [
  ['Next.js, Turbopack', ''],
  ['Next.js, webpack', ' --webpack'],
]) {
  environment(name, {
    tools: ['next'],
    linked: ['next', 'react', 'react-dom'],
    out: 'out',
    recipe: ["serverExternalPackages: ['metaqda']"],
    files,
    page: (entry) => `${entry}.html`,
    command: `next build${flag}\ngrep -q '<p id="server">a</p>' out/vectors.html`,
  });
}
