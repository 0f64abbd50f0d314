import { clusterMetrics } from '../../src/app/cluster/cluster-metrics.ts';
import type { WorkerProcesses } from '../../src/app/cluster/worker-processes.ts';
import { type MetricSources, openMetrics } from '../../src/app/telemetry/metrics.ts';

export type MetricFamily = Readonly<{ name: string; type: string; help: string }>;

const noConnections = { totalOf: () => ({ open: 0, queuedMessages: 0, queuedBytes: 0 }), lagged: 0 };
const noCounts = { ok: 0, failed: 0, messages: 0, bytesOut: 0 };

/** The metrics of a service without traffic or nodes. */
function emptyPage(): string {
  const metrics = openMetrics({
    counters: { products: {}, methods: [], keys: [], otherKeys: noCounts },
    connections: noConnections,
    nodes: () => [],
    isStoreUp: () => true,
    requestsInFlight: () => 0,
    connectionsRefused: () => ({}),
    ...{ waiting: {}, cacheOutcomes: {}, cacheUsage: {}, dropped: {} },
  } as unknown as MetricSources);
  const text = metrics.render();
  metrics.close();
  return text;
}

/** Metrics that the primary process adds if there are several workers. */
function clusterPage(): Promise<string> {
  const processes = { readyWorkers: [], restarts: 0, requestAll: async () => new Map() };
  return clusterMetrics(processes as unknown as WorkerProcesses, 0)();
}

/** All metrics that the service reports, in the order of the metrics page. */
export const metricFamilies: readonly MetricFamily[] = [
  ...`${emptyPage()}${await clusterPage()}`.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm),
].map(([, name = '', help = '', type = '']) => ({ name, type, help }));
