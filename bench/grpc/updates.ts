import { addressFromBytes } from '../../src/ledger/address.ts';
import { signatureFromBytes } from '../../src/ledger/signature.ts';
import { isSimpleVote } from '../../src/ledger/transaction/simple-vote.ts';
import { lamports, slot } from '../../src/ledger/units.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/timestamp.ts';
import type { RawAccount, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { decodeConfirmedBlock } from '../../src/protocol/geyser/storage/confirmed-block.ts';
import { ACCOUNT_DATA_BYTES, type Load, mainnetBlocks } from './messages.ts';

const createdAt = encodeTimestamp(1_790_000_000_000n);
const SLOT = slot(400_000_000);
/** Distinct updates that are told in turn: making them is not measured. */
const ACCOUNTS = 64;

/** A write of the account whose address is all of one byte. */
export function accountWrite(address: number, version: number): RawAccount {
  return rawAccount({
    slot: SLOT,
    createdAt,
    isStartup: false,
    write: {
      address: addressFromBytes(new Uint8Array(32).fill(address)),
      account: {
        lamports: lamports(1_000_000 + version),
        data: new Uint8Array(ACCOUNT_DATA_BYTES).fill(version),
        owner: addressFromBytes(new Uint8Array(32).fill(9)),
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
      const placed = { signature, isVote: isSimpleVote(transaction), executed, index };
      return rawTransaction({ slot: SLOT, createdAt, placed });
    });
  });
}

/** The updates of a load. */
export const updatesOf = (load: Load): readonly RawUpdate[] =>
  load === 'blocks'
    ? transactionsOfBlocks()
    : Array.from({ length: ACCOUNTS }, (_, version) => accountWrite(7, version));
