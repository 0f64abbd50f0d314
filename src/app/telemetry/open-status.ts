import type { Configuration } from '../../config/configuration.ts';
import type { Store } from '../../control/database/store.ts';
import type { GatewayProblem } from '../../control/health/problem.ts';
import { StatusReader } from '../../control/health/service-status.ts';
import type { Network } from '../../protocol/call.ts';

/** Starts the public status; null if it is off. */
export function openStatus(
  { server, networks }: Configuration,
  { store }: Readonly<{ store: Store }>,
  { pool }: Readonly<{ pool: Readonly<{ networks: () => readonly Network[] }> }>,
  { problems }: Readonly<{ problems: () => readonly GatewayProblem[] }>,
): StatusReader | null {
  if (!server.statusPage) return null;
  const status = new StatusReader({
    ...{ store, ownProblems: problems, streamNetwork: networks.default },
    networks: () => pool.networks(),
  });
  status.start();
  return status;
}
