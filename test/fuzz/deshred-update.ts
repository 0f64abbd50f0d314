import { deshredTransactionTail } from '../../src/protocol/geyser/encode/deshred.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import { readDeshredUpdate } from '../../src/protocol/geyser/read-deshred-update.ts';
import { decodeEntryMessage, encodeEntryMessage } from '../../src/protocol/shredstream/entries.ts';
import { slot } from '../../src/solana/units.ts';
import { accepted } from './engine/accepted.ts';
import { message as anyMessage } from './engine/generate-protobuf.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'servers of deshredded transactions';
export const covers = ['protocol/geyser/read-deshred-update.ts', 'protocol/shredstream/entries.ts'];

const key = new Uint8Array(32).fill(7);
const writer = (): ProtobufWriter => new ProtobufWriter();
const message = writer().bytes(2, key).bytes(2, new Uint8Array(32)).bytes(3, key);
const transaction = writer().bytes(1, new Uint8Array(64).fill(1)).message(2, message).finish();

/** What other servers of the shred stage tell: a transaction, a slot, a ping and a pong; then a batch of entries. */
export const seeds: readonly Uint8Array[] = [
  deshredTransactionTail({
    ...{
      slot: slot(300),
      createdAt: encodeTimestamp(1_700_000_000_123n),
      signature: new Uint8Array(64).fill(2),
    },
    ...{ isVote: true, transaction, loadedWritable: [key], loadedReadonly: [key, key] },
    ...{ firstShredIndex: 32, endShredIndex: 64 },
  }),
  writer().message(6, writer().uint64(1, 5n).uint64(2, 4n).uint32(3, 6).string(4, 'why')).finish(),
  writer().message(3, writer()).string(1, 'name').finish(),
  writer().message(4, writer().uint32(1, 5)).finish(),
  encodeEntryMessage(slot(300), new Uint8Array(100).fill(3)),
];

/** Messages whose fields are of any number and kind. */
export const generate = (random: Random): Uint8Array => anyMessage(random);

/** Whatever is read is read or refused; keys are always inside the message. */
export function fuzz(input: Uint8Array): boolean {
  const entries = accepted(() => decodeEntryMessage(input), InvalidProtobuf);
  const update = accepted(() => {
    const read = readDeshredUpdate(input).update;
    if (read?.kind !== 'transaction') return;
    for (const at of read.keys.offsets) {
      if (at < 0 || at + 32 > input.length) throw new Error('a key lies outside its message');
    }
  }, InvalidProtobuf);
  return entries || update;
}
