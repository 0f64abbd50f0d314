import { Lru } from '../../base/cache/lru.ts';
import {
  deshredSlotTail,
  deshredTransactionTail,
  shredTransactionTail,
} from '../../protocol/geyser/encode/deshred.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import type { RawTransaction } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeDeshredRequest, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import {
  decodePingRequest,
  encodeGetVersionResponse,
  encodePongResponse,
  encodeSubscribeReplayInfoResponse,
} from '../../protocol/geyser/unary.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import { encodeEntryMessage } from '../../protocol/shredstream/entries.ts';
import type { Slot } from '../../solana/units.ts';
import { Channel } from '../geyser/channel.ts';
import { compileDeshredFilters, compileFilters, type Filters } from '../geyser/filters/compile.ts';
import type { OpenedStream, StreamOpener, StreamRpc, UnaryRpc } from '../geyser/geyser-handler.ts';
import type { GeyserSink } from '../geyser/geyser-sink.ts';
import { CreatedAt } from '../geyser/ledger-updates.ts';
import type { DeshredListener, DeshredSlot, DeshredTransaction, EntryBatch } from './deshred-event.ts';
import { shredStageRequest } from './shred-stage-request.ts';

type EncodeTail = (source: DeshredTransaction, createdAt: Uint8Array, index: number) => Uint8Array;

/** Encodes a transaction only on first use: most transactions match no filter. */
class LazyTransaction implements RawTransaction {
  readonly kind = 'transaction';
  readonly err = null;
  readonly meta = null;
  readonly slot: RawTransaction['slot'];
  readonly signature: Uint8Array;
  readonly isVote: boolean;
  readonly keys: RawTransaction['keys'];
  readonly createdAt: Uint8Array;
  readonly index: number;
  readonly #source: DeshredTransaction;
  readonly #encode: EncodeTail;
  #tail: Uint8Array | null = null;

  /** @param index - position of the transaction among those emitted for its slot. */
  constructor(source: DeshredTransaction, createdAt: Uint8Array, index: number, encode: EncodeTail) {
    this.slot = source.slot;
    this.signature = source.signature;
    this.isVote = source.isVote;
    this.keys = source.keys;
    this.createdAt = createdAt;
    this.index = index;
    this.#source = source;
    this.#encode = encode;
  }

  get tail(): Uint8Array {
    this.#tail ??= this.#encode(this.#source, this.createdAt, this.index);
    return this.#tail;
  }

  /** Unused: these transactions are never part of a block. */
  get info(): Uint8Array {
    return this.tail;
  }
}

type Request = SubscribeRequest | SubscribeDeshredRequest;

const NO_FILTER_NAMES: Uint8Array = new Uint8Array();
const SLOTS_COUNTED = 256;
const NO_FILTERS = (): void => {};

/**
 * Sends shred-stage updates to streams of three methods: `Subscribe` (transactions without meta),
 * `SubscribeDeshred` (transactions with loaded addresses and shred indexes) and `SubscribeEntries` (batches of
 * entries). There is no replay. Sources: geyser.proto; jito-labs/mev-protos, shredstream.proto.
 */
export class DeshredHub implements DeshredListener, StreamOpener {
  /** Response to GetVersion, as JSON text. */
  readonly #version: string;
  readonly #subscribe = new Channel();
  readonly #deshred = new Channel();
  readonly #entries = new Set<GeyserSink>();
  readonly #streams = new Set<HubStream>();
  /** Next transaction index per slot; clients use it to deduplicate. Source: yellowstone-grpc-client, `dedup.rs`. */
  readonly #transactionCounts = new Lru<Slot, number>(SLOTS_COUNTED);
  readonly #createdAt = new CreatedAt();

  constructor({ version = '{}' }: Readonly<{ version?: string }> = {}) {
    this.#version = version;
  }

  get size(): number {
    return this.#streams.size;
  }

  onBatch({ slot, entries }: EntryBatch): void {
    if (this.#entries.size === 0) return;
    const message = encodeEntryMessage(slot, entries);
    for (const sink of this.#entries) sink.push(NO_FILTER_NAMES, message);
  }

  onTransaction(transaction: DeshredTransaction): void {
    const createdAt = this.#createdAt.of(transaction.at);
    const index = this.#transactionCounts.get(transaction.slot) ?? 0;
    this.#transactionCounts.set(transaction.slot, index + 1);
    if (this.#subscribe.size > 0)
      this.#subscribe.emit(new LazyTransaction(transaction, createdAt, index, shredTransactionTail));
    if (this.#deshred.size > 0)
      this.#deshred.emit(new LazyTransaction(transaction, createdAt, index, deshredTransactionTail));
  }

  onSlot({ slot, parent, status, deadError = null, at }: DeshredSlot): void {
    if (this.#subscribe.size + this.#deshred.size === 0) return;
    const raw = rawSlot({ kind: 'slot', slot, parent, status, deadError }, this.#createdAt.of(at));
    this.#subscribe.emit(raw);
    if (this.#deshred.size > 0) this.#deshred.emit({ ...raw, tail: deshredSlotTail(raw) });
  }

  open(rpc: StreamRpc, sink: GeyserSink): OpenedStream {
    const stream: HubStream = this.#createStream(rpc, sink, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream;
  }

  /** @throws GrpcError UNIMPLEMENTED for chain queries; InvalidProtobuf. */
  unary(rpc: UnaryRpc, request: Uint8Array): Uint8Array {
    if (rpc === 'Ping') return encodePongResponse(decodePingRequest(request));
    if (rpc === 'GetVersion') return encodeGetVersionResponse(this.#version);
    if (rpc === 'SubscribeReplayInfo') return encodeSubscribeReplayInfoResponse(null);
    throw new GrpcError('UNIMPLEMENTED', 'method disabled');
  }

  close(status: GrpcStatus): void {
    for (const stream of [...this.#streams]) stream.end(status);
  }

  #createStream(rpc: StreamRpc, sink: GeyserSink, onClosed: () => void): HubStream {
    switch (rpc) {
      case 'Subscribe':
        return memberStream(this.#subscribe, sink, onClosed, (request) =>
          compileFilters(shredStageRequest(request as SubscribeRequest)),
        );
      case 'SubscribeDeshred':
        return memberStream(this.#deshred, sink, onClosed, (request) =>
          compileDeshredFilters(request as SubscribeDeshredRequest),
        );
      case 'SubscribeEntries':
        this.#entries.add(sink);
        return hubStream(sink, NO_FILTERS, () => {
          this.#entries.delete(sink);
          onClosed();
        });
    }
  }
}

function memberStream(
  channel: Channel,
  sink: GeyserSink,
  onClosed: () => void,
  compile: (request: Request) => Filters,
): HubStream {
  const member = channel.add(sink);
  const replace = (request: Request): void => member.replace(compile(request));
  return hubStream(sink, replace, () => {
    member.close();
    onClosed();
  });
}

type HubStream = OpenedStream & Readonly<{ end: (status: GrpcStatus) => void }>;

function hubStream(sink: GeyserSink, onRequest: (request: Request) => void, onClose: () => void): HubStream {
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    onClose();
  };
  return {
    async request(request) {
      if (isOpen) onRequest(request);
    },
    end(status) {
      if (!isOpen) return;
      close();
      sink.end(status);
    },
    close,
  };
}
