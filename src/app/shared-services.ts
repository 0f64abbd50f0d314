import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import { type LocalnetPorts, type Program, startLocalnet } from './localnet/localnet-process.ts';
import type { StopFunctions } from './process/stop-each.ts';
import { openShreds, type Shreds } from './upstreams/shreds.ts';

/** Shred stage and embedded ledger, which exist only once, even with several workers. */
export type SharedServices = Readonly<{
  shreds: Shreds | null;
  ledger: LocalnetPorts | null;
}>;

/** @throws ListenError, EmbeddedLedgerError */
export async function openSharedServices(
  configuration: Configuration,
  isDevelopment: boolean,
  program: Program,
  log: Logger,
  stops: StopFunctions,
): Promise<SharedServices> {
  const shreds = await openShreds(configuration, isDevelopment, log);
  if (shreds !== null) stops.push(shreds.stop);
  if (!isDevelopment) return { shreds, ledger: null };
  const ledger = await startLocalnet(configuration, program, shreds?.udp ?? null, log);
  stops.push(ledger.stop);
  return { shreds, ledger: ledger.ports };
}
