import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import { AccountSnapshots } from './account-snapshots.ts';

export type AccountChange = readonly [Address, Account | null];

/** Blocks that one call may make. */
export const BLOCKS_MAX = 1_000_000n;
/** Blocks made between two turns of the event loop, so that the ledger keeps answering. */
const BLOCKS_PER_TURN = 16;
/** Blocks in memory because they are not yet on disk. */
const UNDURABLE_SLOTS_MAX = 128n;
/** Blocks that make a change visible at `processed` and `confirmed`. */
const SEALING_BLOCKS = 2;

/** What test methods may do with a ledger: everything else goes through transactions. */
export class LedgerControls {
  readonly node: OpenLocalNode;
  readonly snapshots: AccountSnapshots;

  constructor(node: OpenLocalNode) {
    this.node = node;
    this.snapshots = new AccountSnapshots(node);
    node.fork?.onImport((address, account) => this.snapshots.include(address, account));
  }

  /** On a fork, reads accounts of the cluster that the ledger does not have. */
  async ensure(addresses: readonly Address[]): Promise<void> {
    await this.node.fork?.ensure(addresses);
  }

  /** Writes accounts, outside of transactions, and makes two blocks, so that reads at `confirmed` see the change. */
  async change(changes: Iterable<AccountChange>): Promise<void> {
    this.node.writeAccounts(changes);
    await this.#makeBlocks(SEALING_BLOCKS, 0);
  }

  /** Makes blocks, each a slot later in time. */
  async step(blocks: number): Promise<void> {
    await this.#makeBlocks(blocks, this.node.genesis.slotMs);
  }

  /** Moves the clock forward, from the slot after the open one on, without skipping slots. */
  async advanceClock(ms: number): Promise<void> {
    this.node.clock.advance(ms);
    await this.#makeBlocks(1 + SEALING_BLOCKS, 0);
  }

  async #makeBlocks(count: number, msEach: number): Promise<void> {
    const { node } = this;
    for (let made = 0; made < count; made++) {
      if (made % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await nextTurn();
      while (node.bank('processed').slot - node.durableSlot >= UNDURABLE_SLOTS_MAX) await nextTurn();
      node.clock.advance(msEach);
      node.freeze();
    }
  }
}
