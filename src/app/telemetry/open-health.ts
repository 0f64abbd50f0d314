import { statfs } from 'node:fs/promises';
import {
  type HealthFacts,
  type HealthOptions,
  ProblemTracker,
} from '../../control/health/problem-tracker.ts';
import { PeriodicTask } from '../../control/periodic-task.ts';
import type { RequestCounters } from '../../gateway/telemetry/request-counters.ts';
import type { Network } from '../../protocol/call.ts';
import type { YellowstoneSource } from '../../upstream/geyser/yellowstone-source.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';

export type HealthSources = Readonly<{
  /** Folder whose disk is watched. */
  dataDir: string;
  /** Network of streams. */
  network: Network;
  isStoreUp: () => boolean;
  isClickHouseUp: () => boolean;
  hasRejectedRows: () => boolean;
  lostUsage: () => number;
  pool: Pick<UpstreamPool, 'status' | 'slotAt'>;
  yellowstone: Pick<YellowstoneSource, 'hasServers' | 'newest' | 'isDown'>;
  counters: Pick<RequestCounters, 'products'>;
  lostLogEntries: () => number;
}>;

/** Outcomes that the caller did not cause. */
const failures = ['gateway', 'capacity', 'upstream'] as const;

function requestTotals({ products }: HealthSources['counters']): ReturnType<HealthFacts['requests']> {
  let [total, failed] = [0, 0];
  for (const { requests } of Object.values(products)) {
    for (const count of Object.values(requests)) total += count;
    for (const status of failures) failed += requests[status];
  }
  return { total, failed };
}

const DISK_INTERVAL_MS = 2_000;

function watchDisk(folder: string) {
  let space: ReturnType<HealthFacts['disk']> = null;
  const task = new PeriodicTask(async () => {
    space = await statfs(folder).then(
      ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
      () => null,
    );
  }, DISK_INTERVAL_MS);
  return { space: () => space, task };
}

/** Tracks the problems of this process. @param options - read at each use, because a reload may change them. */
export function openHealth(options: HealthOptions, sources: HealthSources) {
  const { network, isStoreUp, isClickHouseUp, hasRejectedRows, pool, yellowstone, counters } = sources;
  const { lostUsage, lostLogEntries } = sources;
  const disk = watchDisk(sources.dataDir);
  const facts: HealthFacts = {
    nodes: () => pool.status(),
    requests: () => requestTotals(counters),
    stream() {
      if (!yellowstone.hasServers) return null;
      const head = pool.slotAt(network, 'processed')?.slot ?? null;
      const { newest, isDown } = yellowstone;
      return { lagSlots: head === null || newest === null ? null : Number(head - newest), isDown };
    },
    isStoreUp,
    isClickHouseUp,
    hasRejectedRows,
    losses: () => ({ usage: lostUsage(), log: lostLogEntries() }),
    disk: disk.space,
  };
  const tracker = new ProblemTracker(facts, options);
  return {
    problems: () => tracker.evaluate(),
    async start(): Promise<void> {
      await disk.task.run();
      disk.task.start();
    },
    stop: () => disk.task.stop(),
  };
}

export type Health = ReturnType<typeof openHealth>;
