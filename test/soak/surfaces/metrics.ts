import { Agent, request } from 'undici';
import { type Family, readMetrics } from '../../observing/metrics-text.ts';
import type { Inside } from '../figures/process-watch.ts';
import { Refused, Tally } from '../figures/tally.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import type { ServiceGauges } from '../report/soak-result.ts';
import { Pace } from './pace.ts';
import type { Surface } from './surface.ts';

const MIB = 1024 * 1024;
const TIMEOUT_MS = 30_000;

type Families = ReadonlyMap<string, Family>;

function sampleOf(families: Families, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const samples = families.get(name)?.samples ?? [];
  const isRequested = (sample: Family['samples'][number]): boolean =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return samples.filter(isRequested).reduce((sum, { value }) => sum + value, 0);
}

/** GET /metrics, as scraped by Prometheus. */
export class MetricsSurface implements Surface {
  readonly #tally = new Tally('Metrics', 'answers', 'from sending a request to its response');
  readonly tallies = [this.#tally];
  /** Last metrics of the process. */
  inside: Inside | null = null;
  #families: Families = new Map();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #perSecond: number;
  readonly #agent = new Agent({ connections: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  constructor(url: string, token: string, perSecond: number) {
    this.#url = `${url}/metrics`;
    this.#headers = { authorization: `Bearer ${token}` };
    this.#perSecond = perSecond;
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> => this.#tally.measure(() => this.#request());
    return [new Pace({ name: this.#tally.name, perSecond: this.#perSecond, inFlightMax: 1, act })];
  }

  /** Last metrics of connections and queues. */
  gauges(second: number): ServiceGauges {
    const of = (name: string, kind: string): number => sampleOf(this.#families, name, { kind });
    return {
      second,
      websockets: of('solway_connections', 'websocket'),
      streams: of('solway_connections', 'grpc'),
      queuedBytes: sampleOf(this.#families, 'solway_queued_bytes'),
    };
  }

  async check(): Promise<readonly Outcome[]> {
    const of = (name: string): number => sampleOf(this.#families, name);
    const counts = {
      'connections were closed because of slow clients': of('solway_connections_lagged_total'),
      'connections were refused': of('solway_connections_refused_total'),
      'items were dropped because of limits': of('solway_dropped_total'),
    };
    const faults = Object.entries(counts).flatMap(([what, count]) =>
      count === 0 ? [] : [`${count} ${what}`],
    );
    return [
      outcomeOf(
        'The service closes, rejects and drops nothing',
        `${faults.length} of these counters increased`,
        faults,
      ),
    ];
  }

  close(): void {
    void this.#agent.destroy();
  }

  async #request(): Promise<void> {
    const answer = await request(this.#url, { headers: this.#headers, dispatcher: this.#agent });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Refused(`HTTP ${answer.statusCode}`);
    // Throws for invalid text.
    this.#families = readMetrics(text);
    const of = (name: string): number => sampleOf(this.#families, name);
    this.inside = {
      heapMib: of('solway_heap_used_bytes') / MIB,
      externalMib: of('solway_external_bytes') / MIB,
      loopDelayMs: of('solway_event_loop_delay_seconds') * 1_000,
    };
  }
}
