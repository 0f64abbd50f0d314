import { isValidHost } from '../http/request-head.ts';
import type { FastHead } from './fast-head.ts';
import { LastValueCache } from './last-value-cache.ts';

/** Whether the fields Host of heads are fit; most are the same, and looked at once. */
export class HostCheck {
  readonly #last = new LastValueCache();
  #lastValid: string | null = null;

  isValid({ host }: FastHead, bytes: Buffer): boolean {
    const text = this.#last.of(bytes, host.start, host.end);
    if (text === this.#lastValid) return true;
    if (!isValidHost(text)) return false;
    this.#lastValid = text;
    return true;
  }
}
