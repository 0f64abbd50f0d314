import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import { decodeSubscribeUpdate } from '../../src/protocol/geyser/subscribe-update.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { slot } from '../../src/solana/units.ts';
import { decodeConfirmedBlock } from '../recorded/confirmed-block.ts';
import { accepted } from './engine/accepted.ts';
import { message as anyMessage } from './engine/generate-protobuf.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'nodes';
export const covers = [
  'solana/transaction/transaction-error.ts',
  'protocol/geyser/fields.ts',
  'protocol/geyser/protobuf.ts',
  'protocol/geyser/storage/',
  'protocol/geyser/subscribe-update.ts',
  'protocol/geyser/update/',
];

const writer = (): ProtobufWriter => new ProtobufWriter();
const key = new Uint8Array(32).fill(7);
const text = addressFromBytes(key);

const message = writer()
  .message(1, writer().uint32(1, 1).uint32(3, 1))
  .bytes(2, key)
  .bytes(2, new Uint8Array(32))
  .bytes(3, key)
  .message(
    4,
    writer()
      .uint32(1, 1)
      .bytes(2, Uint8Array.of(0))
      .bytes(3, Uint8Array.of(2, 0, 0, 0)),
  )
  .bool(5, true)
  .message(6, writer().bytes(1, key).bytes(2, Uint8Array.of(1)));
const transaction = writer().bytes(1, new Uint8Array(64).fill(1)).message(2, message);
const balance = writer()
  .uint32(1, 1)
  .string(2, text)
  .message(3, writer().uint32(2, 6).string(3, '700'))
  .string(4, text)
  .string(5, text);
const meta = writer()
  .message(1, writer().bytes(1, Uint8Array.of(8, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0)))
  .uint64(2, 5000n)
  .bytes(3, Uint8Array.of(1, 2))
  .message(5, writer().message(2, writer().uint32(1, 1).uint32(4, 2)))
  .string(6, 'Program log: hello')
  .message(8, balance)
  .message(9, writer().string(1, text).uint64(2, 5n).uint32(4, 1).string(5, '8'))
  .bytes(12, key)
  .message(14, writer().bytes(1, key).bytes(2, key))
  .uint64(16, 150n);
const [transactionBytes, metaBytes] = [transaction.finish(), meta.finish()];
const placed = writer()
  .bytes(1, new Uint8Array(64).fill(1))
  .bytes(3, transactionBytes)
  .bytes(4, metaBytes)
  .uint64(5, 9n)
  .finish();
const account = writer().bytes(1, key).uint64(2, 5n).bytes(3, key).bytes(6, key).uint64(7, 9n).finish();

/** An update of every kind, then a stored block. */
export const seeds: readonly Uint8Array[] = [
  writer().message(2, writer().bytes(1, account).uint64(2, 5n)),
  writer().message(3, writer().uint64(1, 5n).uint64(2, 4n).uint32(3, 6).string(4, 'why')),
  writer().message(4, writer().bytes(1, placed).uint64(2, 5n)),
  writer().message(
    5,
    writer()
      .uint64(1, 5n)
      .string(2, text)
      .message(3, writer().message(1, writer().string(1, text).uint64(2, 5n)))
      .bytes(6, placed)
      .string(8, text)
      .bytes(11, account),
  ),
  writer().message(6, writer()).string(1, 'name'),
  writer().message(7, writer().uint64(1, 5n).string(2, text).string(7, text)),
  writer().message(8, writer().uint64(1, 5n).bytes(4, key)),
  writer().message(9, writer().uint32(1, 5)).message(11, writer().uint64(1, 1_700_000_000n)),
  writer().message(10, writer().uint64(1, 5n).bytes(2, new Uint8Array(64))),
  writer()
    .string(1, text)
    .string(2, text)
    .message(4, writer().bytes(1, transactionBytes).bytes(2, metaBytes))
    .message(6, writer().uint64(1, 5n)),
].map((each) => each.finish());

/** Messages whose fields are of any number and kind. */
export const generate = (random: Random): Uint8Array => anyMessage(random);

/** Whatever is read is read or refused, as an update and as a block. */
export function fuzz(input: Uint8Array): boolean {
  const update = accepted(() => decodeSubscribeUpdate(input), InvalidProtobuf);
  const block = accepted(() => decodeConfirmedBlock(input, slot(1)), InvalidProtobuf);
  return update || block;
}
