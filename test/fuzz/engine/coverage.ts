import { type Profiler, Session } from 'node:inspector';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = pathToFileURL(join(import.meta.dirname, '..', '..', '..')).href;

/** Source folders as script URLs, with their names in reports. */
const SOURCES = [
  [`${root}/src/`, ''],
  [`${root}/packages/localnet/src/`, 'localnet/'],
] as const;

export type RanFunction = Readonly<{
  /** Path below src/; `localnet/` is packages/localnet/src. */
  file: string;
  name: string;
  /** Distinguishes functions of the same name. */
  start: number;
  /** Ranges of its text that did not run, in order; ends are exclusive. */
  idle: readonly Stretch[];
}>;

type Stretch = readonly [from: number, to: number];

export class Coverage {
  readonly #session = new Session();

  /** @param isDetailed - reports parts of functions too. */
  constructor(isDetailed = true) {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: isDetailed });
  }

  take(): RanFunction[] {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // A session of the same thread calls back synchronously.
    this.#session.post('Profiler.takePreciseCoverage', (error, reported) => {
      if (error !== null) throw error;
      scripts = reported.result;
    });
    return scripts.flatMap(ranIn);
  }
}

function ranIn({ url, functions }: Profiler.ScriptCoverage): RanFunction[] {
  const folder = SOURCES.find(([prefix]) => url.startsWith(prefix));
  if (folder === undefined) return [];
  const file = folder[1] + decodeURIComponent(url.slice(folder[0].length));
  return functions
    .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    .map(({ functionName, ranges }) => ({
      file,
      name: functionName,
      start: ranges[0]?.startOffset ?? 0,
      idle: ranges
        .filter(({ count }) => count === 0)
        .map(({ startOffset, endOffset }): Stretch => [startOffset, endOffset])
        .sort(([a], [b]) => a - b),
    }));
}

function common(some: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  return some.flatMap(([from, to]) =>
    others
      .map(([start, end]): Stretch => [Math.max(from, start), Math.min(to, end)])
      .filter(([start, end]) => start < end),
  );
}

const lengthOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, [from, to]) => sum + to - from, 0);

/** All code that has run so far. An input has new coverage when it runs other code. */
export class Reached {
  readonly #idle = new Map<string, readonly Stretch[]>();

  get functions(): number {
    return this.#idle.size;
  }

  /** Whether any code is new. @param charsMin - characters of new code; a new function always counts. */
  isNew(ran: readonly RanFunction[], charsMin = 1): boolean {
    let chars = 0;
    return ran.some((one) => {
      const before = this.#idle.get(keyOf(one));
      if (before === undefined) return true;
      chars += lengthOf(before) - lengthOf(common(before, one.idle));
      return chars >= charsMin;
    });
  }

  add(ran: readonly RanFunction[]): void {
    for (const one of ran) {
      const before = this.#idle.get(keyOf(one));
      this.#idle.set(keyOf(one), before === undefined ? one.idle : common(before, one.idle));
    }
  }
}

const keyOf = ({ file, start }: RanFunction): string => `${file}:${start}`;
