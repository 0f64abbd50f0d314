import type { Logger } from '../../base/log.ts';
import { makeFolder } from '../../base/make-folder.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import type { Lamports, Slot } from '../../solana/units.ts';
import type { LedgerEvent } from '../../streams/ledger-event.ts';
import { EmbeddedLedger, type Frozen } from '../bank/embedded-ledger.ts';
import type { FollowFrom } from '../bank/ledger-events.ts';
import { defaultUpkeepLimits, LedgerUpkeep, type UpkeepLimits } from '../bank/ledger-upkeep.ts';
import { startSlotTicker } from '../bank/slot-ticker.ts';
import { DiskBlocks } from '../history/disk-blocks.ts';
import { HistoryIndex } from '../history/history-index.ts';
import { SegmentLog } from '../history/segment-log.ts';
import { snapshotSlots } from '../history/snapshot-file.ts';
import type { SendShreds } from '../network/shred-sender.ts';
import type { Bank, Genesis, LocalNode } from '../node.ts';
import { createLedger } from './create-ledger.ts';
import { SLOTS_PER_EPOCH_MAX } from './epoch-length.ts';
import type { GenesisOptions } from './genesis.ts';
import { hasLedger, indexPath, logDir, readGenesis, readKey } from './ledger-dir.ts';
import { type LedgerLock, lockLedger } from './ledger-lock.ts';
import { restoreLedger } from './restore-ledger.ts';
import { withStakeHistory } from './restored-stake-history.ts';

/** How to open an embedded ledger. Those marked *genesis* have no effect on a ledger that exists. */
export type LocalNodeOptions = Readonly<{
  /** Directory of the ledger; made when absent. */
  ledgerDir: string;
  /** Throw away what the directory holds of an earlier ledger. Default false. */
  reset?: boolean;
  /** Length of a slot. Default 400. */
  slotMs?: number;
  /** Genesis. Default 64. */
  ticksPerSlot?: number;
  /** Genesis. Default 432,000; from 1 to `SLOTS_PER_EPOCH_MAX`. */
  slotsPerEpoch?: number;
  /** Genesis: what the faucet holds. Default 1,000,000. */
  faucetSol?: bigint;
  /** Genesis: accounts to put in. */
  accounts?: readonly (readonly [Address, Account])[];
  /** Genesis: programs to put in, as ELF bytes by address, and who may upgrade them. */
  programs?: GenesisOptions['programs'];
  /** Slots freeze only when `freeze` is called; for tests. Default false. */
  manual?: boolean;
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
  /** Size of log segments and length of history. */
  limits?: Partial<UpkeepLimits>;
  /**
   * The ledger can go on no longer (the disk refused a write); no more slots freeze. Default: nothing beyond
   * the log line.
   */
  onFailure?: (error: Error) => void;
  log?: Logger;
}>;

/** An open ledger. */
export interface OpenLocalNode extends LocalNode {
  /** Highest slot that a crash of the machine cannot take back. */
  readonly durableSlot: Slot;
  /** A transfer from the faucet, signed but not sent. */
  signAirdrop(to: Address, amount: Lamports, recentBlockhash: Blockhash): Transaction;
  /** Calls back after each slot that freezes. @returns what ends that. */
  onFrozen(listener: (frozen: Frozen) => void): () => void;
  /**
   * Tells first of the slots that are not rooted yet, then of all that happens, in order. A listener that throws
   * halts the ledger.
   * @param from - `root` to be told of the newest rooted slot as well, a number for so many. Default `above root`.
   * @returns what ends that.
   */
  follow(listener: (event: LedgerEvent) => void, from?: FollowFrom): () => void;
  /**
   * Freezes the open slot by hand.
   * @throws Error when the disk refuses it; nothing is frozen then.
   */
  freeze(): Bank;
  /** Freezes nothing more, makes everything durable, lets go of the directory. */
  stop(): Promise<void>;
}

/** Slots that may wait for the disk; beyond that no slot freezes until it caught up. */
const UNDURABLE_SLOTS_MAX = 256;

/**
 * Opens the ledger in a directory, making one where there is none.
 * @throws LedgerInUseError when another process has it; RangeError when the options ask for an epoch that is too
 *   long; Error when the ledger is damaged. The message says what to do.
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
  throw new RangeError(`slots per epoch: ${slots} is not from 1 to ${SLOTS_PER_EPOCH_MAX}`);
}

async function openLocked(options: LocalNodeOptions, lock: LedgerLock): Promise<OpenLocalNode> {
  const { ledgerDir: dir } = options;
  const logger = options.log ?? null;
  if (options.reset || !hasLedger(dir)) {
    await createLedger(dir, genesisOptions(options), Math.floor((options.now ?? Date.now)() / 1000));
  } else {
    const overruled = overruledOptions(options, readGenesis(dir, options.slotMs ?? DEFAULT_SLOT_MS));
    if (overruled.length > 0) {
      logger?.warn(
        { dir, overruled },
        'the ledger exists: what its genesis says holds (--reset makes a new one)',
      );
    }
  }
  const fail = failing(options);
  const log = new SegmentLog(logDir(dir), fail);
  const index = new HistoryIndex(indexPath(dir));
  try {
    const ledger = restored(options, lock, log, index);
    return running(options, { lock, log, index, ledger, logger, fail });
  } catch (error) {
    index.close();
    await log.close();
    throw error;
  }
}

function restored(
  options: LocalNodeOptions,
  lock: LedgerLock,
  log: SegmentLog,
  index: HistoryIndex,
): EmbeddedLedger {
  const { ledgerDir: dir } = options;
  const genesis = readGenesis(dir, options.slotMs ?? DEFAULT_SLOT_MS);
  const files = { dir, log, index, logger: options.log ?? null };
  const state = withStakeHistory(restoreLedger(files, lock.isIntact), genesis);
  const blocks = new DiskBlocks(log, index);
  const faucet = readKey(dir, 'faucet');
  const voter = { identity: readKey(dir, 'identity'), vote: readKey(dir, 'vote') };
  const snapshotSlot = (): number | null => snapshotSlots(dir)[0] ?? null;
  return new EmbeddedLedger({ ...state, genesis, faucet, voter, blocks, snapshotSlot }, options);
}

type Parts = Readonly<{
  lock: LedgerLock;
  log: SegmentLog;
  index: HistoryIndex;
  ledger: EmbeddedLedger;
  logger: Logger | null;
  fail: (error: Error) => void;
}>;

/** What is done, once, when the ledger can go on no longer. */
function failing({ ledgerDir, log, onFailure }: LocalNodeOptions): (error: Error) => void {
  let hasFailed = false;
  return (error) => {
    if (hasFailed) return;
    hasFailed = true;
    log?.error(
      { err: error, dir: ledgerDir },
      `the ledger stops: ${ledgerDir} cannot be written (${error.message}). What was finalized is there; make room and start again`,
    );
    onFailure?.(error);
  };
}

function running(
  options: LocalNodeOptions,
  { lock, log, index, ledger, logger, fail }: Parts,
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
  const stopTicking = options.manual ? () => {} : startTicking(options, ledger, fail);
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopTicking();
    ledger.drain();
    await upkeep.stop();
    await log.close();
    index.close();
    lock.release();
  };
  return Object.assign(ledger, { stop: () => (stopping ??= stop()) });
}

function startTicking(options: LocalNodeOptions, ledger: EmbeddedLedger, fail: Parts['fail']): () => void {
  const endSlot = (): void => {
    try {
      ledger.endSlot();
    } catch (error) {
      stop();
      fail(error as Error);
    }
  };
  const stop = startSlotTicker(options.slotMs ?? DEFAULT_SLOT_MS, () => {
    if (ledger.bank('processed').slot - ledger.durableSlot > BigInt(UNDURABLE_SLOTS_MAX)) return;
    ledger.whenRun(endSlot);
  });
  return stop;
}

const DEFAULT_SLOT_MS = 400;

/** Options that ask for another genesis than the ledger has. What the faucet began with is not known any more. */
function overruledOptions(options: LocalNodeOptions, genesis: Genesis): string[] {
  const { slotsPerEpoch, ticksPerSlot, accounts = [], programs = [] } = options;
  const { epochSchedule } = genesis;
  return [
    ...(slotsPerEpoch !== undefined && BigInt(slotsPerEpoch) !== epochSchedule.slotsPerEpoch
      ? ['slotsPerEpoch']
      : []),
    ...(ticksPerSlot !== undefined && ticksPerSlot !== genesis.ticksPerSlot ? ['ticksPerSlot'] : []),
    ...(accounts.length > 0 ? ['accounts'] : []),
    ...(programs.length > 0 ? ['programs'] : []),
  ];
}

const genesisOptions = (options: LocalNodeOptions): GenesisOptions => ({
  slotsPerEpoch: options.slotsPerEpoch ?? 432_000,
  ticksPerSlot: options.ticksPerSlot ?? 64,
  slotMs: options.slotMs ?? DEFAULT_SLOT_MS,
  faucetSol: options.faucetSol ?? 1_000_000n,
  accounts: options.accounts ?? [],
  programs: options.programs ?? [],
});
