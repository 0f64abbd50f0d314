import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** How much of the end of the log is looked at. */
const TAIL_BYTES = 64 * 1024;
/** Lines from so long before and after are of interest too. */
const BESIDE_MS = 3_000;
const LINES_MAX = 8;
const SHOWN_CHARS = 260;

/** The log of the gateway, for what it said around a fault. */
export class GatewayLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** The last lines of a time, which is that of `performance.now()`. */
  between(from: number, to: number): string[] {
    const [first, last] = [from - BESIDE_MS, to + BESIDE_MS].map((at) =>
      new Date(performance.timeOrigin + at).toISOString(),
    ) as [string, string];
    const isThen = (line: string): boolean => {
      const [, at = ''] = /"time":"([^"]+)"/.exec(line) ?? [];
      return at >= first && at <= last;
    };
    return this.#tail()
      .split('\n')
      .filter(isThen)
      .slice(-LINES_MAX)
      .map((line) => line.slice(0, SHOWN_CHARS));
  }

  #tail(): string {
    const file = openSync(this.#file, 'r');
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString();
    } finally {
      closeSync(file);
    }
  }
}
