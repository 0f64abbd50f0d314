import type { SendShreds } from '../network/shred-sender.ts';

/** How an embedded ledger behaves. */
export type LedgerOptions = Readonly<{
  /** Unix time in milliseconds. Default the machine's. */
  now?: () => number;
  /** Cost units that one slot may hold. Default Agave's 60 million. */
  blockCostMax?: bigint;
  /** Transactions that may wait for room in a block. Default 10,000, as Agave's retry pool. */
  waitingMaxTransactions?: number;
  /** Takes shreds of what is going to run, before it does. Default: none are made. */
  sendShreds?: SendShreds;
  /** Milliseconds at the least from the leaving of shreds to the run of what is in them. Default 0. */
  shredLeadMs?: number;
}>;

export const WAITING_MAX_TRANSACTIONS = 10_000;
/** Transactions that may be between their arrival and their run, where they leave as shreds in between. */
export const INTAKE_MAX_TRANSACTIONS = 10_000;
