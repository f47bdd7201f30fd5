// @ts-check
/** The pages of the reference as HTML, beside those of TypeDoc. */

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The name of a heading, as GitHub gives it. @param {string} heading */
export const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav { display: flex; gap: 1rem; padding: 1rem 0; border-bottom: 1px solid #8886; }
pre { overflow-x: auto; padding: .75rem; background: #8881; border-radius: .4rem; font-size: .85rem; line-height: 1.45; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
.source { counter-reset: line; }
.source span::before { counter-increment: line; content: counter(line); display: inline-block; width: 3rem; color: #888; }
.source span:target { background: #fc06; }
`;

/** A page around a body. @param {string} title @param {string} body HTML @param {string} top the way to build/docs */
export const document = (title, body, top) => `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body>
<nav><a href="${top}/index.html">Guides</a><a href="${top}/package/index.html">npm package</a><a href="${top}/go/index.html">Go</a></nav>
<main>${body}</main>
</body>
</html>
`;

/**
 * The output of go doc -all for a package. A line in capitals begins a section. Declarations begin at the margin;
 * one of several lines ends with a closing bracket. Comments are indented by four spaces.
 *
 * @param {string} name @param {string} text
 */
export function goPage(name, text) {
  const lines = text.trimEnd().split('\n');
  const body = [],
    names = [];
  let comment = /** @type {string[]} */ ([]);
  const flush = () => {
    body.push(paragraphs(comment));
    comment = [];
  };
  for (let i = 1; i < lines.length; i++) {
    // the first line repeats the name
    const line = lines[i];
    const [, receiver, declared] = /^(?:func (?:\(\w* ?\*?(\w+)(?:\[[^)]*)?\) )?|type )(\w+)/.exec(line) ?? [];
    if (/^[A-Z]+$/.test(line)) {
      flush();
      body.push(`<h2>${line[0]}${line.slice(1).toLowerCase()}</h2>`);
    } else if (/^(func|type|const|var) /.test(line)) {
      flush();
      const first = i;
      if (/[{(]$/.test(line)) while (!/^[)}]/.test(lines[++i]));
      const id = declared && (receiver ? `${receiver}.${declared}` : declared);
      if (id) names.push(id);
      body.push(`<pre${id ? ` id="${id}"` : ''}><code>${escaped(lines.slice(first, i + 1).join('\n'))}</code></pre>`);
    } else {
      comment.push(line.replace(/^ {4}/, ''));
    }
  }
  flush();
  const index = names.map((id) => `<a href="#${id}">${id}</a>`).join(', ');
  return `<h1>${escaped(name)}</h1><p>${index}</p>${body.join('\n')}`;
}

/** A comment: paragraphs, and indented blocks between them. @param {string[]} lines */
function paragraphs(lines) {
  return lines
    .join('\n')
    .split(/\n\s*\n/)
    .filter((part) => part.trim())
    .map((part) => (/^[ \t]/m.test(part) ? `<pre>${escaped(part)}</pre>` : `<p>${escaped(part)}</p>`))
    .join('\n');
}
