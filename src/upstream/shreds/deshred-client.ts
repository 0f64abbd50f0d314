import type { Logger } from '../../base/log.ts';
import { type DeshredUpdate, readDeshredUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import { encodeSubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { ReconnectingStream } from './reconnecting-stream.ts';
import type { ShredLimits } from './shred-limits.ts';
import type { ShredServer } from './shreds-config.ts';

type DeshredClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onTransaction' | 'onSlot'>;
}>;

/** The call that streams are opened with. Source: geyser.proto. */
export const SUBSCRIBE_DESHRED = '/geyser.Geyser/SubscribeDeshred';

/** All transactions, and all that is told of slots. */
const REQUEST = encodeSubscribeDeshredRequest({
  deshredTransactions: new Map([['all', {}]]),
  slots: new Map([['all', { interslotUpdates: true }]]),
});
const PING = encodeSubscribeDeshredRequest({ ping: 1 });

/**
 * Listens to another server's `SubscribeDeshred`: single transactions with what it knows of their lookup tables, and
 * slots. There are no batches of entries in it. Source: geyser.proto.
 */
export class DeshredClient {
  readonly #options: DeshredClientOptions;
  readonly #stream: ReconnectingStream;

  constructor(options: DeshredClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_DESHRED,
      request: REQUEST,
      requests: 'many',
      onMessage: (bytes) => this.#handleMessage(bytes),
    });
  }

  start(): void {
    this.#stream.start();
  }

  close(): void {
    this.#stream.close();
  }

  #handleMessage(bytes: Buffer): void {
    const { update, createdAt } = readDeshredUpdate(bytes);
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
