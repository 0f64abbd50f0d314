import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Size of the end of the log that is searched. */
const TAIL_BYTES = 64 * 1024;
/** Lines this long before and after are included. */
const BESIDE_MS = 3_000;
const LINES_MAX = 8;
const SHOWN_CHARS = 260;

/** The log of the gateway around a failure. */
export class GatewayLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** The last lines of a period. Times are those of `performance.now()`. */
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
