import { MetricsText } from '../../base/text/metrics-text.ts';
import { joinMetrics } from './join-metrics.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** Time for a worker to return its metrics; the page omits it after that. */
const PAGE_TIMEOUT_MS = 2_000;

/** The page of metrics of a service of several workers. */
export class ClusterMetrics {
  readonly #processes: WorkerProcesses;
  readonly #workers: number;
  #missed = 0;

  constructor(processes: WorkerProcesses, workers: number) {
    this.#processes = processes;
    this.#workers = workers;
  }

  /** Metrics of the workers that respond in time, and of the primary. Never rejects. */
  async read(): Promise<string> {
    const { readyWorkers } = this.#processes;
    const pages = await this.#processes.requestAll('page', null, PAGE_TIMEOUT_MS);
    this.#missed += readyWorkers.length - pages.size;
    return joinMetrics(pages, this.#own(readyWorkers.length));
  }

  #own(ready: number): string {
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    const memory = process.memoryUsage.rss();
    const { restarts } = this.#processes;
    return new MetricsText()
      .single('solway_workers', 'gauge', 'Workers that there are to be.', this.#workers)
      .single('solway_workers_ready', 'gauge', 'Workers whose doors are open.', ready)
      .single(
        'solway_worker_restarts_total',
        'counter',
        'Workers that ended and were started again.',
        restarts,
      )
      .single(
        'solway_worker_pages_missed_total',
        'counter',
        'Pages of workers that came too late.',
        this.#missed,
      )
      .single('solway_primary_cpu_seconds_total', 'counter', 'Processor time of the primary.', cpu)
      .single('solway_primary_resident_memory_bytes', 'gauge', 'Memory of the primary.', memory)
      .toString();
  }
}
