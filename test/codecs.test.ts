import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAccount, writeAccount } from '../packages/localnet/src/history/account-codec.ts';
import { ByteReader, ByteWriter, OutOfBytes } from '../src/base/bytes.ts';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../src/protocol/geyser/decode-subscribe-request.ts';
import { InvalidProtobuf } from '../src/protocol/geyser/protobuf.ts';
import { readDeshredUpdate } from '../src/protocol/geyser/read-deshred-update.ts';
import { readRawUpdate } from '../src/protocol/geyser/read-raw-update.ts';
import { handleReflection } from '../src/protocol/grpc/reflection.ts';
import { GrpcError } from '../src/protocol/grpc/status.ts';
import { decodeEntryMessage } from '../src/protocol/shredstream/entries.ts';
import { addressBytes, addressFromBytes, parseAddress } from '../src/solana/address.ts';
import { decodeAddressLookupTable } from '../src/solana/address-lookup-table.ts';
import { blockhashBytes, blockhashFromBytes, parseBlockhash } from '../src/solana/blockhash.ts';
import { MalformedJson } from '../src/solana/encoding/read-json.ts';
import { readBlockSteps } from '../src/solana/encoding/read-ui-block.ts';
import { measureEntries, readEntries, readTransactions } from '../src/solana/entries.ts';
import { decodeMessage } from '../src/solana/message/message.ts';
import { decodeNonce, encodeNonce, NONCE_BYTES, type Nonce } from '../src/solana/nonce.ts';
import { InvalidShortVec, readShortVec, writeShortVec } from '../src/solana/short-vec.ts';
import { parseShred } from '../src/solana/shred/parse-shred.ts';
import { parseSignature, signatureBytes, signatureFromBytes } from '../src/solana/signature.ts';
import { decodeStakeState, STAKE_STATE_BYTES } from '../src/solana/stake-state.ts';
import {
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeRewards,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
} from '../src/solana/sysvars.ts';
import { decodeMintScale, readExtensions } from '../src/solana/token/extensions.ts';
import { decodeMint, decodeMultisig, decodeTokenAccount } from '../src/solana/token/token-state.ts';
import { decodeTransaction } from '../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../src/solana/transaction/encode-transaction.ts';
import { decodeTransactionError } from '../src/solana/transaction/transaction-error.ts';
import { readWireTransaction } from '../src/solana/transaction/wire-transaction.ts';
import { lamports, slot, U64_MAX } from '../src/solana/units.ts';
import { decodeVoteState, VOTE_STATE_BYTES } from '../src/solana/vote-state.ts';
import { decodedUpdate } from './geyser/re-encode.ts';

/**
 * Properties of all ledger and wire codecs. The other round trips are tested next to their codecs: base58, message,
 * nonce, stake-state, vote-state, sysvar, token, parsed, record-codec, and test/geyser.
 */

type Decode = (bytes: Uint8Array) => unknown;

/** Sizes at which decoders parse the contents. */
const SIZES = [NONCE_BYTES, 82, 165, 355, STAKE_STATE_BYTES, VOTE_STATE_BYTES, 56, 88, 3731];

/** Random bytes, often of one of these sizes, and often with a small leading tag. */
const anyBytes = fc
  .tuple(
    fc.oneof(fc.nat(300), fc.constantFrom(...SIZES)),
    fc.uint8Array({ maxLength: 120 }),
    fc.constantFrom(0, 1, 2, 3, 8, 0x7b, 0x80, 255),
    fc.boolean(),
  )
  .map(([size, head, tag, tagged]) => {
    const bytes = new Uint8Array(Math.max(size, head.length));
    bytes.set(head);
    if (tagged && bytes.length > 3) bytes.set([tag, 0, 0, 0]);
    return bytes;
  });

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Decoders of external input, with the errors that they are documented to throw. */
type ErrorClass = abstract new (...args: never[]) => Error;
const decoders: readonly [name: string, decode: Decode, errors?: readonly ErrorClass[]][] = [
  ['an account of the record log', (bytes) => readAccount(new ByteReader(bytes)), [OutOfBytes]],
  ['an address', (bytes) => parseAddress(text(bytes))],
  ['an address lookup table', decodeAddressLookupTable],
  ['a block as JSON', (bytes) => [...readBlockSteps(Buffer.from(bytes), slot(1))], [MalformedJson]],
  ['a blockhash', (bytes) => parseBlockhash(text(bytes))],
  ['a clock', decodeClock],
  ['a compact length', (bytes) => readShortVec(new ByteReader(bytes)), [OutOfBytes, InvalidShortVec]],
  ['entries', readEntries],
  ['entries, measured', measureEntries],
  ['the transactions of entries', readTransactions],
  ['epoch rewards', decodeEpochRewards],
  ['an epoch schedule', decodeEpochSchedule],
  ['extensions', readExtensions],
  ['fees', decodeFees],
  ['the last restart slot', decodeLastRestartSlot],
  ['a message', decodeMessage],
  ['a mint', decodeMint],
  ['the scale of a mint', decodeMintScale],
  ['a multisig', decodeMultisig],
  ['a nonce', decodeNonce],
  ['recent blockhashes', decodeRecentBlockhashes],
  ['rent', decodeRent],
  ['rewards', decodeRewards],
  ['a shred', parseShred],
  ['a signature', (bytes) => parseSignature(text(bytes))],
  ['a request of a Geyser stream', decodeSubscribeRequest, [InvalidProtobuf, GrpcError]],
  ['a request of the shred stage', decodeSubscribeDeshredRequest, [InvalidProtobuf, GrpcError]],
  ['a question to reflection', handleReflection, [InvalidProtobuf]],
  ['slot hashes', decodeSlotHashes],
  ['a slot history', decodeSlotHistory],
  ['a stake', decodeStakeState],
  ['a stake history', decodeStakeHistory],
  ['a token account', decodeTokenAccount],
  ['a transaction', decodeTransaction],
  ['a transaction as it stands on the wire', readWireTransaction],
  ['a transaction error', decodeTransactionError],
  ['an update of a Geyser stream', decodedUpdate, [InvalidProtobuf]],
  ['an update of the shred stage', readDeshredUpdate, [InvalidProtobuf]],
  ['a batch of a ShredStream proxy', decodeEntryMessage, [InvalidProtobuf]],
  ['an update that goes on as bytes', (bytes) => readRawUpdate(bytes, 0), [InvalidProtobuf]],
  ['a vote account', decodeVoteState],
];

const u64 = fc.bigInt(0n, U64_MAX);
const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const key = sized(32).map(addressFromBytes);
const hash = sized(32).map(blockhashFromBytes);

const nonce: fc.Arbitrary<Nonce> = fc.record({
  version: fc.constantFrom('legacy', 'current'),
  data: fc.option(fc.record({ authority: key, durableNonce: hash, lamportsPerSignature: u64 })),
});
const account = fc.record({
  lamports: u64.map(lamports),
  data: fc.uint8Array({ maxLength: 50 }),
  owner: key,
  executable: fc.boolean(),
  rentEpoch: u64,
});

/** Name, and a check that decoding an encoded value returns the value. */
type RoundTrip = readonly [string, () => void];
const roundTrip = <T>(name: string, values: fc.Arbitrary<T>, through: (value: T) => unknown): RoundTrip => [
  name,
  () =>
    fc.assert(
      fc.property(values, (value) => {
        expect(through(value)).toEqual(value);
      }),
    ),
];

const roundTrips: readonly RoundTrip[] = [
  roundTrip('a compact length', fc.nat(0xffff), (length) => {
    const writer = new ByteWriter();
    writeShortVec(writer, length);
    return readShortVec(new ByteReader(writer.finish()));
  }),
  roundTrip('an address', sized(32), (bytes) => {
    const parsed = parseAddress(addressFromBytes(bytes));
    return 'address' in parsed && Uint8Array.from(addressBytes(parsed.address));
  }),
  roundTrip('a blockhash', sized(32), (bytes) => {
    const parsed = parseBlockhash(blockhashFromBytes(bytes));
    return 'blockhash' in parsed && Uint8Array.from(blockhashBytes(parsed.blockhash));
  }),
  roundTrip('a signature', sized(64), (bytes) => {
    const parsed = parseSignature(signatureFromBytes(bytes));
    return 'signature' in parsed && Uint8Array.from(signatureBytes(parsed.signature));
  }),
  roundTrip('a nonce', nonce, (value) => decodeNonce(encodeNonce(value))),
  roundTrip('an account', fc.tuple(key, fc.option(account)), ([address, value]) => {
    const writer = new ByteWriter();
    writeAccount(writer, address, value);
    return readAccount(new ByteReader(writer.finish()));
  }),
  roundTrip('the signatures of a transaction', fc.array(sized(64), { maxLength: 10 }), (signatures) => {
    const message = Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(32), 0);
    const decoded = decodeTransaction(encodeTransaction(signatures, message));
    return (
      'transaction' in decoded &&
      decoded.transaction.signatures.map(signatureBytes).map((s) => Uint8Array.from(s))
    );
  }),
];

describe('arbitrary bytes', () => {
  it.each(decoders)('are decoded as %s or rejected as documented', (_name, decode, errors = []) => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        try {
          decode(bytes);
        } catch (error) {
          if (!errors.some((known) => error instanceof known)) throw error;
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('an encoded value', () => {
  it.each(roundTrips)('is decoded to the same value: %s', (_name, holds) => {
    holds();
  });
});
