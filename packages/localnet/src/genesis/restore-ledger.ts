import type { Logger } from '../../../../src/base/log.ts';
import { sysvars } from '../../../../src/solana/programs.ts';
import { stakeHistoryLookup } from '../../../../src/solana/stake-activation.ts';
import { STAKE_HISTORY_MAX } from '../../../../src/solana/sysvars.ts';
import { epoch } from '../../../../src/solana/units.ts';
import { AccountsStore } from '../bank/accounts-store.ts';
import { FINALIZED_LAG } from '../bank/embedded-ledger.ts';
import type { LedgerState } from '../bank/ledger-state.ts';
import { STATUS_SLOTS_MAX, StatusCache } from '../bank/status-cache.ts';
import { stakeHistoryAccount } from '../bank/sysvar-accounts.ts';
import { type StakesView, stakeAccounts, stakeOfEpoch } from '../epoch-rewards/stake-accounts.ts';
import type { HistoryIndex } from '../history/history-index.ts';
import { RECENT_BLOCKS_MAX, RecentBlocks } from '../history/recent-blocks.ts';
import { decodeBlock, decodeChanges, decodeHeader, decodeRecord } from '../history/record-codec.ts';
import { CorruptLog, type RecordPosition, type SegmentLog } from '../history/segment-log.ts';
import type { SlotHeader, SlotRecord } from '../history/slot-record.ts';
import { readSnapshot, snapshotSlots } from '../history/snapshot-file.ts';
import type { Genesis } from '../node.ts';

/** Records added to the index per transaction. */
const INDEX_BATCH = 256;

type LedgerFiles = Readonly<{
  dir: string;
  log: SegmentLog;
  index: HistoryIndex;
  logger: Logger | null;
}>;

type Restored = Pick<LedgerState, 'store' | 'recentBlocks' | 'statuses' | 'frozen'>;

/**
 * Restores the newest complete snapshot, replays the log after it, and rebuilds the blockhash and status caches.
 * Records missing from the index are added.
 * @param wasCleanShutdown - whether shutdown was clean. If not, slots above the tip may have been lost after
 * they were reported, so the tip counts as finalized.
 * @throws CorruptLog if the log has a gap or ends before the snapshot.
 */
export function restoreLedger(files: LedgerFiles, wasCleanShutdown: boolean): Restored {
  const { store, slot: snapshotSlot } = loadSnapshot(files);
  const lamportsAt = new Map<number, bigint>([[snapshotSlot, store.capitalization]]);
  const tip = replay(files, snapshotSlot, (at, accounts) => {
    for (const [address, account] of accounts) store.write(address, at, account);
    lamportsAt.set(at, store.capitalization);
    lamportsAt.delete(at - FINALIZED_LAG - 1);
    store.prune(at - FINALIZED_LAG - 1);
  });
  files.index.truncateAfter(tip);
  files.log.resume(tip);
  const oldest = wasCleanShutdown ? Math.max(snapshotSlot, tip - FINALIZED_LAG) : tip;
  const headers = headersUpTo(files, tip);
  const frozen = headers
    .filter(({ slot }) => slot >= oldest)
    .map((header) => ({ header, accountLamports: lamportsAt.get(header.slot) ?? 0n }));
  const recentBlocks = new RecentBlocks();
  for (const header of headers) recentBlocks.push(header);
  return { store, recentBlocks, statuses: statusesUpTo(files, tip), frozen };
}

function loadSnapshot({ dir, logger }: LedgerFiles): { store: AccountsStore; slot: number } {
  for (const slot of snapshotSlots(dir)) {
    const store = new AccountsStore();
    try {
      readSnapshot(dir, slot, (address, account) => store.write(address, slot, account));
      return { store, slot };
    } catch (error) {
      logger?.warn({ err: error, slot }, 'failed to read a snapshot; trying an older one');
    }
  }
  throw new CorruptLog(`no complete snapshot in ${dir}: restore the directory or start with --reset`);
}

/** Replays the slots that snapshot or index lack. @returns the newest slot. */
function replay(
  { log, index }: LedgerFiles,
  snapshotSlot: number,
  apply: (slot: number, accounts: SlotRecord['accounts']) => void,
): number {
  const indexed = index.newestSlot;
  const from = Math.min(snapshotSlot, indexed) + 1;
  const firstSegment = log.segments.findLast((segment) => segment <= from) ?? log.segments[0] ?? 0;
  let tip: number | null = null;
  let batch: [SlotRecord, RecordPosition][] = [];
  for (const segment of log.segments.filter((each) => each >= firstSegment)) {
    for (const [payload, position] of log.scan(segment)) {
      const slot = decodeHeader(payload).slot;
      if (tip !== null && slot !== tip + 1)
        throw new CorruptLog(`gap in the log: slot ${slot} follows ${tip}`);
      tip = slot;
      if (slot > snapshotSlot) apply(slot, decodeChanges(payload).accounts);
      if (slot > indexed) batch.push([decodeRecord(payload), position]);
      if (batch.length >= INDEX_BATCH) index.add(batch.splice(0));
    }
  }
  index.add(batch);
  batch = [];
  if (tip === null || tip < snapshotSlot)
    throw new CorruptLog(`log ends before snapshot slot ${snapshotSlot}`);
  return tip;
}

/** Headers of the last slots in the log, oldest first. */
function headersUpTo({ log, index }: LedgerFiles, tip: number): SlotHeader[] {
  const headers: SlotHeader[] = [];
  for (let at = Math.max(0, tip - RECENT_BLOCKS_MAX + 1); at <= tip; at++) {
    const position = index.position(at);
    if (position !== null) headers.push(decodeHeader(log.read(position)));
  }
  return headers;
}

function statusesUpTo({ log, index }: LedgerFiles, tip: number): StatusCache {
  const statuses = new StatusCache();
  for (let at = Math.max(0, tip - STATUS_SLOTS_MAX + 1); at <= tip; at++) {
    const position = index.position(at);
    if (position === null) continue;
    for (const { transaction, meta } of decodeBlock(log.read(position)).transactions) {
      statuses.add(transaction, at, meta.err);
    }
  }
  return statuses;
}

/**
 * Adds a stake history to a ledger that stored none, assuming that past epochs had the current stakes. The result
 * is the same on each start, until a snapshot stores the account.
 */
export function withStakeHistory(state: Restored, { epochSchedule }: Genesis): Restored {
  const { store, frozen } = state;
  const oldest = frozen[0];
  if (store.newest(sysvars.stakeHistory) !== null || oldest === undefined) return state;
  const at = oldest.header.slot;
  const view: StakesView = {
    account: (address) => store.at(address, at),
    accountsByOwner: (program) => store.find('owner', program, at),
  };
  const completedEpochs = Math.floor(at / Number(epochSchedule.slotsPerEpoch));
  const stakes = [...stakeAccounts(view)];
  const entries = Array.from({ length: Math.min(completedEpochs, STAKE_HISTORY_MAX) }, (_, index) =>
    stakeOfEpoch(stakes, epoch(completedEpochs - 1 - index), stakeHistoryLookup([])),
  );
  const account = stakeHistoryAccount(entries);
  store.write(sysvars.stakeHistory, at, account);
  const withHistory = frozen.map((each) => ({
    ...each,
    accountLamports: each.accountLamports + account.lamports,
  }));
  return { ...state, frozen: withHistory };
}
