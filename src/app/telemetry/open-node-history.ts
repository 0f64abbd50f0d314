import type { Logger } from '../../base/log.ts';
import type { Store } from '../../control/database/store.ts';
import { NodeHistory, type NodeHistoryOptions, type NodeSample } from '../../control/nodes/node-history.ts';
import { PeriodicTask } from '../../control/periodic-task.ts';
import { methods } from '../../protocol/methods.ts';
import type { UpstreamNode } from '../../upstream/node.ts';
import { versionOf } from '../../upstream/probe/probe-node.ts';
import { attempt } from '../../upstream/retry/attempt.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import { logStateChange } from '../log-state-change.ts';

const CHECK_INTERVAL_MS = 30_000;
const VERSION_INTERVAL_MS = 600_000;
const VERSION_TIMEOUT_MS = 3_000;

async function fetchVersion(node: UpstreamNode): Promise<string | null> {
  const { network } = node;
  const call = { network, method: 'getVersion', row: methods.getVersion, params: null } as const;
  const result = await attempt(node, call, VERSION_TIMEOUT_MS);
  node.recordOptionalPoll(result.outcome);
  return versionOf(result);
}

type HistoryPool = Pick<UpstreamPool, 'status' | 'networks' | 'nodesOf' | 'attemptsOf'>;

/** Reads the versions of nodes in service every ten minutes. */
function watchVersions(pool: HistoryPool) {
  const versions = new Map<string, Readonly<{ version: string | null; at: number }>>();
  const task = new PeriodicTask(async () => {
    const nodes = pool.networks().flatMap((network) => pool.nodesOf(network));
    const names = new Set(nodes.map(({ network, name }) => `${network}/${name}`));
    for (const name of versions.keys()) if (!names.has(name)) versions.delete(name);
    const now = performance.now();
    const isDue = ({ network, name }: UpstreamNode): boolean =>
      now - (versions.get(`${network}/${name}`)?.at ?? Number.NEGATIVE_INFINITY) >= VERSION_INTERVAL_MS;
    const read = async (node: UpstreamNode): Promise<void> => {
      const version = await fetchVersion(node);
      // A node that did not respond is tried again at the next check.
      const at = version === null ? Number.NEGATIVE_INFINITY : now;
      versions.set(`${node.network}/${node.name}`, { version, at });
    };
    await Promise.all(nodes.filter(isDue).map(read));
  }, CHECK_INTERVAL_MS);
  return { task, of: (network: string, name: string) => versions.get(`${network}/${name}`)?.version ?? null };
}

/** Records the history of the nodes as this process sees them. */
export function openNodeHistory(
  store: Store,
  gateway: string,
  pool: HistoryPool,
  options: NodeHistoryOptions,
  log: Logger,
) {
  const versions = watchVersions(pool);
  const sample = (): NodeSample[] =>
    pool.status().flatMap(({ network, name, state, reason, lagSlots }) => {
      const attempts = pool.attemptsOf(network, name);
      if (attempts === null) return [];
      const lag = lagSlots === null ? null : Number(lagSlots);
      return [{ network, name, state, reason, version: versions.of(network, name), attempts, lagSlots: lag }];
    });
  const failing = 'Failed to write the history of nodes';
  const onState = logStateChange(log, failing, 'Writing the history of nodes recovered');
  const history = new NodeHistory({ store, gateway, sample }, options, { onState });
  return {
    start(): void {
      void versions.task.run();
      versions.task.start();
      history.start();
    },
    async stop(): Promise<void> {
      await versions.task.stop();
      await history.stop();
    },
  };
}
