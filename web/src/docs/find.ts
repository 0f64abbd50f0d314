import type { DocsEntry } from './entry.ts';

const WORDS_MAX = 8;
const RESULTS_MAX = 12;
const EXCERPT_CHARS = 120;

export type DocsResult = Readonly<{ title: string; href: string; excerpt: string }>;

/** Points for a word in a title, a heading or the text of a section. */
const TITLE_POINTS = 4;
const HEADING_POINTS = 6;

function scoreOf({ page, heading, text }: DocsEntry, words: readonly string[]): number {
  const [title, head, body] = [page, heading, text].map((part) => part.toLowerCase()) as [
    string,
    string,
    string,
  ];
  let score = 0;
  for (const word of words) {
    const points =
      (head.includes(word) ? HEADING_POINTS : 0) +
      (title.includes(word) ? TITLE_POINTS : 0) +
      (body.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    score += points;
  }
  return score;
}

function excerptOf({ text }: DocsEntry, word: string): string {
  const at = text.toLowerCase().indexOf(word) - EXCERPT_CHARS / 3;
  const start = at <= 0 ? 0 : text.indexOf(' ', at) + 1;
  if (text.length <= start + EXCERPT_CHARS) return text.slice(start);
  const end = text.lastIndexOf(' ', start + EXCERPT_CHARS);
  return `${text.slice(start, end > start ? end : start + EXCERPT_CHARS)}…`;
}

/** Sections that contain every word of the query, best first. */
export function findSections(entries: readonly DocsEntry[], query: string): readonly DocsResult[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
  const [first] = words;
  if (first === undefined) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => ({
      title: entry.heading === '' ? entry.page : `${entry.page}: ${entry.heading}`,
      href: entry.href,
      excerpt: excerptOf(entry, first),
    }));
}
