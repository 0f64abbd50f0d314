import type { Logger } from '../../base/log.ts';
import { readDeshredUpdate } from '../../protocol/geyser/read-deshred-update.ts';
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
  method: string;
  /** First message on every stream. */
  request: Uint8Array;
  /** With `one`, our side of the stream closes after the first message. */
  requests: 'one' | 'many';
  /** @throws InvalidProtobuf for a malformed message, which is skipped. */
  decode: (bytes: Buffer) => Message;
  onMessage: (message: Message) => void;
}>;

/** A stream that reconnects when it ends or stalls. Updates sent while disconnected are lost: servers do not replay. */
class ReconnectingStream<Message> {
  readonly #options: ReconnectingStreamOptions<Message>;
  #stream: MonitoredStream<Message> | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #failures = 0;
  #slot: Slot | null = null;

  constructor(options: ReconnectingStreamOptions<Message>) {
    this.#options = options;
  }

  send(message: Uint8Array): void {
    this.#stream?.send(message);
  }

  /** Only newer slots count as progress. */
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

  start(): void {
    const { server, limits, log, method, request, requests, decode, onMessage } = this.#options;
    const { url, headers, name } = server;
    // A restarted server may report lower slots.
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
    this.#reconnectTimer = setTimeout(() => this.start(), withJitter(pause));
  }
}

type ClientOptions<Events extends keyof DeshredListener> = Pick<
  ReconnectingStreamOptions<unknown>,
  'server' | 'limits' | 'log'
> &
  Readonly<{ listener: Pick<DeshredListener, Events> }>;

export const SUBSCRIBE_DESHRED = '/geyser.Geyser/SubscribeDeshred';

const REQUEST = encodeSubscribeDeshredRequest({
  deshredTransactions: new Map([['all', {}]]),
  slots: new Map([['all', { interslotUpdates: true }]]),
});
const PING = encodeSubscribeDeshredRequest({ ping: 1 });

/** Receives slots, and transactions with their loaded addresses, but no entry batches. */
export class DeshredClient extends ReconnectingStream<ReturnType<typeof readDeshredUpdate>> {
  constructor({ listener, ...options }: ClientOptions<'onTransaction' | 'onSlot'>) {
    super({
      ...{
        ...options,
        method: SUBSCRIBE_DESHRED,
        request: REQUEST,
        requests: 'many',
        decode: readDeshredUpdate,
      },
      onMessage: ({ update, createdAt }) => {
        if (update?.kind === 'ping') this.send(PING);
        else if (update !== null && update.kind !== 'pong') {
          this.recordSlot(update.slot);
          const at = createdAt ?? BigInt(Date.now());
          if (update.kind === 'slot') listener.onSlot({ ...update, at });
          else listener.onTransaction({ ...update, at });
        }
      },
    });
  }
}

export const SUBSCRIBE_ENTRIES = '/shredstream.ShredstreamProxy/SubscribeEntries';
export const ENTRIES_REQUEST: Uint8Array = new Uint8Array();

/** Receives entry batches without their shred indexes. Source: jito-labs/mev-protos, shredstream.proto. */
export class EntriesClient extends ReconnectingStream<ReturnType<typeof decodeEntryMessage>> {
  constructor({ listener, ...options }: ClientOptions<'onBatch'>) {
    super({
      ...options,
      ...{ method: SUBSCRIBE_ENTRIES, request: ENTRIES_REQUEST, requests: 'one', decode: decodeEntryMessage },
      onMessage: ({ slot, entries }) => {
        this.recordSlot(slot);
        listener.onBatch({ slot, entries, firstShredIndex: 0, endShredIndex: 0, at: BigInt(Date.now()) });
      },
    });
  }
}
