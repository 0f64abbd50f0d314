import { existsSync } from 'node:fs';
import type { Logger } from '../../../../src/base/log.ts';
import { makeFolder } from '../../../../src/base/make-folder.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { Lamports, Slot } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { EmbeddedLedger, type FrozenSlot } from '../bank/embedded-ledger.ts';
import type { LedgerClock } from '../bank/ledger-clock.ts';
import type { FollowFrom } from '../bank/ledger-events.ts';
import { LedgerUpkeep } from '../bank/ledger-upkeep.ts';
import { startSlotTicker } from '../bank/slot-ticker.ts';
import { defaultUpkeepLimits, type UpkeepLimits } from '../bank/upkeep-limits.ts';
import { AccountFork } from '../fork/account-fork.ts';
import { ForkIndex } from '../fork/fork-index.ts';
import type { RemoteAccounts } from '../fork/remote-accounts.ts';
import { DiskBlocks } from '../history/disk-blocks.ts';
import { HistoryIndex } from '../history/history-index.ts';
import { encodeRecord } from '../history/record-codec.ts';
import { SegmentLog } from '../history/segment-log.ts';
import { snapshotSlots, writeSnapshot } from '../history/snapshot-file.ts';
import type { SendShreds } from '../network/shred-sender.ts';
import type { Bank, Genesis, LocalNode } from '../node.ts';
import { SLOTS_PER_EPOCH_MAX } from './epoch-length.ts';
import { type GenesisOptions, makeGenesis, newGenesisKeys } from './genesis.ts';
import {
  forkPath,
  hasLedger,
  indexPath,
  logDir,
  readGenesis,
  readKey,
  removeLedger,
  writeGenesis,
  writeKeys,
} from './ledger-dir.ts';
import { type LedgerLock, lockLedger } from './ledger-lock.ts';
import { restoreLedger, withStakeHistory } from './restore-ledger.ts';

/**
 * Creates keys, a genesis snapshot, a log with slot 0 and, last, genesis.json. Files left by an earlier attempt
 * are deleted.
 * @param creationTime - Unix seconds.
 */
async function createLedger(dir: string, options: GenesisOptions, creationTime: number): Promise<void> {
  removeLedger(dir);
  const keys = newGenesisKeys();
  const { genesis, accounts, header } = makeGenesis(keys, options, creationTime);
  writeKeys(dir, keys);
  await writeSnapshot(dir, 0, accounts);
  const log = new SegmentLog(logDir(dir), (error) => {
    throw error;
  });
  log.rotate(0);
  log.append(0, encodeRecord({ header, transactions: [], rewards: [], accounts: new Map(), trace: null }));
  await log.close();
  writeGenesis(dir, genesis);
}

/** Options marked *genesis* are ignored for an existing ledger. */
export type LocalNodeOptions = Readonly<{
  /** Created if missing. */
  ledgerDir: string;
  /** Deletes an existing ledger. Default false. */
  reset?: boolean;
  /** Slot length in milliseconds. Default 400. */
  slotMs?: number;
  /** Genesis: ticks per slot. Default 64. */
  ticksPerSlot?: number;
  /** Genesis: slots per epoch. Default 432,000; from 1 to `SLOTS_PER_EPOCH_MAX`. */
  slotsPerEpoch?: number;
  /** Genesis: faucet balance. Default 1,000,000. */
  faucetSol?: bigint;
  /** Genesis: additional accounts. */
  accounts?: readonly (readonly [Address, Account])[];
  /** Genesis: reads further accounts, which replace those of `accounts`. Called for a new ledger only. */
  clone?: () => Promise<GenesisOptions['accounts']>;
  /** Genesis: programs as ELF bytes by address, with upgrade authority. They replace accounts. */
  programs?: GenesisOptions['programs'];
  /** Cluster whose accounts the ledger reads when they are first needed. Default: none. */
  fork?: Pick<RemoteAccounts, 'read'> | null;
  /** Slots are frozen only by calls of `freeze`; for tests. Default false. */
  manual?: boolean;
  /** Unix milliseconds. Default the system clock. */
  now?: () => number;
  /** Cost units per slot. Default Agave's 60 million. */
  blockCostMax?: bigint;
  /** Transactions waiting for block capacity. Default 10,000, as in Agave's retry pool. */
  waitingMaxTransactions?: number;
  /** Sends shreds before their transactions are executed. Default: no shreds. */
  sendShreds?: SendShreds;
  /** Minimum milliseconds between sending a transaction's shreds and executing it. Default 0. */
  shredLeadMs?: number;
  limits?: Partial<UpkeepLimits>;
  /** Called when the ledger halts, for instance after a disk error. */
  onFailure?: (error: Error) => void;
  log?: Logger;
}>;

export interface OpenLocalNode extends LocalNode {
  /** Highest slot that survives a machine crash. */
  readonly durableSlot: Slot;
  /** Signs an airdrop without sending it. */
  signAirdrop(to: Address, amount: Lamports, recentBlockhash: Blockhash): Transaction;
  /** @returns a function that removes the listener. */
  onFrozen(listener: (frozen: FrozenSlot) => void): () => void;
  /** See `EmbeddedLedger.follow`. */
  follow(listener: (event: LedgerEvent) => void, from?: FollowFrom): () => void;
  /**
   * Freezes the open slot.
   * @throws Error if the disk fails; then the slot is not frozen.
   */
  freeze(): Bank;
  /** While it is paused, slots are frozen only by calls of `freeze`. */
  readonly clock: LedgerClock;
  /** These four see and change the open slot. See `EmbeddedLedger`. */
  executePending(): void;
  newestAccount(address: Address): Account | null;
  newestAccounts(): Iterable<readonly [Address, Account]>;
  writeAccounts(changes: Iterable<readonly [Address, Account | null]>): void;
  /** null if the ledger is not a fork. */
  readonly fork: AccountFork | null;
  /** Stops producing slots, flushes everything to disk and releases the directory. */
  stop(): Promise<void>;
}

/** Maximum frozen slots that are not synced to disk; at this limit the ledger pauses. */
const UNDURABLE_SLOTS_MAX = 256;

/**
 * Opens or creates a ledger.
 * @throws LedgerInUseError if another process holds the lock; RangeError for an invalid epoch length; Error if
 * the ledger is corrupt, with how to recover.
 */
export async function openLocalNode(options: LocalNodeOptions): Promise<OpenLocalNode> {
  checkEpochLength(options.slotsPerEpoch);
  makeFolder(options.ledgerDir);
  const lock = lockLedger(options.ledgerDir);
  try {
    return await openLocked(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function checkEpochLength(slots = 1): void {
  if (Number.isInteger(slots) && slots >= 1 && slots <= SLOTS_PER_EPOCH_MAX) return;
  throw new RangeError(`slots per epoch must be from 1 to ${SLOTS_PER_EPOCH_MAX}, not ${slots}`);
}

async function openLocked(options: LocalNodeOptions, lock: LedgerLock): Promise<OpenLocalNode> {
  const { ledgerDir: dir } = options;
  const logger = options.log ?? null;
  if (options.reset || !hasLedger(dir)) {
    // First, so that a failure leaves an existing ledger as it is.
    const cloned = (await options.clone?.()) ?? [];
    const creationTime = Math.floor((options.now ?? Date.now)() / 1000);
    await createLedger(dir, genesisOptions(options, cloned), creationTime);
  } else {
    const ignoredOptions = ignoredGenesisOptions(
      options,
      readGenesis(dir, options.slotMs ?? DEFAULT_SLOT_MS),
    );
    if (ignoredOptions.length > 0) {
      logger?.warn(
        { dir, ignoredOptions },
        'ledger exists; ignoring genesis options (use --reset to create a new one)',
      );
    }
  }
  const fail = haltHandler(options);
  const log = new SegmentLog(logDir(dir), fail);
  const index = new HistoryIndex(indexPath(dir));
  try {
    const ledger = openLedger(options, lock, log, index);
    return start(options, { lock, log, index, ledger, logger, fail });
  } catch (error) {
    index.close();
    await log.close();
    throw error;
  }
}

function openLedger(
  options: LocalNodeOptions,
  lock: LedgerLock,
  log: SegmentLog,
  index: HistoryIndex,
): EmbeddedLedger {
  const { ledgerDir: dir } = options;
  const genesis = readGenesis(dir, options.slotMs ?? DEFAULT_SLOT_MS);
  const files = { dir, log, index, logger: options.log ?? null };
  const state = withStakeHistory(restoreLedger(files, lock.wasCleanShutdown), genesis);
  const blocks = new DiskBlocks(log, index);
  const faucet = readKey(dir, 'faucet');
  const voter = { identity: readKey(dir, 'identity'), vote: readKey(dir, 'vote') };
  const snapshotSlot = (): number | null => snapshotSlots(dir)[0] ?? null;
  return new EmbeddedLedger({ ...state, genesis, faucet, voter, blocks, snapshotSlot }, options);
}

type LedgerResources = Readonly<{
  lock: LedgerLock;
  log: SegmentLog;
  index: HistoryIndex;
  ledger: EmbeddedLedger;
  logger: Logger | null;
  fail: (error: Error) => void;
}>;

/** Returns a handler of write errors, which reports only the first one: the ledger halts with it. */
function haltHandler({ ledgerDir, log, onFailure }: LocalNodeOptions): (error: Error) => void {
  let hasFailed = false;
  return (error) => {
    if (hasFailed) return;
    hasFailed = true;
    log?.error(
      { err: error, dir: ledgerDir },
      `ledger halted: failed to write ${ledgerDir} (${error.message}). Finalized data is safe; free disk space and restart`,
    );
    onFailure?.(error);
  };
}

function start(
  options: LocalNodeOptions,
  { lock, log, index, ledger, logger, fail }: LedgerResources,
): OpenLocalNode {
  const limits = { ...defaultUpkeepLimits, ...options.limits };
  const upkeep = new LedgerUpkeep({
    dir: options.ledgerDir,
    store: ledger.store,
    log,
    index,
    limits,
    logger,
  });
  ledger.onFrozen(({ bank }) => upkeep.afterFreeze(Number(bank.slot), () => ledger.finalizedSlot));
  const fork = openFork(options, ledger);
  const stopTicking = options.manual ? () => {} : startTicking(options, ledger, fail);
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopTicking();
    ledger.executePending();
    await upkeep.stop();
    await log.close();
    index.close();
    fork?.index.close();
    lock.release();
  };
  return Object.assign(ledger, { fork: fork?.accounts ?? null, stop: () => (stopping ??= stop()) });
}

/** The index is brought in line with the log even if the ledger is no longer a fork. */
function openFork({ ledgerDir, fork: remote = null }: LocalNodeOptions, ledger: EmbeddedLedger) {
  const path = forkPath(ledgerDir);
  if (remote === null && !existsSync(path)) return null;
  const index = new ForkIndex(path);
  index.truncateAfter(ledger.openSlot - 1);
  for (const address of index.addedAfter(ledger.oldestSlot)) ledger.store.backdate(address);
  if (remote !== null) return { index, accounts: new AccountFork(ledger, remote, index) };
  index.close();
  return null;
}

function startTicking(
  options: LocalNodeOptions,
  ledger: EmbeddedLedger,
  fail: LedgerResources['fail'],
): () => void {
  const endSlot = (): void => {
    try {
      ledger.endSlot();
    } catch (error) {
      stop();
      fail(error as Error);
    }
  };
  const stop = startSlotTicker(options.slotMs ?? DEFAULT_SLOT_MS, () => {
    if (ledger.clock.isPaused) return;
    if (ledger.bank('processed').slot - ledger.durableSlot > BigInt(UNDURABLE_SLOTS_MAX)) return;
    ledger.afterPendingExecuted(endSlot);
  });
  return stop;
}

const DEFAULT_SLOT_MS = 400;

/** Genesis options that the existing ledger overrides. The faucet balance is not stored, so it is not compared. */
function ignoredGenesisOptions(options: LocalNodeOptions, genesis: Genesis): string[] {
  const { slotsPerEpoch, ticksPerSlot, accounts = [], programs = [] } = options;
  const { epochSchedule } = genesis;
  return [
    ...(slotsPerEpoch !== undefined && BigInt(slotsPerEpoch) !== epochSchedule.slotsPerEpoch
      ? ['slotsPerEpoch']
      : []),
    ...(ticksPerSlot !== undefined && ticksPerSlot !== genesis.ticksPerSlot ? ['ticksPerSlot'] : []),
    ...(accounts.length > 0 ? ['accounts'] : []),
    ...(programs.length > 0 ? ['programs'] : []),
    ...(options.clone !== undefined ? ['clone'] : []),
  ];
}

const genesisOptions = (options: LocalNodeOptions, cloned: GenesisOptions['accounts']): GenesisOptions => ({
  slotsPerEpoch: options.slotsPerEpoch ?? 432_000,
  ticksPerSlot: options.ticksPerSlot ?? 64,
  slotMs: options.slotMs ?? DEFAULT_SLOT_MS,
  faucetSol: options.faucetSol ?? 1_000_000n,
  accounts: [...(options.accounts ?? []), ...cloned],
  programs: options.programs ?? [],
});
