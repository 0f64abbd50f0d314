import { availableParallelism } from 'node:os';
import type { Configuration } from '../../config/configuration.ts';
import { WORKERS_MAX } from '../../config/schema-server.ts';

/** How many processes answer. */
export const workerCount = ({ server: { workers } }: Configuration): number =>
  workers === 'auto' ? Math.min(WORKERS_MAX, availableParallelism()) : workers;
