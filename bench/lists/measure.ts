import { readdirSync, readFileSync } from 'node:fs';
import { cpuMsOf } from '../../test/service/cpu-time.ts';
import type { ListCall } from './list-calls.ts';

/** Milliseconds of the calls of a list. */
export type MeasuredList = Readonly<{
  name: string;
  p50: number;
  p95: number;
  max: number;
  /** CPU time per call of the service and its databases. */
  cpu: number;
  /** Items of the page; null: not a page. */
  items: number | null;
}>;

/** Field 4 of /proc/pid/stat, after the program name in parentheses. Source: proc(5). */
function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

const ignoringEnded = <Result>(read: () => Result, otherwise: Result): Result => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

/** CPU time in ms of all descendants of this process: the service and the databases. */
function cpuMsOfDescendants(): number {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = new Map(pids.map((pid) => [pid, ignoringEnded(() => parentOf(pid), 0)]));
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === process.pid || (parent > 1 && isDescendant(parent));
  };
  return pids.filter(isDescendant).reduce((sum, pid) => sum + ignoringEnded(() => cpuMsOf(pid), 0), 0);
}

type Page = Readonly<{ items?: readonly unknown[]; next?: string | null }>;

export class ListClient {
  readonly #url: string;

  /** @param url - of the service. */
  constructor(url: string) {
    this.#url = url;
  }

  async get<Result>({ path, token }: Pick<ListCall, 'path' | 'token'>): Promise<Result> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${this.#url}/api/v1${path}`, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path} got ${response.status} ${text}`);
    return JSON.parse(text) as Result;
  }

  /** The same call with a cursor: the page after many long pages, or the last of them. */
  async deepCall(call: ListCall): Promise<ListCall> {
    const longPages = { ...call, path: call.path.replace(/limit=\d+/, 'limit=1000') };
    let cursor: string | null = null;
    for (let page = 0; page < DEEP_PAGES; page++) {
      const { next }: Page = await this.get<Page>(withCursor(longPages, cursor));
      if (next == null) break;
      cursor = next;
    }
    return withCursor(call, cursor);
  }

  async measure(call: ListCall, calls: number): Promise<MeasuredList> {
    const measured = call.isDeep ? await this.deepCall(call) : call;
    // The first call may read from disk.
    const { items } = await this.get<Page>(measured);
    const times: number[] = [];
    const cpuBefore = cpuMsOfDescendants();
    for (let nth = 0; nth < calls; nth++) {
      const startedAt = performance.now();
      await this.get(measured);
      times.push(performance.now() - startedAt);
    }
    const cpu = (cpuMsOfDescendants() - cpuBefore) / calls;
    times.sort((a, b) => a - b);
    const at = (share: number): number => tenths(times[Math.ceil(times.length * share) - 1] ?? 0);
    return {
      ...{ name: call.name, p50: at(0.5), p95: at(0.95), max: at(1), cpu: tenths(cpu) },
      items: items?.length ?? null,
    };
  }
}

const DEEP_PAGES = 15;

const withCursor = (call: ListCall, cursor: string | null): ListCall =>
  cursor === null ? call : { ...call, path: `${call.path}&cursor=${cursor}` };

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
