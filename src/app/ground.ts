import type { Logger } from '../base/log.ts';
import type { Configuration } from './configuration.ts';
import { openLedger, type Program } from './embedded-ledger.ts';
import type { LocalnetPorts } from './localnet-process.ts';
import { openShreds, type Shreds } from './shreds.ts';

/** What a service has one of, however many processes it is: the shred stage, and the embedded ledger. */
export type Ground = Readonly<{
  /** null where nothing tells of it. */
  shreds: Shreds | null;
  /** Where the embedded ledger answers; null where it is not wanted. */
  ledger: LocalnetPorts | null;
}>;

/**
 * Opens the shred stage, and starts the embedded ledger when it is wanted.
 * @param stops - gets what ends them.
 * @throws ListenError, EmbeddedLedgerError
 */
export async function openGround(
  configuration: Configuration,
  program: Program,
  log: Logger,
  stops: (() => Promise<unknown>)[],
): Promise<Ground> {
  const shreds = await openShreds(configuration, log);
  if (shreds !== null) stops.push(shreds.stop);
  const ledger = await openLedger(configuration, program, shreds?.udp ?? null, log);
  if (ledger !== null) stops.push(ledger.stop);
  return { shreds, ledger: ledger?.ports ?? null };
}
