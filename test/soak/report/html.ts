import { escapeHtml } from '../../../src/base/text/escape-html.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may be put into HTML; null is nothing. */
export type Part = Html | string | number | null | readonly Part[];

function textOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(part);
  return part.map(textOf).join('');
}

/**
 * HTML in which whatever is put in is escaped, unless it is HTML itself. Attributes must stand in quotes.
 * @example html`<p title="${title}">${words}</p>`
 */
export const html = (pieces: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(pieces.map((piece, at) => piece + textOf(parts[at] ?? null)).join(''));
