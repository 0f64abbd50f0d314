import { isFitHost } from '../request-head.ts';
import type { FastHead } from './fast-head.ts';
import { LastText } from './last-text.ts';

/** Whether the fields Host of heads are fit; most are the same, and looked at once. */
export class FitHosts {
  readonly #last = new LastText();
  #fit: string | null = null;

  isFit({ host }: FastHead, bytes: Buffer): boolean {
    const text = this.#last.of(bytes, host.start, host.end);
    if (text === this.#fit) return true;
    if (!isFitHost(text)) return false;
    this.#fit = text;
    return true;
  }
}
