import { MetricsText } from '../../base/text/metrics-text.ts';
import { joinMetrics } from './join-metrics.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** Maximum time for a worker to return its metrics. After that, the combined metrics omit the worker. */
const PAGE_TIMEOUT_MS = 2_000;

/** Returns a function that reads the metrics of the primary and of all workers that respond in time. Never rejects. */
export function clusterMetrics(processes: WorkerProcesses, workers: number): () => Promise<string> {
  let missed = 0;
  return async () => {
    const ready = processes.readyWorkers.length;
    const pages = await processes.requestAll('workerMetrics', null, PAGE_TIMEOUT_MS);
    missed += ready - pages.size;
    const { restarts } = processes;
    return joinMetrics(pages, primaryMetrics({ workers, ready, restarts, missed }));
  };
}

type WorkerCounts = Readonly<Record<'workers' | 'ready' | 'restarts' | 'missed', number>>;

function primaryMetrics({ workers, ready, restarts, missed }: WorkerCounts): string {
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  const memory = process.memoryUsage.rss();
  const missedHelp = 'Metrics pages that workers did not return in time.';
  const memoryHelp = 'Resident memory of the primary process.';
  return new MetricsText()
    .single('solway_workers', 'gauge', 'Configured number of workers.', workers)
    .single('solway_workers_ready', 'gauge', 'Workers that accept connections.', ready)
    .single('solway_worker_restarts_total', 'counter', 'Workers that ended and were restarted.', restarts)
    .single('solway_worker_pages_missed_total', 'counter', missedHelp, missed)
    .single('solway_primary_cpu_seconds_total', 'counter', 'CPU time of the primary process.', cpu)
    .single('solway_primary_resident_memory_bytes', 'gauge', memoryHelp, memory)
    .toString();
}
