import { type Profiler, Session } from 'node:inspector';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where the product's sources are, as scripts name them. */
const SOURCES = `${pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src')).href}/`;

/** A function that ran. */
export type RanFunction = Readonly<{
  /** Path below src/. */
  file: string;
  name: string;
  /** Tells it from others of its name in the file. */
  start: number;
  /** The parts of its text that did not run, from first to before last, in order. */
  idle: readonly Stretch[];
}>;

type Stretch = readonly [from: number, to: number];

/** What of src/ runs in this thread, as V8 counts it: what runs before this exists is not seen. */
export class Coverage {
  readonly #session = new Session();

  /** @param isDetailed - tells of parts of functions, too. */
  constructor(isDetailed = true) {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: isDetailed });
  }

  /** The functions that ran since this was asked last. */
  take(): RanFunction[] {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // A session of the own thread answers at once.
    this.#session.post('Profiler.takePreciseCoverage', (error, reported) => {
      if (error !== null) throw error;
      scripts = reported.result;
    });
    return scripts.filter(({ url }) => url.startsWith(SOURCES)).flatMap(ranIn);
  }
}

function ranIn({ url, functions }: Profiler.ScriptCoverage): RanFunction[] {
  const file = decodeURIComponent(url.slice(SOURCES.length));
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

/** What two lists of stretches have in common. */
function common(some: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  return some.flatMap(([from, to]) =>
    others
      .map(([start, end]): Stretch => [Math.max(from, start), Math.min(to, end)])
      .filter(([start, end]) => start < end),
  );
}

const lengthOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, [from, to]) => sum + to - from, 0);

/** Everything that ever ran: what an input reaches is new when some text of src/ ran that never did before. */
export class Reached {
  readonly #idle = new Map<string, readonly Stretch[]>();

  /** Functions that ran. */
  get functions(): number {
    return this.#idle.size;
  }

  /** Whether any of it is new. */
  isNew(ran: readonly RanFunction[]): boolean {
    return ran.some((one) => this.#left(one) !== null);
  }

  /** Remembers it. @returns whether any of it was new. */
  add(ran: readonly RanFunction[]): boolean {
    let isNew = false;
    for (const one of ran) {
      const left = this.#left(one);
      if (left === null) continue;
      this.#idle.set(keyOf(one), left);
      isNew = true;
    }
    return isNew;
  }

  /** What has still never run of a function; null when that is as much as before. */
  #left(one: RanFunction): readonly Stretch[] | null {
    const before = this.#idle.get(keyOf(one));
    if (before === undefined) return one.idle;
    if (before.length === 0) return null;
    const left = common(before, one.idle);
    return lengthOf(left) < lengthOf(before) ? left : null;
  }
}

const keyOf = ({ file, start }: RanFunction): string => `${file}:${start}`;
