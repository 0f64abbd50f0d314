import type { Logger } from '../../base/log.ts';
import type { TraceLink } from '../../protocol/request-trace.ts';
import { exportRequest, type OtlpSpan, spansOf } from './otlp-spans.ts';
import type { RequestEntry, SpanSink } from './request-log.ts';

/** How spans are sent. */
export type OtlpOptions = Readonly<{
  flushIntervalMs: number;
  /** Spans of one request to the collector. */
  batchMax: number;
  /** Spans that wait; beyond it new ones are dropped. */
  queueMax: number;
  timeoutMs: number;
}>;

/** What holds when nothing else is said. */
export const otlpOptions: OtlpOptions = {
  flushIntervalMs: 1_000,
  batchMax: 512,
  queueMax: 4_096,
  timeoutMs: 5_000,
};

export type OtlpParts = Readonly<{
  /** The collector; `/v1/traces` is added where it has no path. */
  url: string;
  /** Sent with every request; may hold secrets. */
  headers: Readonly<Record<string, string>>;
  /** What the spans come from, as attributes. */
  resource: Readonly<Record<string, string>>;
  log: Logger;
}>;

/** The address for spans below that of a collector. Source: OTLP/HTTP, "OTLP/HTTP Request". */
export function tracesUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === '/') parsed.pathname = '/v1/traces';
  return parsed.href;
}

/** Sends spans to a collector over OTLP/HTTP in JSON. A collector that is away costs spans, never a request. */
export class OtlpExporter implements SpanSink {
  readonly #parts: OtlpParts;
  readonly #url: string;
  readonly #options: OtlpOptions;
  #waiting: OtlpSpan[] = [];
  #dropped = 0;
  #isFailing = false;
  #flushing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: OtlpParts, options: Partial<OtlpOptions> = {}) {
    this.#parts = parts;
    this.#url = tracesUrl(parts.url);
    this.#options = { ...otlpOptions, ...options };
  }

  /** Spans that were given up: the collector was away, or too slow. */
  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#options.flushIntervalMs).unref();
  }

  add(entry: RequestEntry, link: TraceLink): void {
    const spans = spansOf(entry, link);
    if (this.#waiting.length + spans.length > this.#options.queueMax) this.#dropped += spans.length;
    else this.#waiting.push(...spans);
  }

  /** Sends what waits. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** Stops the timer and sends once more. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#flushing;
    await this.flush();
  }

  async #flush(): Promise<void> {
    const spans = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < spans.length; from += this.#options.batchMax) {
      const batch = spans.slice(from, from + this.#options.batchMax);
      const isAccepted = await this.#send(batch);
      if (isAccepted) continue;
      // What waits longer than a turn is of little use: it makes room for what is new.
      this.#dropped += spans.length - from;
      break;
    }
  }

  async #send(batch: readonly OtlpSpan[]): Promise<boolean> {
    const { headers, resource } = this.#parts;
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(exportRequest(batch, resource)),
        redirect: 'error',
        signal: AbortSignal.timeout(this.#options.timeoutMs),
      });
      await response.body?.cancel();
      this.#reportState(response.ok ? null : `status ${response.status}`);
      return response.ok;
    } catch {
      // The cause may show the address, which may hold a secret.
      this.#reportState('it cannot be reached, or does not answer in time');
      return false;
    }
  }

  #reportState(problem: string | null): void {
    const isFailing = problem !== null;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing) this.#parts.log.warn({ problem }, 'the collector of traces takes none; they are dropped');
    else this.#parts.log.info('the collector of traces takes them again');
  }
}
