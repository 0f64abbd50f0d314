import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { DeshredHub } from '../../streams/deshred/deshred-hub.ts';
import { DeshredClient, EntriesClient } from '../../upstream/shreds/shred-clients.ts';
import type { ShredLimits } from '../../upstream/shreds/shreds-config.ts';
import { geyserVersion } from '../upstreams/geyser-version.ts';
import type { Shreds } from '../upstreams/shreds.ts';
import type { RelayAddress } from './shred-relay.ts';

/** Effectively disables stall detection, because an idle stage sends nothing. gRPC pings detect a lost primary. */
const STALL_MAX_MS = 86_400_000;

/** Receives the output of the primary's shred stage, which has already verified and deduplicated the shreds. */
export function openRelayedShreds(
  { url, token }: RelayAddress,
  { shreds }: Pick<Configuration, 'shreds'>,
  log: Logger,
): Shreds {
  const hub = new DeshredHub({ version: geyserVersion() });
  const limits: ShredLimits = { ...shreds, stallMs: STALL_MAX_MS };
  const server = { name: 'primary', url, headers: { 'x-token': token } };
  const parts = { server, limits, log };
  let accepted = 0;
  const transactions = new DeshredClient({
    ...parts,
    listener: {
      onTransaction(transaction) {
        accepted++;
        hub.onTransaction(transaction);
      },
      onSlot: (slot) => hub.onSlot(slot),
    },
  });
  const entries = new EntriesClient({ ...parts, listener: { onBatch: (batch) => hub.onBatch(batch) } });
  transactions.start();
  entries.start();
  const stage = {
    get accepted() {
      return accepted;
    },
    onUpdate: () => {},
  };
  const stop = async (): Promise<void> => {
    transactions.close();
    entries.close();
  };
  return { hub, stage, standardFilters: null, udp: null, setDispatcher: () => {}, stop };
}
