import type { Address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import { jupiterDcaEvents, jupiterEvents, okxEvents } from './aggregator-events.ts';
import { type EventLayout, eventDiscriminator } from './layout.ts';
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
  [appPrograms.jupiterV6, tableOf(jupiterEvents)],
  [appPrograms.jupiterDca, tableOf(jupiterDcaEvents)],
  [appPrograms.okxRouter, tableOf(okxEvents)],
  [appPrograms.raydiumClmm, tableOf(raydiumClmmEvents)],
  [appPrograms.raydiumCpmm, tableOf(raydiumCpmmEvents)],
  [appPrograms.whirlpools, tableOf(orcaEvents)],
  [appPrograms.meteoraDlmm, tableOf(dlmmEvents)],
  [appPrograms.meteoraDammV1, tableOf(dammV1Events)],
  [appPrograms.meteoraDammV2, tableOf(dammV2Events)],
  [appPrograms.meteoraDbc, tableOf(dbcEvents)],
  [appPrograms.pumpFun, tableOf(pumpEvents)],
  [appPrograms.pumpAmm, tableOf(pumpAmmEvents)],
]);
