import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { BlockReward } from '../../solana/block.ts';
import { blockhashBytes, blockhashFromBytes } from '../../solana/blockhash.ts';
import { lamports } from '../../solana/units.ts';
import type { SlotHeader } from '../history/slot-header.ts';
import type { SlotRecord } from '../history/slot-record.ts';
import { type BankSources, OpenSlot } from './bank.ts';
import type { OwnTransaction } from './execution-meta.ts';
import { SlotEntries } from './slot-entries.ts';
import type { AccountWriter } from './slot-trace.ts';

/** A slot while transactions run in it. */
export class OpenSlotState {
  readonly view: OpenSlot;
  readonly header: Pick<SlotHeader, 'slot' | 'blockTime' | 'epochStartTime'>;
  readonly entries: SlotEntries;
  readonly transactions: OwnTransaction[] = [];
  /** Accounts as the slot left them so far; null where drained. */
  readonly accounts = new Map<Address, Account | null>();
  /** Of the same accounts in the same order. */
  readonly writers = new Map<Address, AccountWriter>();
  /** What the slot has paid so far. */
  readonly rewards: BlockReward[] = [];
  /** Only in the first slot of an epoch. */
  numRewardPartitions: bigint | undefined = undefined;
  cost = 0n;
  /** Fees that the leader earns when the slot freezes. */
  leaderFees = 0n;
  readonly #tip: SlotHeader;
  readonly #sources: BankSources;
  #writes = 0;

  /** @param tip - the slot below. */
  constructor(header: OpenSlotState['header'], tip: SlotHeader, sources: BankSources) {
    this.header = header;
    this.view = new OpenSlot(header, sources);
    this.entries = new SlotEntries(blockhashBytes(tip.blockhash));
    this.#tip = tip;
    this.#sources = sources;
  }

  /**
   * Writes an account.
   * @param transaction - index of the one that does; null for the slot itself.
   */
  write(address: Address, account: Account | null, transaction: number | null): AccountWriter {
    const writer = { transaction, sequence: this.#writes++ };
    this.#sources.store.write(address, this.header.slot, account);
    this.accounts.set(address, account);
    this.writers.set(address, writer);
    return writer;
  }

  /**
   * What the leader is paid. Source: agave runtime/src/bank/fee_distribution.rs; nothing earned is no reward.
   * @returns its account afterwards; null when nothing is paid.
   */
  payLeader(identity: Address): Account | null {
    const leader = this.#sources.store.newest(identity);
    const fees = this.leaderFees;
    if (fees === 0n || leader === null) return null;
    const postBalance = lamports(leader.lamports + fees);
    this.leaderFees = 0n;
    this.rewards.push({ pubkey: identity, lamports: fees, postBalance, rewardType: 'Fee', commission: null });
    return { ...leader, lamports: postBalance };
  }

  /**
   * The record of the slot, whose entries are all there.
   * @param last - the hash of the last of them, which names the slot.
   */
  sealed(last: Uint8Array): SlotRecord {
    const { header, transactions, accounts, rewards, numRewardPartitions, writers } = this;
    const transactionCount = this.#tip.transactionCount + BigInt(transactions.length);
    const hashes = { blockhash: blockhashFromBytes(last), previousBlockhash: this.#tip.blockhash };
    const trace = { refused: this.entries.refused, writers };
    const sealed = { ...header, ...hashes, transactionCount };
    return { header: sealed, transactions, rewards, numRewardPartitions, accounts, trace };
  }
}
