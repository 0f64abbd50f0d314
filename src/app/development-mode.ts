import type { Logger } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Store } from '../control/database/store.ts';
import { nextVersion, transact, writeAudit } from '../control/database/transaction.ts';
import { readNodeRows, wereNodesUsed } from '../control/nodes/added-nodes.ts';

export class NoNodesError extends OperatorError {
  override name = 'NoNodesError';
}

const ADD_A_NODE = 'add an [[upstream]] to the configuration file or run "solway upstream add"';

const NO_NODES = `no node is configured: ${ADD_A_NODE}`;

const DEV_REJECTED = '--dev is rejected because this database was used with nodes before';

const NODES_WERE_USED = `no node is configured, and ${DEV_REJECTED}: ${ADD_A_NODE}, or use another --data-dir`;

const DEVELOPMENT_MODE = 'development mode: calls go to an embedded ledger, not to a Solana network';

const DEV_IGNORED = 'development mode is ignored because nodes are configured';

/** Rejects a default network without nodes, because calls that name no network go to the default network. */
function checkDefaultNetwork(
  { upstreams, networks }: Configuration,
  storedNetworks: readonly string[],
): void {
  if (upstreams.length > 0 || storedNetworks.includes(networks.default)) return;
  const others = [...new Set(storedNetworks)];
  const remedy = `set networks.default = "${others[0]}" or SOLWAY_NETWORK=${others[0]}`;
  throw new NoNodesError(
    `networks.default is "${networks.default}", but the added nodes belong to ${others.join(', ')}: ${remedy}`,
  );
}

/** Records that nodes are used, which rules out --dev later: development data must not mix with real network data. */
async function recordNodeUse(store: Store): Promise<void> {
  if (await wereNodesUsed(store.db)) return;
  await transact(store, async (trx) => {
    const version = await nextVersion(trx);
    const entry = { at: Date.now(), actor: 'system:start', action: 'node.use', detail: {} };
    await writeAudit(trx, version, entry);
  });
}

type StartMode = Readonly<{ isDevelopment: boolean; note: string | null }>;

/** The embedded ledger starts only with --dev and a database that was never used with nodes. @throws NoNodesError */
export async function findStartMode(configuration: Configuration, store: Store): Promise<StartMode> {
  const { dev, upstreams } = configuration;
  const storedNetworks = (await readNodeRows(store.db)).map(({ network }) => network);
  if (upstreams.length > 0 || storedNetworks.length > 0) {
    checkDefaultNetwork(configuration, storedNetworks);
    return { isDevelopment: false, note: dev ? DEV_IGNORED : null };
  }
  const isUsed = await wereNodesUsed(store.db);
  if (dev && !isUsed) return { isDevelopment: true, note: DEVELOPMENT_MODE };
  if (dev) throw new NoNodesError(NODES_WERE_USED);
  throw new NoNodesError(isUsed ? NO_NODES : `${NO_NODES}, or start with --dev to use an embedded ledger`);
}

/** Decides the mode at startup. Outside development mode, records that nodes are used. @throws NoNodesError */
export async function decideDevelopmentMode(
  configuration: Configuration,
  store: Store,
  log: Logger,
): Promise<boolean> {
  const { isDevelopment, note } = await findStartMode(configuration, store);
  if (note !== null) log.warn(note);
  if (!isDevelopment) await recordNodeUse(store);
  return isDevelopment;
}
