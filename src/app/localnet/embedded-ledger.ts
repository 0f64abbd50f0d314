import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { ledgerFolder } from '../process/data-dir.ts';
import { type LocalnetPorts, LocalnetProcess } from './localnet-process.ts';

/** Command line that starts this program, without the subcommand. */
export type Program = readonly [string, ...string[]];

/** The embedded ledger, in a process of its own. */
export type EmbeddedLedger = Readonly<{ ports: LocalnetPorts; stop(): Promise<void> }>;

const READY_TIMEOUT_MS = 60_000;

function localnetProcess(
  { localnet, dataDir }: Configuration,
  program: Program,
  shredsTo: AddressInfo | null,
  log: Logger,
): LocalnetProcess {
  return new LocalnetProcess({
    program,
    ledgerDir: ledgerFolder(dataDir),
    rpcPort: localnet.rpcPort,
    slotMs: localnet.slotMs,
    slotsPerEpoch: localnet.slotsPerEpoch,
    faucetSol: localnet.faucetSol,
    historySlotsMax: localnet.historySlotsMax,
    shredsTo: shredsTo === null ? null : reachable(shredsTo),
    readyTimeoutMs: READY_TIMEOUT_MS,
    restartDelayMinMs: 100,
    restartDelayMaxMs: 5_000,
    healthyAfterMs: 60_000,
    stopTimeoutMs: 10_000,
    log,
  });
}

/** Address of a socket from this machine, as `host:port`. */
function reachable({ address, port, family }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Starts the embedded ledger.
 * @param shredsTo - destination of its shreds; null: none.
 * @throws EmbeddedLedgerError
 */
export async function openLedger(
  configuration: Configuration,
  program: Program,
  shredsTo: AddressInfo | null,
  log: Logger,
): Promise<EmbeddedLedger> {
  const ledger = localnetProcess(configuration, program, shredsTo, log);
  return { ports: await ledger.start(), stop: () => ledger.stop() };
}
