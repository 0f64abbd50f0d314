import type { Logger } from '../base/log.ts';
import type { Account } from '../ledger/account/account.ts';
import type { Address } from '../ledger/address.ts';
import { AccountsStore } from './accounts-store.ts';
import { EmbeddedLedger, type Frozen } from './embedded-ledger.ts';
import { makeGenesis, newGenesisKeys } from './genesis.ts';
import { MemoryBlocks } from './memory-blocks.ts';
import type { Bank, LocalNode } from './node.ts';
import { RecentBlocks } from './recent-blocks.ts';
import { startSlotTicker } from './slot-ticker.ts';
import { StatusCache } from './status-cache.ts';

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
  /** Genesis. Default 432,000. */
  slotsPerEpoch?: number;
  /** Genesis: what the faucet holds. Default 1,000,000. */
  faucetSol?: bigint;
  /** Genesis: accounts to put in. */
  accounts?: readonly (readonly [Address, Account])[];
  /** Genesis: programs to put in, as ELF bytes by address. */
  programs?: readonly (readonly [Address, Uint8Array])[];
  /** Slots freeze only when `freeze` is called; for tests. Default false. */
  manual?: boolean;
  /** Unix time in milliseconds. Default the machine's. */
  now?: () => number;
  log?: Logger;
}>;

/** An open ledger. */
export interface OpenLocalNode extends LocalNode {
  /** Calls back after each slot that freezes. @returns what ends that. */
  onFrozen(listener: (frozen: Frozen) => void): () => void;
  /** Freezes the open slot by hand. */
  freeze(): Bank;
  /** Freezes nothing more, makes everything durable, lets go of the directory. */
  stop(): Promise<void>;
}

/**
 * Opens the ledger in a directory, making one where there is none.
 * @throws Error when the directory cannot be used; the message says why.
 */
export async function openLocalNode(options: LocalNodeOptions): Promise<OpenLocalNode> {
  const now = options.now ?? Date.now;
  const keys = newGenesisKeys();
  const content = makeGenesis(keys, genesisOptions(options), Math.floor(now() / 1000));
  const { header, genesis, genesisStake } = content;
  const store = new AccountsStore();
  for (const [address, account] of content.accounts) store.write(address, 0, account);
  const recentBlocks = new RecentBlocks();
  recentBlocks.push({ slot: 0, blockhash: header.blockhash, time: header.blockTime });
  const blocks = new MemoryBlocks();
  blocks.append({ header, transactions: [], accounts: new Map() });
  const ledger = new EmbeddedLedger({
    genesis,
    genesisStake,
    faucet: keys.faucet,
    store,
    recentBlocks,
    statuses: new StatusCache(),
    frozen: [{ header, accountLamports: store.capitalization }],
    blocks,
  });
  const stopTicking = options.manual
    ? () => {}
    : startSlotTicker(options.slotMs ?? 400, () => ledger.freeze());
  return Object.assign(ledger, {
    stop: async (): Promise<void> => stopTicking(),
  });
}

function genesisOptions(options: LocalNodeOptions): Parameters<typeof makeGenesis>[1] {
  return {
    slotsPerEpoch: options.slotsPerEpoch ?? 432_000,
    ticksPerSlot: options.ticksPerSlot ?? 64,
    slotMs: options.slotMs ?? 400,
    faucetSol: options.faucetSol ?? 1_000_000n,
    accounts: options.accounts ?? [],
    programs: options.programs ?? [],
  };
}
