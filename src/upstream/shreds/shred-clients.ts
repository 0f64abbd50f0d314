import type { Logger } from '../../base/log.ts';
import { type DeshredUpdate, readDeshredUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import { encodeSubscribeDeshredRequest } from '../../protocol/geyser/subscribe-request.ts';
import { decodeEntryMessage } from '../../protocol/shredstream/entries.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { exponentialBackoff, withJitter } from '../exponential-backoff.ts';
import { MonitoredStream } from '../geyser/monitored-stream.ts';
import type { ShredLimits, ShredServer } from './shreds-config.ts';

type ReconnectingStreamOptions<Message> = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  /** Path of the gRPC method, such as `/geyser.Geyser/SubscribeDeshred`. */
  method: string;
  /** First message of every stream. */
  request: Uint8Array;
  /** With `one`, our side of the stream closes after the first message. */
  requests: 'one' | 'many';
  /** @throws InvalidProtobuf for a malformed message, which is skipped. */
  decode: (bytes: Buffer) => Message;
  onMessage: (message: Message) => void;
}>;

/** A gRPC stream that reconnects when it ends or stalls. Updates in between are lost: servers do not replay. */
class ReconnectingStream<Message> {
  readonly #options: ReconnectingStreamOptions<Message>;
  #stream: MonitoredStream<Message> | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #failures = 0;
  #slot: Slot | null = null;

  constructor(options: ReconnectingStreamOptions<Message>) {
    this.#options = options;
  }

  start(): void {
    this.#connect();
  }

  send(message: Uint8Array): void {
    this.#stream?.send(message);
  }

  /** Records a slot of a message. Only newer slots count as progress. */
  recordSlot(slot: Slot): void {
    if (this.#slot !== null && slot <= this.#slot) return;
    this.#slot = slot;
    this.#stream?.recordProgress();
    this.#failures = 0;
  }

  close(): void {
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    this.#stream?.close();
    this.#stream = null;
  }

  #connect(): void {
    const { server, limits, log, method, request, requests, decode, onMessage } = this.#options;
    const { url, headers, name } = server;
    // A restarted server may be at lower slots.
    this.#slot = null;
    const stream = new MonitoredStream(
      { ...limits, url, headers, method, log, logFields: { server: name }, decode },
      { onOpen: () => {}, onMessage, onEnd: () => this.#handleEnd() },
    );
    this.#stream = stream;
    stream.send(request);
    if (requests === 'one') stream.finishSending();
  }

  #handleEnd(): void {
    this.#stream = null;
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    const pause = exponentialBackoff(reconnectMs, reconnectMaxMs, this.#failures++);
    this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
  }
}

type DeshredClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onTransaction' | 'onSlot'>;
}>;

/** Source: geyser.proto. */
export const SUBSCRIBE_DESHRED = '/geyser.Geyser/SubscribeDeshred';

const REQUEST = encodeSubscribeDeshredRequest({
  deshredTransactions: new Map([['all', {}]]),
  slots: new Map([['all', { interslotUpdates: true }]]),
});
const PING = encodeSubscribeDeshredRequest({ ping: 1 });

/**
 * Client of another server's `SubscribeDeshred`: transactions with their loaded addresses, and slots, but no
 * entry batches. Source: geyser.proto.
 */
export class DeshredClient {
  readonly #options: DeshredClientOptions;
  readonly #stream: ReconnectingStream<ReturnType<typeof readDeshredUpdate>>;

  constructor(options: DeshredClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_DESHRED,
      request: REQUEST,
      requests: 'many',
      decode: readDeshredUpdate,
      onMessage: (message) => this.#handleMessage(message),
    });
  }

  start(): void {
    this.#stream.start();
  }

  close(): void {
    this.#stream.close();
  }

  #handleMessage({ update, createdAt }: ReturnType<typeof readDeshredUpdate>): void {
    if (update !== null) this.#emit(update, createdAt ?? BigInt(Date.now()));
  }

  #emit(update: DeshredUpdate, at: bigint): void {
    const { listener } = this.#options;
    switch (update.kind) {
      case 'ping':
        this.#stream.send(PING);
        return;
      case 'slot':
        this.#stream.recordSlot(update.slot);
        listener.onSlot({ ...update, at });
        return;
      case 'transaction':
        this.#stream.recordSlot(update.slot);
        listener.onTransaction({ ...update, at });
    }
  }
}

type EntriesClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onBatch'>;
}>;

/** Source: shredstream.proto. */
export const SUBSCRIBE_ENTRIES = '/shredstream.ShredstreamProxy/SubscribeEntries';
export const ENTRIES_REQUEST: Uint8Array = new Uint8Array();

/**
 * Client of a Jito ShredStream proxy: entry batches without their shreds. Source: jito-labs/mev-protos,
 * shredstream.proto.
 */
export class EntriesClient {
  readonly #options: EntriesClientOptions;
  readonly #stream: ReconnectingStream<ReturnType<typeof decodeEntryMessage>>;

  constructor(options: EntriesClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_ENTRIES,
      request: ENTRIES_REQUEST,
      requests: 'one',
      decode: decodeEntryMessage,
      onMessage: (message) => this.#handleMessage(message),
    });
  }

  start(): void {
    this.#stream.start();
  }

  close(): void {
    this.#stream.close();
  }

  #handleMessage({ slot, entries }: ReturnType<typeof decodeEntryMessage>): void {
    this.#stream.recordSlot(slot);
    const at = BigInt(Date.now());
    this.#options.listener.onBatch({ slot, entries, firstShredIndex: 0, endShredIndex: 0, at });
  }
}
