import type { Logger } from '../../base/log.ts';
import type { ReloadFollowers } from '../reload.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** Has all workers check and take a configuration; one that is being started gets the newest with its place. */
export const workerFollowers = (processes: WorkerProcesses, log: Logger): ReloadFollowers => ({
  async check({ configuration, restart }) {
    const responses = await processes.requestAll('check', { configuration, restart: [...restart] });
    return [...responses.values()].find(({ problems }) => problems.length > 0)?.problems ?? [];
  },
  async apply(configuration) {
    const applied = await processes.requestAll('apply', { configuration });
    for (const worker of processes.readyWorkers) {
      if (applied.has(worker)) continue;
      log.error({ worker }, 'a worker did not take the configuration; it is started again');
      processes.renew(worker);
    }
  },
});
