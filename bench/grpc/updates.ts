import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import type { RawAccount, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { isSimpleVote } from '../../src/solana/transaction/simple-vote.ts';
import { lamports, slot } from '../../src/solana/units.ts';
import { decodeConfirmedBlock } from '../../test/recorded/confirmed-block.ts';
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
/** Distinct updates that are told in turn: making them is not measured. */
const ACCOUNTS = 64;
/** Distinct updates that are told, as many filters being met, where there are as many. */
const SPREAD = 10_000;

/** A write of the account of an address. @param wallet - stands in its data; null: none. */
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

/** As many writes whatever the number of filters, of accounts of which each passes one of them, from all over. */
const spreadWrites = (load: SpreadLoad, filters: number): RawUpdate[] =>
  Array.from({ length: SPREAD }, (_, nth) => {
    const matching = addressAt(Math.floor((nth * filters) / SPREAD));
    return load === 'spread' ? accountWrite(matching, nth) : accountWrite(addressAt(nth), nth, matching);
  });

/** The updates of a load. @param filters - of all streams. */
export function updatesOf(load: Load, filters: number): readonly RawUpdate[] {
  if (load === 'blocks') return transactionsOfBlocks();
  if (isSpread(load)) return spreadWrites(load, filters);
  const updates = new Uint8Array(32).fill(7);
  return Array.from({ length: ACCOUNTS }, (_, version) => accountWrite(updates, version));
}
