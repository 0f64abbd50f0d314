import type { Logger } from '../../base/log.ts';
import { decodeEntryMessage } from '../../protocol/shredstream/entries.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { ReconnectingStream } from './reconnecting-stream.ts';
import type { ShredLimits } from './shred-limits.ts';
import type { ShredServer } from './shreds-config.ts';

type EntriesClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onBatch'>;
}>;

/** The call that streams are opened with. Source: shredstream.proto. */
export const SUBSCRIBE_ENTRIES = '/shredstream.ShredstreamProxy/SubscribeEntries';
/** `SubscribeEntriesRequest` has no fields. */
export const ENTRIES_REQUEST: Uint8Array = new Uint8Array();

/**
 * Listens to a Jito ShredStream proxy: whole batches of entries, without the shreds that carried them. Source:
 * jito-labs/mev-protos, shredstream.proto.
 */
export class EntriesClient {
  readonly #options: EntriesClientOptions;
  readonly #stream: ReconnectingStream;

  constructor(options: EntriesClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_ENTRIES,
      request: ENTRIES_REQUEST,
      requests: 'one',
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
    const { slot, entries } = decodeEntryMessage(bytes);
    this.#stream.recordSlot(slot);
    const at = BigInt(Date.now());
    this.#options.listener.onBatch({ slot, entries, firstShredIndex: 0, endShredIndex: 0, at });
  }
}
