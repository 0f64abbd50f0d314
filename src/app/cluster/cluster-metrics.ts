import { MetricsText } from '../../base/text/metrics-text.ts';
import { joinMetrics } from './join-metrics.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** Maximum time for a worker to return its metrics. After that, the combined metrics omit the worker. */
const PAGE_TIMEOUT_MS = 2_000;

export class ClusterMetrics {
  readonly #processes: WorkerProcesses;
  readonly #workers: number;
  #missed = 0;

  constructor(processes: WorkerProcesses, workers: number) {
    this.#processes = processes;
    this.#workers = workers;
  }

  /** Returns the metrics of the primary and of all workers that respond in time. Never rejects. */
  async read(): Promise<string> {
    const { readyWorkers } = this.#processes;
    const pages = await this.#processes.requestAll('workerMetrics', null, PAGE_TIMEOUT_MS);
    this.#missed += readyWorkers.length - pages.size;
    return joinMetrics(pages, this.#own(readyWorkers.length));
  }

  #own(ready: number): string {
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    const memory = process.memoryUsage.rss();
    const { restarts } = this.#processes;
    const missedHelp = 'Metrics pages that workers did not return in time.';
    const memoryHelp = 'Resident memory of the primary process.';
    return new MetricsText()
      .single('solway_workers', 'gauge', 'Configured number of workers.', this.#workers)
      .single('solway_workers_ready', 'gauge', 'Workers that accept connections.', ready)
      .single('solway_worker_restarts_total', 'counter', 'Workers that ended and were restarted.', restarts)
      .single('solway_worker_pages_missed_total', 'counter', missedHelp, this.#missed)
      .single('solway_primary_cpu_seconds_total', 'counter', 'CPU time of the primary process.', cpu)
      .single('solway_primary_resident_memory_bytes', 'gauge', memoryHelp, memory)
      .toString();
  }
}
