import { z } from 'zod';
import type { Logger } from '../../base/log.ts';
import { PeriodicTask } from '../periodic-task.ts';
import type { BlockIndex } from './block-index.ts';
import type { FileBackend, FileStore } from './file-store.ts';
import {
  type ServiceResponse,
  StorageService,
  storageServiceLimits,
  storageUnavailable,
} from './storage-service.ts';
import type { SpooledFile } from './upload-spool.ts';

export const pinningServiceLimits = {
  ...storageServiceLimits,
  exchangeMaxMs: 30_000,
  silenceMs: 30_000,
  pollIntervalMs: 15_000,
  /** Maximum polls per pin. */
  pollsMax: 480,
  /** How many times a failed pin is requested again. */
  retriesMax: 3,
  /** Maximum pins being polled; further pins are created but not polled. */
  watchedMax: 1_000,
};

export type PinningServiceLimits = Readonly<typeof pinningServiceLimits>;

export type PinningServiceOptions = Readonly<{
  /** Base URL, without `/pins`. */
  url: string;
  /** Bearer token; never logged. */
  token: string;
  /** Multiaddrs from which the service can fetch our blocks; at most 20. */
  origins?: readonly string[];
  limits?: Partial<PinningServiceLimits>;
  log: Logger;
}>;

/** Source: IPFS Pinning Service API 1.0, PinStatus and Pin. */
const pinStatus = z.object({
  /** Restricted to characters that are safe in a path. */
  requestid: z.string().regex(/^[\w.~-]{1,256}$/),
  status: z.enum(['queued', 'pinning', 'pinned', 'failed']),
});

type PinStatus = z.infer<typeof pinStatus>;

type WatchedPin = {
  requestid: string;
  readonly pin: string;
  readonly cid: string;
  polls: number;
  retries: number;
};

/** Source: IPFS Pinning Service API 1.0, Pin. */
const NAME_MAX = 255;

/** Client of a pinning service, which fetches the blocks from this server. */
export class PinningService {
  readonly #service: StorageService;
  readonly #origins: readonly string[];
  readonly #limits: PinningServiceLimits;
  readonly #log: Logger;
  /** Pins being polled, by CID. */
  readonly #watched = new Map<string, WatchedPin>();
  readonly #polling: PeriodicTask;
  #closed = false;

  constructor({ url, token, origins, limits, log }: PinningServiceOptions) {
    this.#limits = { ...pinningServiceLimits, ...limits };
    this.#service = new StorageService(url, `Bearer ${token}`, this.#limits);
    this.#origins = origins ?? [];
    this.#log = log;
    this.#polling = new PeriodicTask(() => this.#poll(), this.#limits.pollIntervalMs);
  }

  /** Requests a pin unless one exists, and polls its status in the background. @throws Failure STORAGE_UNAVAILABLE */
  async pin(cid: string, name: string | null): Promise<void> {
    const pin = JSON.stringify({
      cid,
      ...(name !== null && { name: name.slice(0, NAME_MAX) }),
      ...(this.#origins.length > 0 && { origins: this.#origins }),
    });
    const status = (await this.#find(cid)) ?? (await this.#post('/pins', pin));
    if (status.status === 'failed') throw storageUnavailable('the pinning service failed immediately');
    if (status.status !== 'pinned')
      this.#watch({ requestid: status.requestid, pin, cid, polls: 0, retries: 0 });
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Closing the service aborts the requests of a running poll.
    await Promise.all([this.#polling.stop(), this.#service.close()]);
  }

  async #find(cid: string): Promise<PinStatus | null> {
    const query = new URLSearchParams({ cid, status: 'queued,pinning,pinned', limit: '1' });
    const { results } = objectOf(await this.#service.request('GET', `/pins?${query}`), 200);
    const [first] = Array.isArray(results) ? results : [];
    return first === undefined ? null : statusOf(first);
  }

  async #post(path: string, pin: string): Promise<PinStatus> {
    return statusOf(objectOf(await this.#service.request('POST', path, pin), 202));
  }

  #watch(watched: WatchedPin): void {
    if (this.#closed || this.#watched.size >= this.#limits.watchedMax) return;
    this.#watched.set(watched.cid, watched);
    this.#polling.start();
  }

  async #poll(): Promise<void> {
    for (const watched of [...this.#watched.values()]) {
      if (this.#closed) return;
      try {
        await this.#pollPin(watched);
      } catch {
        // The next poll retries, up to `pollsMax` polls.
      }
      if (++watched.polls >= this.#limits.pollsMax) this.#giveUp(watched, 'timed out');
    }
  }

  async #pollPin(watched: WatchedPin): Promise<void> {
    const path = `/pins/${watched.requestid}`;
    const { status } = statusOf(objectOf(await this.#service.request('GET', path), 200));
    if (status === 'pinned') this.#watched.delete(watched.cid);
    if (status !== 'failed') return;
    if (watched.retries++ >= this.#limits.retriesMax) this.#giveUp(watched, 'failed');
    else watched.requestid = (await this.#post(path, watched.pin)).requestid;
  }

  #giveUp({ cid }: WatchedPin, reason: string): void {
    if (this.#watched.delete(cid)) this.#log.warn({ cid, reason }, 'Gave up on a pin');
  }
}

function objectOf({ status, text }: ServiceResponse, expected: number): Record<string, unknown> {
  if (status !== expected) throw storageUnavailable(`the pinning service returned status ${status}`);
  try {
    return Object(JSON.parse(text));
  } catch {
    throw storageUnavailable('the pinning service returned invalid JSON');
  }
}

function statusOf(value: unknown): PinStatus {
  const parsed = pinStatus.safeParse(value);
  if (parsed.success) return parsed.data;
  throw storageUnavailable('the pinning service returned no valid pin status');
}

/**
 * Local storage whose files are also pinned by a remote service. A new file is stored only if the service accepts the
 * pin. For an existing file, the pin is renewed, and a failure is only logged.
 */
export function pinningBackend(
  fileStore: FileStore,
  blocks: BlockIndex,
  service: PinningService,
  log: Logger,
): FileBackend {
  const pin = async (file: SpooledFile, name: string | null, isStored: boolean): Promise<void> => {
    try {
      await blocks.add(file);
      await service.pin(file.cid, name);
    } catch (thrown) {
      if (!isStored) {
        await blocks.remove(file);
        throw thrown;
      }
      log.warn({ cid: file.cid }, 'Failed to renew the pin of a stored file');
    }
  };
  return {
    store: (file, metadata) =>
      fileStore.store(file, metadata, (isStored) => pin(file, metadata.name, isStored)),
  };
}
