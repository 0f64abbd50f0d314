import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawBlockMeta, rawEntry, rawSlot } from '../../src/protocol/geyser/encode/raw-slot.ts';
import type { RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { type SlotStatus, slotStatuses } from '../../src/protocol/geyser/update/slot.ts';
import type { GrpcStatus } from '../../src/protocol/grpc/status.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { lamports, slot as slotOf } from '../../src/solana/units.ts';
import type { GeyserSink, StreamBacklog } from '../../src/streams/geyser/geyser-sink.ts';

/** Raw updates of short ledgers, and a sink that records updates as short texts. */

const createdAt = encodeTimestamp(1_790_000_000_000n);
const bytes = (length: number, fill: number): Uint8Array => new Uint8Array(length).fill(fill);

const addressAt = (fill: number) => addressFromBytes(bytes(32, fill));

/** A write of a numbered account; the version determines its balance, data and signature. */
export const account = (slot: number, address: number, version: number): RawUpdate =>
  rawAccount({
    slot: slotOf(slot),
    createdAt,
    isStartup: false,
    write: {
      address: addressAt(address),
      account: {
        lamports: lamports(version),
        data: bytes(4, version),
        owner: addressAt(1),
        executable: false,
        rentEpoch: 0n,
      },
      writeVersion: BigInt(version),
      signature: signatureFromBytes(bytes(64, version)),
    },
  });

export const entry = (slot: number, index: number): RawUpdate =>
  rawEntry(
    {
      kind: 'entry',
      slot: slotOf(slot),
      index,
      numHashes: 1n,
      hash: blockhashFromBytes(bytes(32, index)),
      executedTransactionCount: 0,
      startingTransactionIndex: 0,
    },
    createdAt,
  );

/** The blockhash of a slot; it repeats every 256 slots. */
export const blockhashAt = (slot: number): string => blockhashFromBytes(bytes(32, slot % 256));

export const meta = (slot: number, parent = slot - 1): RawUpdate =>
  rawBlockMeta(
    {
      slot: slotOf(slot),
      blockhash: blockhashFromBytes(bytes(32, slot % 256)),
      rewards: [],
      blockTime: 1_790_000_000n,
      blockHeight: BigInt(slot),
      parentSlot: slotOf(parent),
      previousBlockhash: blockhashFromBytes(bytes(32, parent % 256)),
      transactions: [],
    },
    1,
    createdAt,
  );

export const status = (slot: number, of: SlotStatus, parent = slot - 1): RawUpdate =>
  rawSlot(
    { kind: 'slot', slot: slotOf(slot), parent: slotOf(parent), status: of, deadError: null },
    createdAt,
  );

/** A processed slot: two writes of one account, one of another, and an entry. */
export const processedSlot = (slot: number, parent = slot - 1): RawUpdate[] => [
  status(slot, 'createdBank', parent),
  account(slot, 50, 1),
  account(slot, 51, 2),
  account(slot, 50, 3),
  entry(slot, 0),
  meta(slot, parent),
  status(slot, 'processed', parent),
];

/** A message as a short text: filter names, kind, slot, and an identifier. */
function summaryOf(message: Buffer): string {
  const { filters, createdAt: _at, ...update } = SubscribeUpdate.decode(message);
  const names = filters.join('+');
  const { account, entry, slot, block, blockMeta } = update;
  if (account) return `${names} account ${account.slot} v${account.account!.writeVersion}`;
  if (entry) return `${names} entry ${entry.slot}`;
  if (slot) return `${names} ${slotStatuses.at(slot.status)} ${slot.slot}`;
  if (block) {
    return `${names} block ${block.slot} of ${block.accounts.map(({ writeVersion }) => `v${writeVersion}`)}`;
  }
  if (blockMeta) return `${names} meta ${blockMeta.slot}`;
  const [kind] = Object.entries(update).find(([, content]) => content !== undefined) ?? [];
  return `${names} ${kind}`;
}

export class RecordingSink implements GeyserSink {
  readonly received: string[] = [];
  ended: GrpcStatus | null = null;
  behind: StreamBacklog | null = null;
  waitingBytes = 0;
  /** Whether its client reads at once; otherwise the test resets `waitingBytes`. */
  takes = true;

  push(names: Uint8Array, tail: Uint8Array): void {
    if (!this.takes) this.waitingBytes += names.length + tail.length;
    this.received.push(summaryOf(Buffer.concat([names, tail])));
  }

  end(status: GrpcStatus): void {
    this.ended = status;
  }

  lag(behind: StreamBacklog): void {
    this.behind = behind;
  }

  take(): string[] {
    return this.received.splice(0);
  }
}
