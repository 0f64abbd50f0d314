import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { blockhashBytes, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import type { BlockReward } from '../../../../src/solana/transaction/transaction-meta.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { SlotHeader, SlotRecord } from '../history/slot-record.ts';
import { type BankSources, OpenSlot } from './bank.ts';
import { SlotEntries } from './slot-entries.ts';
import type { AccountWriter } from './slot-trace.ts';
import type { RecordedTransaction } from './token-balances.ts';

/** Mutable state of the open slot. */
export class OpenSlotState {
  readonly view: OpenSlot;
  readonly header: Pick<SlotHeader, 'slot' | 'blockTime' | 'epochStartTime'>;
  readonly entries: SlotEntries;
  readonly transactions: RecordedTransaction[] = [];
  /** Accounts written so far; null if the balance is 0. */
  readonly accounts = new Map<Address, Account | null>();
  /** Same keys and order as `accounts`. */
  readonly writers = new Map<Address, AccountWriter>();
  /** Rewards so far. */
  readonly rewards: BlockReward[] = [];
  /** Only in the first slot of an epoch. */
  numRewardPartitions: bigint | undefined = undefined;
  cost = 0n;
  /** Fees paid to the leader when the slot is frozen. */
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

  /** @param transaction - index of the transaction that wrote the account; null for other writes. */
  write(address: Address, account: Account | null, transaction: number | null): AccountWriter {
    const writer = { transaction, sequence: this.#writes++ };
    this.#sources.store.write(address, this.header.slot, account);
    this.accounts.set(address, account);
    this.writers.set(address, writer);
    return writer;
  }

  /**
   * Adds the leader's fee reward. Source: agave runtime/src/bank/fee_distribution.rs.
   * @returns the leader's new account; null if there are no fees.
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

  /** @param last - hash of the last entry, which is the blockhash. */
  toRecord(last: Uint8Array): SlotRecord {
    const { header, transactions, accounts, rewards, numRewardPartitions, writers } = this;
    const transactionCount = this.#tip.transactionCount + BigInt(transactions.length);
    const hashes = { blockhash: blockhashFromBytes(last), previousBlockhash: this.#tip.blockhash };
    const trace = { rejected: this.entries.rejected, writers };
    const complete = { ...header, ...hashes, transactionCount };
    return { header: complete, transactions, rewards, numRewardPartitions, accounts, trace };
  }
}
