import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Marked, type RendererObject, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import type { DocsEntry } from './src/docs/entry.ts';

/** Renders docs/*.md into static pages of the layout docs.html, and a search index. */

const DOCS = join(import.meta.dirname, '../docs');

/** Folders in the order of the navigation. */
const sections = [
  ['tutorial', 'Tutorials'],
  ['how-to', 'How-to guides'],
  ['reference', 'Reference'],
  ['explanation', 'Explanation'],
] as const;

/** Text of a section in the search index, in characters. */
const ENTRY_MAX_CHARS = 4_000;

/** `path` is below /docs, such as `reference/keys`. */
type DocsPage = Readonly<{ path: string; title: string; markdown: string }>;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const plainText = (html: string): string =>
  html
    .replaceAll(/<\/?(?:a|code|em|strong)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** As GitHub derives it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Address below /docs, or null for a file that is not a page. */
function hrefOf(page: string, href: string): string | null {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const path = posix.join(dirname(page), file);
  if (path.startsWith('..') || !path.endsWith('.md')) return null;
  return `/docs/${path.slice(0, -'.md'.length)}${anchor === undefined ? '' : `#${anchor}`}`;
}

const playgroundLink = (method: string, params?: string): string =>
  `/playground?method=${encodeURIComponent(method)}${
    // The dashboard reads values of the query as JSON.
    params === undefined ? '' : `&amp;params=${encodeURIComponent(JSON.stringify(params))}`
  }`;

/** Link to the playground for a command that sends a request; null for other code. */
function tryLink(code: string): string | null {
  const body = /\/v1\/(?:rpc|ws)\b[\s\S]*?'(\{"jsonrpc"[^']*\})'/.exec(code)?.[1];
  if (body !== undefined) {
    try {
      const { method, params = [] } = JSON.parse(body) as { method: string; params?: unknown };
      return playgroundLink(method, JSON.stringify(params, null, 2));
    } catch {
      return null;
    }
  }
  const endpoint = /\/sol\/v1\/([a-z_/]+)/.exec(code)?.[1];
  return endpoint === undefined ? null : playgroundLink(endpoint);
}

const METHOD_CELL = /^(?:(?:get|is|minimum|request|send|simulate)[A-Z]\w+|\w+Subscribe)$/;

/** Anchors and search entries are collected in `entries`. */
function rendererFor({ path, title }: DocsPage, entries: DocsEntry[]): RendererObject {
  let table = 0;
  return {
    heading({ tokens, depth }: Tokens.Heading) {
      const html = this.parser.parseInline(tokens);
      const anchor = anchorOf(plainText(html));
      entries.push({
        page: title,
        heading: depth === 1 ? '' : plainText(html),
        href: `/docs/${path}#${anchor}`,
        text: '',
      });
      return `<h${depth} id="${anchor}">${html}</h${depth}>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const html = this.parser.parseInline(tokens);
      const target = hrefOf(path, href);
      return target === null ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
    },
    code({ text, lang }: Tokens.Code) {
      const link = tryLink(text);
      const attempt =
        link === null ? '' : `<p class="docs-try"><a href="${link}">Try it in the playground</a></p>`;
      const label = escapeHtml(lang || 'code');
      return `<pre tabindex="0" role="region" aria-label="${label}"><code>${escapeHtml(text)}</code></pre>\n${attempt}`;
    },
    table(token: Tokens.Table) {
      const cell = (one: Tokens.TableCell, tag: 'th' | 'td'): string => {
        const html = this.parser.parseInline(one.tokens);
        const isMethod =
          tag === 'td' && METHOD_CELL.test(one.text) && /^reference\/(?:json-rpc|websocket)$/.test(path);
        return `<${tag}>${isMethod ? `<a href="${playgroundLink(one.text)}">${html}</a>` : html}</${tag}>`;
      };
      const rows = token.rows.map((row) => `<tr>${row.map((one) => cell(one, 'td')).join('')}</tr>`);
      table += 1;
      const head = token.header.map((one) => cell(one, 'th')).join('');
      const html = `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
      return `<div class="docs-table" tabindex="0" role="region" aria-label="Table ${table}">${html}</div>\n`;
    },
  };
}

function readPages(): DocsPage[] {
  return sections.flatMap(([folder]) =>
    readdirSync(join(DOCS, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => {
        const markdown = readFileSync(join(DOCS, folder, name), 'utf8');
        const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
        return {
          path: `${folder}/${name.slice(0, -'.md'.length)}`,
          title: title.replaceAll('`', ''),
          markdown,
        };
      }),
  );
}

/** @returns the page's HTML, and one entry of the search index per heading. */
export function renderPage(page: DocsPage): Readonly<{ html: string; entries: readonly DocsEntry[] }> {
  const entries: DocsEntry[] = [];
  const html = new Marked({ renderer: rendererFor(page, entries) }).parse(page.markdown, { async: false });
  // The part before the first heading is empty: each page begins with one.
  const parts = html.split(/(?=<h[1-6] id=)/).filter((part) => part.startsWith('<h'));
  const withText = entries.map((entry, index) => ({
    ...entry,
    text: plainText((parts[index] ?? '').replace(/^.*?<\/h\d>/, '')).slice(0, ENTRY_MAX_CHARS),
  }));
  return { html, entries: withText };
}

/** @param current - path of the page that contains the list. */
function listOf(pages: readonly DocsPage[], folder: string, current: string): string {
  const items = pages
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path, title }) => {
      const mark = path === current ? ' aria-current="page"' : '';
      return `<li><a href="/docs/${path}"${mark}>${escapeHtml(title)}</a></li>`;
    });
  return `<ul>${items.join('')}</ul>`;
}

const navigationOf = (pages: readonly DocsPage[], current: string): string =>
  sections
    .map(([folder, title]) => `<p class="docs-section">${title}</p>${listOf(pages, folder, current)}`)
    .join('');

function indexOf(pages: readonly DocsPage[]): string {
  const references = [
    ['/docs/rest-api', 'REST API reference'],
    ['/openapi.json', 'REST API: OpenAPI document'],
    ['/api/v1/openapi.json', 'Control API: OpenAPI document'],
  ].map(([href, text]) => `<li><a href="${href}">${text}</a></li>`);
  const lists = sections.map(([folder, title]) => `<h2>${title}</h2>${listOf(pages, folder, '')}`);
  return `<h1>Documentation</h1>${lists.join('')}<h2>API references</h2><ul>${references.join('')}</ul>`;
}

export const docsPages = (): Plugin => ({
  name: 'docs-pages',
  apply: 'build',
  writeBundle: {
    order: 'post',
    sequential: true,
    handler({ dir = 'dist' }) {
      const layout = readFileSync(join(dir, 'docs.html'), 'utf8');
      rmSync(join(dir, 'docs.html'));
      const pages = readPages();
      const write = (file: string, title: string, path: string, content: string): void => {
        const values = { title: escapeHtml(title), nav: navigationOf(pages, path), content };
        const html = layout.replaceAll(
          /<!--(title|nav|content)-->/g,
          (_, name: keyof typeof values) => values[name],
        );
        mkdirSync(dirname(join(dir, file)), { recursive: true });
        writeFileSync(join(dir, file), html);
      };
      write('docs/index.html', 'Documentation', '', indexOf(pages));
      const rendered = pages.map((page) => ({ page, ...renderPage(page) }));
      for (const { page, html } of rendered) write(`docs/${page.path}.html`, page.title, page.path, html);
      const entries = rendered.flatMap((one) => one.entries);
      writeFileSync(join(dir, 'docs/search.json'), JSON.stringify(entries));
    },
  },
});
