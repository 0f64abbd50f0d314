import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import type { RawAccount, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { isSimpleVote } from '../../src/solana/transaction/simple-vote.ts';
import { lamports, slot } from '../../src/solana/units.ts';
import { decodeConfirmedBlock } from './confirmed-block.ts';
import {
  ACCOUNT_DATA_BYTES,
  addressAt,
  isSpread,
  type Load,
  mainnetBlocks,
  ownerBytes,
  type SpreadLoad,
  WALLET_AT,
} from './messages.ts';

const createdAt = encodeTimestamp(1_790_000_000_000n);
const SLOT = slot(400_000_000);
/** Distinct updates, created in advance. */
const ACCOUNTS = 64;
/** Distinct updates for spread filters. */
const SPREAD = 10_000;

/** An account write. @param wallet - address in its data; null: none. */
export function accountWrite(
  address: Uint8Array,
  version: number,
  wallet: Uint8Array | null = null,
): RawAccount {
  const data = new Uint8Array(ACCOUNT_DATA_BYTES).fill(version);
  if (wallet !== null) data.set(wallet, WALLET_AT);
  return rawAccount({
    slot: SLOT,
    createdAt,
    isStartup: false,
    write: {
      address: addressFromBytes(address),
      account: {
        lamports: lamports(1_000_000 + version),
        data,
        owner: addressFromBytes(ownerBytes),
        executable: false,
        rentEpoch: 18_446_744_073_709_551_615n,
      },
      writeVersion: BigInt(version),
      signature: signatureFromBytes(new Uint8Array(64).fill(5)),
    },
  });
}

function transactionsOfBlocks(): RawUpdate[] {
  return (mainnetBlocks() ?? []).flatMap((bytes) => {
    const { transactions } = decodeConfirmedBlock(bytes, SLOT);
    return transactions.map((executed, index) => {
      const { transaction } = executed;
      const signature = transaction.signatures[0]!;
      const located = { signature, isVote: isSimpleVote(transaction), executed, index };
      return rawTransaction({ slot: SLOT, createdAt, info: located });
    });
  });
}

/** The same number of writes for any number of filters; each matches one filter. */
const spreadWrites = (load: SpreadLoad, filters: number): RawUpdate[] =>
  Array.from({ length: SPREAD }, (_, nth) => {
    const matching = addressAt(Math.floor((nth * filters) / SPREAD));
    return load === 'spread' ? accountWrite(matching, nth) : accountWrite(addressAt(nth), nth, matching);
  });

/** The updates of a load. @param filters - total of all streams. */
export function updatesOf(load: Load, filters: number): readonly RawUpdate[] {
  if (load === 'blocks') return transactionsOfBlocks();
  if (isSpread(load)) return spreadWrites(load, filters);
  const updates = new Uint8Array(32).fill(7);
  return Array.from({ length: ACCOUNTS }, (_, version) => accountWrite(updates, version));
}

/** Emits updates in turns of the event loop, each once no stream has too much queued. */
export function emitInTurns({
  total,
  perTurn,
  isAhead,
  emitOne,
  onEnd,
}: Readonly<{
  total: number;
  perTurn: number;
  isAhead: () => boolean;
  emitOne: (nth: number) => void;
  onEnd: () => void;
}>): void {
  let emitted = 0;
  const tick = (): void => {
    if (!isAhead()) for (let i = 0; i < perTurn && emitted < total; i++) emitOne(emitted++);
    if (emitted < total) setImmediate(tick);
    else onEnd();
  };
  tick();
}
