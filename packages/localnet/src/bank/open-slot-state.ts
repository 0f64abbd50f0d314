import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { blockhashBytes, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import type { BlockReward } from '../../../../src/solana/transaction/transaction-meta.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { SlotHeader, SlotRecord } from '../history/slot-record.ts';
import { type BankSources, OpenSlot } from './bank.ts';
import { SlotEntries } from './slot-entries.ts';
import type { AccountWriter } from './slot-trace.ts';
import type { OwnTransaction } from './token-balances.ts';

/** Slot while transactions run in it. */
export class OpenSlotState {
  readonly view: OpenSlot;
  readonly header: Pick<SlotHeader, 'slot' | 'blockTime' | 'epochStartTime'>;
  readonly entries: SlotEntries;
  readonly transactions: OwnTransaction[] = [];
  /** Accounts written so far; null when drained. */
  readonly accounts = new Map<Address, Account | null>();
  /** Same keys and order as `accounts`. */
  readonly writers = new Map<Address, AccountWriter>();
  /** Rewards so far. */
  readonly rewards: BlockReward[] = [];
  /** Only in the first slot of an epoch. */
  numRewardPartitions: bigint | undefined = undefined;
  cost = 0n;
  /** Paid to the leader when the slot freezes. */
  leaderFees = 0n;
  readonly #tip: SlotHeader;
  readonly #sources: BankSources;
  #writes = 0;

  /** @param tip - parent slot. */
  constructor(header: OpenSlotState['header'], tip: SlotHeader, sources: BankSources) {
    this.header = header;
    this.view = new OpenSlot(header, sources);
    this.entries = new SlotEntries(blockhashBytes(tip.blockhash));
    this.#tip = tip;
    this.#sources = sources;
  }

  /** @param transaction - index of the writer; null for the slot itself. */
  write(address: Address, account: Account | null, transaction: number | null): AccountWriter {
    const writer = { transaction, sequence: this.#writes++ };
    this.#sources.store.write(address, this.header.slot, account);
    this.accounts.set(address, account);
    this.writers.set(address, writer);
    return writer;
  }

  /**
   * Source: agave runtime/src/bank/fee_distribution.rs; without fees there is no reward.
   * @returns the leader's account, or null without payment.
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

  /** @param last - last entry hash, the blockhash. */
  sealed(last: Uint8Array): SlotRecord {
    const { header, transactions, accounts, rewards, numRewardPartitions, writers } = this;
    const transactionCount = this.#tip.transactionCount + BigInt(transactions.length);
    const hashes = { blockhash: blockhashFromBytes(last), previousBlockhash: this.#tip.blockhash };
    const trace = { refused: this.entries.refused, writers };
    const sealed = { ...header, ...hashes, transactionCount };
    return { header: sealed, transactions, rewards, numRewardPartitions, accounts, trace };
  }
}
