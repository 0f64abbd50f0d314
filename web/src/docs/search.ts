import '../styles/tokens.css';
import '../styles/base.css';
import './docs.css';
import type { DocsEntry } from './entry.ts';
import { type DocsResult, findSections } from './find.ts';

const input = document.querySelector<HTMLInputElement>('#search');
const found = document.querySelector<HTMLElement>('#found');

let entries: Promise<readonly DocsEntry[]> | null = null;

async function load(): Promise<readonly DocsEntry[]> {
  const response = await fetch('/docs/search.json');
  return response.ok ? ((await response.json()) as readonly DocsEntry[]) : [];
}

function elementOf({ title, href, excerpt }: DocsResult): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = href;
  link.textContent = title;
  const text = document.createElement('p');
  text.textContent = excerpt;
  item.append(link, text);
  return item;
}

function show(list: HTMLElement, query: string, results: readonly DocsResult[]): void {
  list.hidden = query.trim() === '';
  const count = document.createElement('p');
  count.setAttribute('role', 'status');
  count.textContent = results.length === 0 ? 'No results' : `${results.length} results`;
  const items = document.createElement('ul');
  items.append(...results.map(elementOf));
  list.replaceChildren(count, items);
}

if (input !== null && found !== null) {
  input.addEventListener('input', async () => {
    entries ??= load().catch(() => []);
    const all = await entries;
    show(found, input.value, findSections(all, input.value));
  });
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') found.querySelector('a')?.click();
    if (key === 'Escape') found.hidden = true;
  });
}
