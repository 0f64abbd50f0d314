import { type Address, address } from '../../../ledger/address.ts';
import { jupiterDcaEvents, jupiterEvents, okxEvents } from './aggregator-events.ts';
import { eventDiscriminator } from './discriminator.ts';
import type { EventLayout } from './layout.ts';
import { dammV1Events, dammV2Events, dbcEvents, dlmmEvents } from './meteora-events.ts';
import { orcaEvents } from './orca-events.ts';
import { pumpAmmEvents, pumpEvents } from './pump-events.ts';
import { raydiumClmmEvents, raydiumCpmmEvents } from './raydium-events.ts';

/** Layouts of one program's events, by their discriminators in hex. */
export type EventTable = ReadonlyMap<string, EventLayout>;

const tableOf = (layouts: readonly EventLayout[]): EventTable =>
  new Map(layouts.map((layout) => [eventDiscriminator(layout.name), layout]));

/** Programs whose Anchor events are read, by the programs' addresses. Source of each: its own IDL or source code. */
export const eventTables: ReadonlyMap<Address, EventTable> = new Map([
  [address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'), tableOf(jupiterEvents)],
  [address('DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M'), tableOf(jupiterDcaEvents)],
  [address('6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma'), tableOf(okxEvents)],
  [address('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'), tableOf(raydiumClmmEvents)],
  [address('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'), tableOf(raydiumCpmmEvents)],
  [address('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'), tableOf(orcaEvents)],
  [address('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'), tableOf(dlmmEvents)],
  [address('Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'), tableOf(dammV1Events)],
  [address('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'), tableOf(dammV2Events)],
  [address('dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'), tableOf(dbcEvents)],
  [address('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'), tableOf(pumpEvents)],
  [address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'), tableOf(pumpAmmEvents)],
]);
