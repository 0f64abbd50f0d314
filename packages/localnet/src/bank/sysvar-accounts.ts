import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { sysvarOwner, sysvars } from '../../../../src/solana/programs.ts';
import {
  CLOCK_BYTES,
  DEFAULT_RENT,
  EPOCH_SCHEDULE_BYTES,
  encodeClock,
  encodeEpochSchedule,
  encodeRecentBlockhashes,
  encodeSlotHashes,
  encodeSlotHistory,
  encodeStakeHistory,
  fullSlotHistory,
  minimumBalance,
  RECENT_BLOCKHASHES_BYTES,
  RECENT_BLOCKHASHES_MAX,
  SLOT_HASHES_BYTES,
  SLOT_HASHES_MAX,
  SLOT_HISTORY_BYTES,
  STAKE_HISTORY_BYTES,
  type StakeHistoryEntry,
} from '../../../../src/solana/sysvars.ts';
import { LAMPORTS_PER_SIGNATURE } from '../../../../src/solana/transaction/compute-budget.ts';
import { type Lamports, slot } from '../../../../src/solana/units.ts';
import type { RecentBlocks } from '../history/recent-blocks.ts';
import type { Clock, EpochSchedule } from '../node.ts';

/** Position of a state in the chain, from which sysvars are derived. */
type SysvarPosition = Readonly<{
  clock: Clock;
  epochSchedule: EpochSchedule;
  /** Newest block with a hash: the slot itself if frozen, else its parent. */
  lastBlockSlot: number;
  recentBlocks: RecentBlocks;
}>;

/** Source: solana-rent, `Rent::default`. */
export const rentExemptMinimum = (bytes: number): Lamports => minimumBalance(DEFAULT_RENT, bytes);

type Synthesis = Readonly<{ bytes: number; encode: (position: SysvarPosition) => Uint8Array }>;

const syntheses: Readonly<Partial<Record<Address, Synthesis>>> = {
  [sysvars.clock]: { bytes: CLOCK_BYTES, encode: ({ clock }) => encodeClock(clock) },
  [sysvars.epochSchedule]: {
    bytes: EPOCH_SCHEDULE_BYTES,
    encode: ({ epochSchedule }) => encodeEpochSchedule(epochSchedule),
  },
  [sysvars.recentBlockhashes]: { bytes: RECENT_BLOCKHASHES_BYTES, encode: recentBlockhashes },
  [sysvars.slotHashes]: { bytes: SLOT_HASHES_BYTES, encode: slotHashes },
  [sysvars.slotHistory]: {
    bytes: SLOT_HISTORY_BYTES,
    // Every slot has a block.
    encode: ({ lastBlockSlot }) => encodeSlotHistory(fullSlotHistory(BigInt(lastBlockSlot))),
  },
};

/** Sysvars that change in every slot. */
const slotSysvars: readonly Address[] = [
  sysvars.clock,
  sysvars.recentBlockhashes,
  sysvars.slotHashes,
  sysvars.slotHistory,
];

/** Addresses of the sysvars that are derived from the position and not stored. */
export const synthesizedSysvars: ReadonlySet<Address> = new Set(Object.keys(syntheses) as Address[]);

export const synthesizedLamports: bigint = Object.values(syntheses).reduce(
  (sum, synthesis) => sum + rentExemptMinimum(synthesis?.bytes ?? 0),
  0n,
);

/** Synthesized sysvars of one state, built on first use. */
export class SysvarAccounts {
  readonly #position: SysvarPosition;
  readonly #made = new Map<Address, Account>();

  constructor(position: SysvarPosition) {
    this.#position = position;
  }

  /** null for other addresses. */
  account(address: Address): Account | null {
    const synthesis = syntheses[address];
    if (synthesis === undefined) return null;
    const made = this.#made.get(address);
    if (made !== undefined) return made;
    const account = {
      lamports: rentExemptMinimum(synthesis.bytes),
      data: synthesis.encode(this.#position),
      owner: sysvarOwner,
      executable: false,
      rentEpoch: 0n,
    };
    this.#made.set(address, account);
    return account;
  }

  /** Sysvars changed by this slot. Their data (up to 128 KiB) is built when read. */
  *changed(): IterableIterator<readonly [Address, Account]> {
    for (const address of slotSysvars) {
      const dataOf = (): Uint8Array => this.account(address)?.data ?? new Uint8Array();
      yield [
        address,
        {
          lamports: rentExemptMinimum(syntheses[address]?.bytes ?? 0),
          get data() {
            return dataOf();
          },
          owner: sysvarOwner,
          executable: false,
          rentEpoch: 0n,
        },
      ];
    }
  }
}

function recentBlockhashes({ recentBlocks, lastBlockSlot }: SysvarPosition): Uint8Array {
  const blocks = recentBlocks.downFrom(lastBlockSlot, RECENT_BLOCKHASHES_MAX);
  return encodeRecentBlockhashes(
    blocks.map(({ hash }) => ({ blockhash: hash, lamportsPerSignature: LAMPORTS_PER_SIGNATURE })),
  );
}

/** Ancestors, without the slot itself. Blockhashes replace bank hashes. */
function slotHashes({ recentBlocks, clock }: SysvarPosition): Uint8Array {
  const blocks = recentBlocks.downFrom(Number(clock.slot) - 1, SLOT_HASHES_MAX);
  return encodeSlotHashes(blocks.map((block) => ({ slot: slot(block.slot), hash: block.hash })));
}

/** @param entries - newest first. */
export const stakeHistoryAccount = (entries: readonly StakeHistoryEntry[]): Account => ({
  lamports: rentExemptMinimum(STAKE_HISTORY_BYTES),
  data: encodeStakeHistory(entries),
  owner: sysvarOwner,
  executable: false,
  rentEpoch: 0n,
});
